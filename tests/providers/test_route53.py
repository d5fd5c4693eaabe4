"""The provider aws against a Route 53 in memory: what is sent, what is listed, and what each failure means."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
from route53_fake import FakeRoute53, exceptions, failure, plain

from gatepost.dns.domain_filter import DomainFilter, domain_filter
from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey, Property
from gatepost.dns.served import UnreadZone
from gatepost.providers.contract import ProviderError, ZonesUnknown
from gatepost.providers.rate_limiter import RateLimiter
from gatepost.providers.route53.provider import CAPABILITIES, Route53Provider
from gatepost.providers.route53.settings import Route53Settings
from sleeping_clock import SleepingClock

ELB = "lb-1.eu-west-1.elb.amazonaws.com"
ELB_ZONE = "Z32O12XQLNTSW2"
ALIAS = (Property("alias", "true"), Property("aws/evaluate-target-health", "true"))


def properties(**given: str) -> tuple[Property, ...]:
    return tuple(sorted(Property(f"aws/{name.replace('_', '-')}", value) for name, value in given.items()))


def a(name: str, *targets: str, ttl: int = 300) -> Endpoint:
    return Endpoint(name, "A", targets or ("192.0.2.1",), ttl)


@pytest.fixture
def route53() -> FakeRoute53:
    return FakeRoute53({"Z1": "example.com"})


@pytest.fixture
def clock() -> SleepingClock:
    return SleepingClock()


@pytest.fixture
def provider(route53: FakeRoute53, clock: SleepingClock) -> Route53Provider:
    return Route53Provider(Route53Settings(), client=route53, limiter=RateLimiter(None, clock))


def of(route53: FakeRoute53, domains: DomainFilter | None = None, **settings: Any) -> Route53Provider:
    return Route53Provider(
        Route53Settings(**settings), domains, client=route53, limiter=RateLimiter(None, SleepingClock())
    )


async def errors(provider: Route53Provider, changes: Changes) -> dict[str, str]:
    return {result.key.dns_name: result.error for result in await provider.apply(changes)}


# Zones


async def test_zones_are_chosen_by_id_type_tags_and_domain() -> None:
    route53 = FakeRoute53({"Z1": "example.com", "Z2": "example.org", "Z3": "in.example.org", "Z4": "example.net"}, 2)
    route53.private = {"Z3"}
    route53.tags = {"Z1": {"team": "shop"}, "Z2": {"team": "web", "env": "prod"}}
    assert await of(route53).zones() == ["example.com", "example.net", "example.org", "in.example.org"]
    assert await of(route53, aws_zone_id=("Z1", "/hostedzone/Z4")).zones() == ["example.com", "example.net"]
    assert await of(route53, aws_zone_type="private").zones() == ["in.example.org"]
    assert await of(route53, aws_zone_type="public").zones() == ["example.com", "example.net", "example.org"]
    assert await of(route53, aws_zone_tags=("team",)).zones() == ["example.com", "example.org"]
    assert await of(route53, aws_zone_tags=("team=web", "env")).zones() == ["example.org"]
    assert await of(route53, domain_filter(("example.org",))).zones() == ["example.org", "in.example.org"]


async def test_two_zones_of_one_name_are_left_out_and_the_others_are_kept() -> None:
    route53 = FakeRoute53({"Z1": "example.com", "Z2": "example.com", "Z3": "example.org"})
    provider = of(route53)
    assert await provider.zones() == ["example.org"]
    why = "Route 53 has several hosted zones of this name, Z1, Z2; choose by --aws-zone-type or --zone-id-filter"
    assert provider.unread() == [UnreadZone("example.com", why)]
    found = await errors(provider, Changes(create=(a("app.example.com"), a("app.example.org"))))
    assert found == {
        "app.example.com": f"app.example.com: zone example.com cannot be read: {why}",
        "app.example.org": "",
    }


async def test_a_zone_that_cannot_be_read_is_left_out_and_its_names_are_refused() -> None:
    route53 = FakeRoute53({"Z1": "example.com", "Z2": "example.org"})
    denied = failure("AccessDenied", status=403)
    route53.failing = lambda method, arguments: denied if arguments.get("HostedZoneId") == "Z2" else None
    provider = of(route53)
    assert await provider.zones() == ["example.com"]
    found = await errors(provider, Changes(create=(a("app.example.com"), a("app.example.org"))))
    refusal = found.pop("app.example.org")
    assert refusal.startswith(
        "app.example.org: zone example.org cannot be read: Route 53: AccessDenied: said by the fake"
    )
    assert found == {"app.example.com": ""}
    [unread] = provider.unread()
    assert unread.name == "example.org"
    assert "allow the actions route53:ListHostedZones" in unread.why


async def test_a_zone_that_was_unread_is_read_by_itself() -> None:
    route53 = FakeRoute53({"Z1": "example.com", "Z2": "example.org"})
    route53.sets["Z2"] = [plain("app.example.org.", "A", "192.0.2.1")]
    denied = failure("AccessDenied", status=403)
    route53.failing = lambda method, arguments: denied if arguments.get("HostedZoneId") == "Z2" else None
    provider = of(route53)
    await provider.zones()
    with pytest.raises(ZonesUnknown, match="AccessDenied"):
        await provider.read_again("example.org")
    route53.failing = lambda method, arguments: None
    route53.called.clear()
    assert await provider.read_again("example.org") == [a("app.example.org", ttl=300)]
    assert route53.called == ["list_resource_record_sets"]
    assert provider.unread() == []
    assert await errors(provider, Changes(create=(a("new.example.org"),))) == {"new.example.org": ""}


# Listing


async def test_a_listing_goes_through_all_pages_even_within_the_sets_of_one_name() -> None:
    route53 = FakeRoute53({"Z1": "example.com"}, page_size=2)
    route53.sets["Z1"] = [
        plain("a.example.com.", "A", "192.0.2.1"),
        *(plain("b.example.com.", "A", f"192.0.2.{n}", Weight=n, SetIdentifier=f"s{n}") for n in range(1, 6)),
        plain("c.example.com.", "A", "192.0.2.9"),
    ]
    provider = of(route53)
    await provider.zones()
    keys = [(endpoint.dns_name, endpoint.set_identifier) for endpoint in await provider.records()]
    sets = [("b.example.com", f"s{n}") for n in range(1, 6)]
    assert keys == [("a.example.com", ""), *sets, ("c.example.com", "")]
    assert route53.called.count("list_resource_record_sets") == 4


async def test_a_listing_that_breaks_off_is_no_listing() -> None:
    route53 = FakeRoute53({"Z1": "example.com"}, page_size=1)
    route53.sets["Z1"] = [plain(f"{name}.example.com.", "A", "192.0.2.1") for name in "abc"]
    denied = failure("AccessDenied", status=403)
    route53.failing = lambda method, arguments: denied if arguments.get("StartRecordName") == "b.example.com." else None
    with pytest.raises(ProviderError, match="Route 53: AccessDenied"):
        await of(route53).records()


async def test_escapes_quotes_and_aliases_are_read_as_endpoints_spell_them() -> None:
    route53 = FakeRoute53({"Z1": "example.com"})
    alias = {"HostedZoneId": ELB_ZONE, "DNSName": f"dualstack.{ELB}.", "EvaluateTargetHealth": False}
    elsewhere = {"HostedZoneId": "ZOTHER", "DNSName": "box.example.net.", "EvaluateTargetHealth": True}
    route53.sets["Z1"] = [
        plain("example.com.", "SOA", "ns. host. 1 2 3 4 5"),
        plain("\\052.example.com.", "A", "192.0.2.2", "192.0.2.1", ttl=60),
        plain("t.example.com.", "TXT", '"\\303\\244 \\"x\\""', '"one" "two"'),
        plain("m.example.com.", "MX", "10 mail.example.com."),
        {"Name": "lb.example.com.", "Type": "A", "AliasTarget": alias},
        {"Name": "far.example.com.", "Type": "AAAA", "AliasTarget": elsewhere},
    ]
    health = Property("aws/evaluate-target-health", "false")
    far = (*ALIAS, Property("aws/target-hosted-zone", "ZOTHER"))
    assert sorted(await of(route53).records(), key=lambda endpoint: endpoint.key) == [
        Endpoint("*.example.com", "A", ("192.0.2.1", "192.0.2.2"), 60),
        Endpoint("far.example.com", "AAAA", ("box.example.net",), provider_specific=far),
        Endpoint("lb.example.com", "A", (f"dualstack.{ELB}",), provider_specific=(Property("alias", "true"), health)),
        Endpoint("m.example.com", "MX", ("10 mail.example.com",), 300),
        Endpoint("t.example.com", "TXT", ('"\\195\\164 \\"x\\""', '"one" "two"'), 300),
    ]


async def test_a_value_that_is_no_dns_data_is_listed_as_it_is_and_the_zone_with_it() -> None:
    route53 = FakeRoute53({"Z1": "example.com"})
    route53.sets["Z1"] = [plain("m.example.com.", "MX", "mail"), plain("a.example.com.", "A", "192.0.2.1")]
    records = await of(route53).records()
    assert [(endpoint.dns_name, endpoint.targets) for endpoint in records] == [
        ("a.example.com", ("192.0.2.1",)),
        ("m.example.com", ("mail",)),
    ]


# What is written


async def test_names_and_texts_are_sent_as_route_53_spells_them(
    route53: FakeRoute53, provider: Route53Provider
) -> None:
    created = (
        a("*.App.example.com"),
        Endpoint("t.example.com", "TXT", ("plain ä", '"quoted"'), 60),
        Endpoint("_sip._tcp.example.com", "SRV", ("10 5 5060 sip.example.com.",), 60),
        Endpoint("a b.example.com", "CNAME", ("gw.example.org",)),
    )
    assert set((await errors(provider, Changes(create=created))).values()) == {""}
    assert sorted(route53.sets["Z1"], key=lambda record_set: str(record_set["Name"])) == [
        plain("\\052.app.example.com.", "A", "192.0.2.1"),
        plain("_sip._tcp.example.com.", "SRV", "10 5 5060 sip.example.com.", ttl=60),
        plain("a\\040b.example.com.", "CNAME", "gw.example.org."),
        plain("t.example.com.", "TXT", '"plain \\303\\244"', '"quoted"', ttl=60),
    ]


async def test_a_long_text_goes_in_strings_of_255_octets(route53: FakeRoute53, provider: Route53Provider) -> None:
    await provider.apply(Changes(create=(Endpoint("t.example.com", "TXT", ("x" * 300,)),)))
    assert route53.sets["Z1"] == [plain("t.example.com.", "TXT", f'"{"x" * 255}" "{"x" * 45}"')]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (properties(weight="10"), {"Weight": 10}),
        (properties(region="eu-west-1"), {"Region": "eu-west-1"}),
        (properties(failover="PRIMARY", health_check_id="h-1"), {"Failover": "PRIMARY", "HealthCheckId": "h-1"}),
        (properties(multi_value_answer="true"), {"MultiValueAnswer": True}),
        (properties(geolocation_continent_code="EU"), {"GeoLocation": {"ContinentCode": "EU"}}),
        (
            properties(geolocation_country_code="US", geolocation_subdivision_code="CA"),
            {"GeoLocation": {"CountryCode": "US", "SubdivisionCode": "CA"}},
        ),
        (
            properties(geoproximity_coordinates="49.22,-74.01", geoproximity_bias="-5"),
            {"GeoProximityLocation": {"Coordinates": {"Latitude": "49.22", "Longitude": "-74.01"}, "Bias": -5}},
        ),
    ],
)
async def test_a_routing_policy_is_sent_and_read_back_as_it_was_written(
    route53: FakeRoute53, provider: Route53Provider, given: tuple[Property, ...], field: dict[str, Any]
) -> None:
    wanted = Endpoint("app.example.com", "A", ("192.0.2.1",), 60, "blue", provider_specific=given)
    await provider.zones()
    assert provider.adjust([wanted]) == [wanted]
    assert await errors(provider, Changes(create=(wanted,))) == {"app.example.com": ""}
    assert route53.sets["Z1"] == [plain("app.example.com.", "A", "192.0.2.1", ttl=60, SetIdentifier="blue", **field)]
    assert await provider.records() == [wanted]


async def test_properties_come_down_to_what_route_53_keeps(provider: Route53Provider) -> None:
    await provider.zones()
    given = (Property("aws/failover", "primary"), Property("aws/multi-value-answer", "false"), Property("scw/x", "1"))
    in_set = Endpoint("app.example.com", "A", ("192.0.2.1",), 60, "blue", provider_specific=given)
    alone = Endpoint("app.example.com", "A", ("192.0.2.1",), 60, provider_specific=properties(weight="1"))
    [listed] = provider.adjust([in_set])
    assert listed.provider_specific == properties(failover="PRIMARY")
    assert provider.adjust([alone]) == [a("app.example.com", ttl=60)]


async def test_what_is_no_routing_policy_is_refused_before_it_is_sent(
    route53: FakeRoute53, provider: Route53Provider
) -> None:
    def in_set(name: str, **given: str) -> Endpoint:
        return Endpoint(name, "A", ("192.0.2.1",), 60, "blue", provider_specific=properties(**given))

    created = (
        in_set("none.example.com"),
        in_set("two.example.com", weight="1", region="eu-west-1"),
        in_set("heavy.example.com", weight="256"),
        in_set("third.example.com", failover="TERTIARY"),
    )
    assert await errors(provider, Changes(create=created)) == {
        "none.example.com": "A none.example.com: set identifier 'blue' wants one routing policy, like aws/weight or "
        "aws/region; found none",
        "two.example.com": "A two.example.com: set identifier 'blue' wants one routing policy, like aws/weight or "
        "aws/region; found aws/weight, aws/region",
        "heavy.example.com": "A heavy.example.com: aws/weight: found '256', wanted a whole number from 0 to 255",
        "third.example.com": "A third.example.com: aws/failover: found 'TERTIARY', wanted PRIMARY or SECONDARY",
    }
    assert route53.batches == []


# Aliases


async def test_a_cname_to_a_load_balancer_becomes_aliases_of_both_types(
    route53: FakeRoute53, provider: Route53Provider
) -> None:
    await provider.zones()
    listed = provider.adjust([Endpoint("app.example.com", "CNAME", (ELB,), 60)])
    assert listed == [Endpoint("app.example.com", type_, (ELB,), provider_specific=ALIAS) for type_ in ("A", "AAAA")]
    await provider.apply(Changes(create=tuple(listed)))
    target = {"HostedZoneId": ELB_ZONE, "DNSName": f"{ELB}.", "EvaluateTargetHealth": True}
    assert route53.sets["Z1"] == [
        {"Name": "app.example.com.", "Type": type_, "AliasTarget": target} for type_ in ("A", "AAAA")
    ]
    assert await provider.records() == listed


@pytest.mark.parametrize(
    ("target", "zone_id"),
    [
        ("lb.eu-central-1.elb.amazonaws.com", "Z215JYRZR1TBD5"),
        ("lb.elb.us-east-1.amazonaws.com", "Z26RNL4JYFTOTI"),
        ("d1.cloudfront.net", "Z2FDTNDATAQYW2"),
        ("gw.example.com", "Z1"),
    ],
)
async def test_an_alias_points_into_the_zone_of_its_target(
    route53: FakeRoute53, provider: Route53Provider, target: str, zone_id: str
) -> None:
    await provider.zones()
    wanted = Endpoint("app.example.com", "A", (target,), provider_specific=(Property("alias", "true"),))
    await provider.apply(Changes(create=tuple(provider.adjust([wanted]))))
    [sent] = route53.sets["Z1"]
    assert sent["AliasTarget"]["HostedZoneId"] == zone_id


async def test_without_a_known_zone_an_alias_is_a_cname_unless_the_zone_is_told(provider: Route53Provider) -> None:
    await provider.zones()
    asked = (Property("alias", "true"),)
    far = Endpoint("app.example.com", "A", ("gw.example.net",), 60, provider_specific=asked)
    v6 = Endpoint("app.example.com", "AAAA", ("gw.example.net",), 60, provider_specific=asked)
    assert provider.adjust([far, v6]) == [Endpoint("app.example.com", "CNAME", ("gw.example.net",), 60)]
    told = Endpoint(
        "app.example.com",
        "A",
        ("gw.example.net",),
        provider_specific=(*asked, Property("aws/target-hosted-zone", "Z9")),
    )
    [listed] = provider.adjust([told])
    assert listed.record_type == "A"
    assert listed.provider_specific == (*ALIAS, Property("aws/target-hosted-zone", "Z9"))


async def test_aliases_can_be_declined_for_all_or_for_one(route53: FakeRoute53, provider: Route53Provider) -> None:
    cname = Endpoint("app.example.com", "CNAME", (ELB,), 60)
    declined = Endpoint("app.example.com", "CNAME", (ELB,), 60, provider_specific=(Property("alias", "false"),))
    assert provider.adjust([declined]) == [cname]
    assert of(route53, aws_prefer_cname=True).adjust([cname]) == [cname]


# Changes


async def test_an_update_replaces_exactly_what_was_read_and_keeps_its_ttl(
    route53: FakeRoute53, provider: Route53Provider
) -> None:
    before = plain("app.example.com.", "A", "192.0.2.2", "192.0.2.1", ttl=77)
    route53.sets["Z1"] = [before]
    [old] = await provider.records()
    new = a("app.example.com", "192.0.2.3", ttl=0)
    assert await errors(provider, Changes(update_old=(old,), update_new=(new,))) == {"app.example.com": ""}
    after = plain("app.example.com.", "A", "192.0.2.3", ttl=77)
    assert route53.batches == [
        [{"Action": "DELETE", "ResourceRecordSet": before}, {"Action": "CREATE", "ResourceRecordSet": after}]
    ]


async def test_what_somebody_else_changed_meanwhile_stays_and_the_others_go_through(
    route53: FakeRoute53, provider: Route53Provider
) -> None:
    names = [f"{name}.example.com" for name in "abcde"]
    route53.sets["Z1"] = [plain(f"{name}.", "A", "192.0.2.1") for name in names]
    old = tuple(await provider.records())
    route53.sets["Z1"][2] = plain("c.example.com.", "A", "192.0.2.77")
    new = tuple(a(name, "192.0.2.3") for name in names)
    found = await errors(provider, Changes(update_old=old, update_new=new))
    assert "do not match the current values" in found.pop("c.example.com")
    assert set(found.values()) == {""}
    values = {record_set["Name"]: record_set["ResourceRecords"][0]["Value"] for record_set in route53.sets["Z1"]}
    assert values == {f"{name}.": "192.0.2.77" if name[0] == "c" else "192.0.2.3" for name in names}


async def test_a_change_of_type_is_one_batch_with_the_deletion_first(
    route53: FakeRoute53, provider: Route53Provider
) -> None:
    route53.sets["Z1"] = [plain("app.example.com.", "A", "192.0.2.1")]
    [old] = await provider.records()
    new = Endpoint("app.example.com", "CNAME", ("gw.example.org",), 60)
    await provider.apply(Changes(delete=(old,), create=(new,)))
    [batch] = route53.batches
    assert [change["Action"] for change in batch] == ["DELETE", "CREATE"]
    assert route53.sets["Z1"] == [plain("app.example.com.", "CNAME", "gw.example.org.", ttl=60)]


async def test_a_policy_can_change_since_updates_delete_first(route53: FakeRoute53, provider: Route53Provider) -> None:
    route53.sets["Z1"] = [plain("app.example.com.", "A", "192.0.2.1", SetIdentifier="blue", Weight=1)]
    [old] = await provider.records()
    new = Endpoint(
        "app.example.com", "A", ("192.0.2.1",), 300, "blue", provider_specific=properties(region="eu-west-1")
    )
    await provider.apply(Changes(update_old=(old,), update_new=(new,)))
    assert await provider.records() == [new]


async def test_a_record_goes_with_its_ownership_record_or_not_at_all(
    route53: FakeRoute53, provider: Route53Provider
) -> None:
    owned = {"owner": "me", "ownedRecord": "bad.example.com"}
    text = Endpoint("a-bad.example.com", "TXT", ('"heritage=external-dns,external-dns/owner=me"',), labels=owned)
    found = await errors(provider, Changes(create=(text, a("bad.example.com", "192.0.2.66"), a("ok.example.com"))))
    assert found.pop("ok.example.com") == ""
    assert list(found) == ["a-bad.example.com", "bad.example.com"]
    assert all("InvalidChangeBatch" in error for error in found.values())
    assert [record_set["Name"] for record_set in route53.sets["Z1"]] == ["ok.example.com."]


async def test_batches_stay_within_the_limits_of_a_call(route53: FakeRoute53) -> None:
    provider = of(route53, aws_batch_change_size=4)
    await provider.apply(Changes(create=tuple(a(f"n{n}.example.com", "192.0.2.1", "192.0.2.2") for n in range(5))))
    assert [len(batch) for batch in route53.batches] == [2, 2, 1]
    old = tuple(await provider.records())
    route53.batches.clear()
    new = tuple(a(f"n{n}.example.com", "192.0.2.3") for n in range(5))
    await provider.apply(Changes(update_old=old, update_new=new))
    # Each update holds two values that go and one that comes: two of them would be six.
    assert [len(batch) for batch in route53.batches] == [2] * 5


async def test_batches_stay_within_the_characters_of_a_call(route53: FakeRoute53, provider: Route53Provider) -> None:
    texts = tuple(Endpoint(f"t{n:02}.example.com", "TXT", ("x" * 3000,)) for n in range(21))
    await provider.apply(Changes(create=texts))
    # 3,000 characters are 12 strings: 24 quotes and 11 blanks more.
    assert [len(batch) for batch in route53.batches] == [10, 10, 1]


# Failures


async def test_calls_that_came_too_fast_are_repeated_after_growing_waits(
    route53: FakeRoute53, provider: Route53Provider, clock: SleepingClock
) -> None:
    await provider.zones()
    codes = ["Throttling", "PriorRequestNotComplete", "Throttling"]
    route53.failing = lambda method, arguments: failure(codes.pop()) if codes else None
    assert await errors(provider, Changes(create=(a("app.example.com"),))) == {"app.example.com": ""}
    assert len(clock.slept) == 3
    for wait, longest in zip(clock.slept, (0.5, 1.0, 2.0), strict=True):
        assert longest / 2 <= wait <= longest


async def test_calls_are_made_no_faster_than_an_account_may() -> None:
    route53 = FakeRoute53({f"Z{number}": f"{number}.example.com" for number in range(20)})
    clock = SleepingClock()
    moments: list[float] = []
    route53.failing = lambda method, arguments: moments.append(clock.time)
    provider = Route53Provider(Route53Settings(), client=route53, limiter=RateLimiter(CAPABILITIES.rate, clock))
    assert len(await provider.zones()) == 20
    assert len(moments) == 1 + 20
    assert max(sum(start <= moment < start + 0.999 for moment in moments) for start in moments) == 5


async def test_batches_of_one_zone_keep_their_distance(route53: FakeRoute53, clock: SleepingClock) -> None:
    settings = Route53Settings(aws_batch_change_size=1, aws_batch_change_interval=3)
    provider = Route53Provider(settings, client=route53, limiter=RateLimiter(None, clock))
    await provider.zones()
    await provider.apply(Changes(create=tuple(a(f"{name}.example.com") for name in "abc")))
    assert len(route53.batches) == 3
    assert clock.slept == [3, 3]


async def test_the_list_of_zones_is_kept_as_long_as_asked_for(route53: FakeRoute53, clock: SleepingClock) -> None:
    provider = Route53Provider(
        Route53Settings(aws_zones_cache_duration=60), client=route53, limiter=RateLimiter(None, clock)
    )
    for seconds in (0, 59, 1):
        clock.time += seconds
        await provider.zones()
        await provider.records()
    assert [call for call in route53.called if call == "list_hosted_zones"] == ["list_hosted_zones"] * 2
    assert route53.called.count("list_resource_record_sets") == 3


async def test_a_rate_limit_that_lasts_is_told_on_every_record_and_the_batch_is_not_split(
    route53: FakeRoute53, provider: Route53Provider
) -> None:
    await provider.zones()
    route53.called.clear()
    route53.failing = lambda method, arguments: failure("Throttling", "Rate exceeded")
    found = await errors(provider, Changes(create=(a("a.example.com"), a("b.example.com"))))
    assert found == dict.fromkeys(["a.example.com", "b.example.com"], "Route 53: Throttling: Rate exceeded")
    assert route53.called == ["change_resource_record_sets"] * 6


async def test_a_lost_answer_to_a_change_leaves_it_unknown(route53: FakeRoute53, provider: Route53Provider) -> None:
    await provider.zones()
    for lost in (exceptions.ReadTimeoutError(endpoint_url="https://route53"), failure("InternalFailure", status=500)):
        route53.lost = [lost]
        name = f"app{len(route53.batches)}.example.com"
        with pytest.raises(ZonesUnknown, match="not known whether changes were made"):
            await provider.apply(Changes(create=(a(name),)))
        assert a(name, ttl=300) in await provider.read_again("example.com")
    assert len(route53.batches) == 2


async def test_a_change_that_was_never_sent_is_refused(route53: FakeRoute53, provider: Route53Provider) -> None:
    await provider.zones()
    unreachable = exceptions.EndpointConnectionError(endpoint_url="https://route53")
    route53.failing = lambda method, arguments: unreachable
    [result] = await provider.apply(Changes(create=(a("app.example.com"),)))
    assert result.key == EndpointKey("app.example.com", "A")
    assert result.error.startswith("Route 53 cannot be asked: Could not connect")


async def test_wrong_keys_are_one_clear_problem(route53: FakeRoute53, provider: Route53Provider) -> None:
    route53.failing = lambda method, arguments: failure("InvalidClientTokenId", "The token is invalid.", 403)
    with pytest.raises(ProviderError) as caught:
        await provider.zones()
    assert str(caught.value) == (
        "Route 53: InvalidClientTokenId: The token is invalid.; check the keys, or --aws-profile"
    )


async def test_a_name_outside_of_all_zones_does_not_stop_the_others(provider: Route53Provider) -> None:
    found = await errors(provider, Changes(create=(a("badexample.com"), a("app.example.com"))))
    assert found == {
        "app.example.com": "",
        "badexample.com": "badexample.com: the name is outside of all zones of Route 53 that the filters let pass",
    }


def test_wrong_settings_are_all_told() -> None:
    settings = Route53Settings(aws_zone_type="secret", aws_batch_change_size=1001, aws_zone_tags=("=x",))
    with pytest.raises(ValueError, match="aws-zone-type") as caught:
        Route53Provider(settings)
    assert str(caught.value).splitlines() == [
        "--aws-zone-type: found 'secret', wanted public, private or nothing",
        "--aws-batch-change-size: found 1001, wanted 1 to 1000",
        "--aws-zone-tags: found '=x', wanted key or key=value",
    ]


def test_a_missing_boto3_is_told_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="pip install 'gatepost\\[aws\\]'"):
        Route53Provider(Route53Settings())
