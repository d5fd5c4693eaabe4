"""The provider cloudflare, with the official library, against a small Cloudflare on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from cloudflare_server import TOKEN, CloudflareServer, serving
from msgspec.structs import replace
from record_changes import a, errors

from gatepost.dns.domain_filter import DomainFilter, domain_filter
from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey, Property
from gatepost.dns.ownership.txt_format import OwnershipNames
from gatepost.providers.cloudflare.provider import CAPABILITIES, CloudflareProvider
from gatepost.providers.cloudflare.settings import CloudflareSettings
from gatepost.providers.contract import ProviderError, ZonesUnknown
from gatepost.providers.rate_limiter import RateLimiter
from sleeping_clock import SleepingClock

pytest.importorskip("cloudflare", reason="the extra `cloudflare` is not installed")

PREFIX = "external-dns.kubernetes.io/cloudflare-"
NOT_PROXIED = (Property(f"{PREFIX}proxied", "false"),)
IS_PROXIED = (Property(f"{PREFIX}proxied", "true"),)


@pytest.fixture
async def server() -> AsyncIterator[CloudflareServer]:
    async with serving("example.com", "sub.example.com", "example.org") as started:
        yield started


def provider_of(
    server: CloudflareServer, domains: DomainFilter | None = None, limiter: RateLimiter | None = None, **others: Any
) -> CloudflareProvider:
    settings = CloudflareSettings(cloudflare_url=server.url, cloudflare_api_token=TOKEN)
    return CloudflareProvider(replace(settings, **others), domains, limiter)


async def test_it_lists_zones_and_record_sets_page_by_page(server: CloudflareServer) -> None:
    for number in range(5):
        server.put("example.com", name="app.example.com", type="A", content=f"192.0.2.{number}", ttl=120)
    provider = provider_of(server, cloudflare_dns_records_per_page=2)
    assert await provider.zones() == ["example.com", "example.org", "sub.example.com"]
    targets = ("192.0.2.0", "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4")
    assert await provider.records() == [a("app.example.com", *targets, ttl=120, properties=NOT_PROXIED)]


async def test_settings_of_a_record_are_listed_as_the_properties_that_ask_for_them(server: CloudflareServer) -> None:
    server.put(
        "example.org", name="www.example.org", type="CNAME", content="app.example.com", proxied=True, comment="shop",
        tags=["b:2", "a:1"],
    )  # fmt: skip
    assert await provider_of(server).records() == [
        Endpoint(
            "www.example.org",
            "CNAME",
            ("app.example.com",),
            provider_specific=(
                Property("external-dns.kubernetes.io/cloudflare-proxied", "true"),
                Property("external-dns.kubernetes.io/cloudflare-record-comment", "shop"),
                Property("external-dns.kubernetes.io/cloudflare-tags", "a:1,b:2"),
            ),
        )
    ]


async def test_records_of_every_type_are_written_in_parts_and_read_back_as_they_were_wanted(
    server: CloudflareServer,
) -> None:
    wanted = [
        a("app.example.com", "192.0.2.1", "192.0.2.2", ttl=60),
        Endpoint("app.example.com", "AAAA", ("2001:db8::1",)),
        Endpoint("www.example.com", "CNAME", ("app.example.com",)),
        Endpoint("example.com", "MX", ("10 mail.example.com",)),
        Endpoint("_sip._tcp.example.com", "SRV", ("1 2 5060 sip.example.com.",)),
        Endpoint("team.example.com", "NS", ("ns1.example.net",)),
        Endpoint("1.example.com", "PTR", ("host.example.net",)),
        Endpoint("n.example.com", "NAPTR", ('100 50 "s" "http" "!^.*$!http://x/!" .',)),
        Endpoint("t.example.com", "TXT", ('"heritage=external-dns;a=b"',)),
    ]
    provider = provider_of(server)
    adjusted = tuple(provider.adjust(wanted))
    assert await errors(provider, Changes(create=adjusted)) == [""] * 9
    held = {(row["name"], row["type"]): row for row in server.held("example.com")}
    assert (held["example.com", "MX"]["content"], held["example.com", "MX"]["priority"]) == ("mail.example.com", 10)
    assert held["_sip._tcp.example.com", "SRV"]["data"] == {
        "priority": 1, "weight": 2, "port": 5060, "target": "sip.example.com",
    }  # fmt: skip
    assert held["n.example.com", "NAPTR"]["data"]["regex"] == "!^.*$!http://x/!"
    assert held["t.example.com", "TXT"]["content"] == '"heritage=external-dns;a=b"'
    assert adjusted[3].provider_specific == ()
    assert sorted(await provider.records(), key=lambda e: e.key) == sorted(adjusted, key=lambda e: e.key)


async def test_a_long_text_is_cut_into_strings_of_255_octets(server: CloudflareServer) -> None:
    provider = provider_of(server)
    assert await errors(provider, Changes(create=(Endpoint("t.example.com", "TXT", ("x" * 300,)),))) == [""]
    assert server.held("example.com")[0]["content"] == f'"{"x" * 255}" "{"x" * 45}"'


@pytest.mark.parametrize(
    "prefix", ["external-dns.kubernetes.io/", "external-dns.alpha.kubernetes.io/", "dns.example.com/"]
)
async def test_properties_count_under_every_prefix_of_annotations(server: CloudflareServer, prefix: str) -> None:
    properties = (
        Property(f"{prefix}cloudflare-proxied", "true"),
        Property(f"{prefix}cloudflare-record-comment", "shop"),
        Property(f"{prefix}cloudflare-tags", "b:2, a:1"),
    )
    provider = provider_of(server)
    wanted = provider.adjust([a("app.example.com", ttl=300, properties=properties)])
    assert await errors(provider, Changes(create=tuple(wanted))) == [""]
    assert server.held("example.com") == [
        {
            "name": "app.example.com", "type": "A", "content": "192.0.2.1", "ttl": 1, "proxied": True,
            "comment": "shop", "tags": ["a:1", "b:2"],
        }
    ]  # fmt: skip
    assert await provider.records() == wanted


async def test_a_record_of_a_proxy_has_no_ttl_of_its_own(server: CloudflareServer) -> None:
    wanted = provider_of(server).adjust([a("app.example.com", ttl=300, properties=IS_PROXIED)])
    assert wanted == [a("app.example.com", properties=IS_PROXIED)]


async def test_flags_count_where_a_record_says_nothing_itself(server: CloudflareServer) -> None:
    provider = provider_of(server, cloudflare_proxied=True, cloudflare_record_comment="by gatepost")
    comment = Property(f"{PREFIX}record-comment", "by gatepost")
    silent, own = provider.adjust([a("silent.example.com"), a("own.example.com", properties=NOT_PROXIED)])
    assert silent.provider_specific == (*IS_PROXIED, comment)
    assert own.provider_specific == (*NOT_PROXIED, comment)


async def test_a_property_without_effect_is_told_to_its_object(server: CloudflareServer) -> None:
    name = "external-dns.kubernetes.io/cloudflare-region-key"
    wanted = a("app.example.com", properties=(Property(name, "eu"),))
    provider = provider_of(server)
    [adjusted] = provider.adjust([wanted])
    assert adjusted == a("app.example.com", properties=NOT_PROXIED)
    [remark] = provider.capabilities.remarks(wanted, adjusted)
    assert remark.reason == "PropertyWithoutEffect"
    assert remark.message == f"A app.example.com: {name} has no effect, Cloudflare does not do it here"


async def test_an_update_keeps_the_records_whose_target_stays(server: CloudflareServer) -> None:
    stays = server.put("example.com", name="app.example.com", type="A", content="192.0.2.1", ttl=120)
    server.put("example.com", name="app.example.com", type="A", content="192.0.2.2", ttl=120)
    provider = provider_of(server)
    [old] = await provider.records()
    new = replace(old, targets=("192.0.2.1", "192.0.2.3"), record_ttl=0)
    assert await errors(provider, Changes(update_old=(old,), update_new=(new,))) == [""]
    assert [(r["content"], r["ttl"]) for r in server.held("example.com")] == [("192.0.2.1", 120), ("192.0.2.3", 120)]
    assert stays["id"] in [r["id"] for r in server.records["id-of-example.com"]]


async def test_a_comment_that_is_no_longer_wanted_goes(server: CloudflareServer) -> None:
    server.put("example.com", name="app.example.com", type="A", content="192.0.2.1", comment="old", tags=["a:1"])
    provider = provider_of(server)
    [old] = await provider.records()
    new = a("app.example.com", properties=NOT_PROXIED)
    assert await errors(provider, Changes(update_old=(old,), update_new=(new,))) == [""]
    assert await provider.records() == [new]


async def test_a_change_of_type_is_made_in_one_batch(server: CloudflareServer) -> None:
    server.put("example.com", name="app.example.com", type="A", content="192.0.2.1")
    provider = provider_of(server)
    [old] = await provider.records()
    alias = Endpoint("app.example.com", "CNAME", ("x.example.net",))
    assert await errors(provider, Changes(create=(alias,), delete=(old,))) == ["", ""]
    assert [(r["type"], r["content"]) for r in server.held("example.com")] == [("CNAME", "x.example.net")]
    assert sum("batch" in call for call in server.calls) == 1


async def test_of_a_refused_batch_only_the_culprit_is_left_out(server: CloudflareServer) -> None:
    server.refuse.add("192.0.2.66")
    provider = provider_of(server)
    names = [f"n{number}.example.com" for number in range(7)]
    created = tuple(a(name, "192.0.2.66" if name.startswith("n3") else "192.0.2.1") for name in names)
    results = {result.key.dns_name: result.error for result in await provider.apply(Changes(create=created))}
    assert "Content 192.0.2.66 is not allowed. (code 81058)" in results.pop("n3.example.com")
    assert results == {name: "" for name in names if name != "n3.example.com"}
    assert len(server.held("example.com")) == 6


async def test_a_batch_holds_no_more_records_than_the_smallest_plan_takes(server: CloudflareServer) -> None:
    created = tuple(a(f"n{n}.example.com", *(f"192.0.2.{i}" for i in range(1, 4))) for n in range(150))
    assert set(await errors(provider_of(server), Changes(create=created))) == {""}
    assert server.batches == [198, 198, 54]


async def test_a_set_identifier_is_refused_for_its_record_alone(server: CloudflareServer) -> None:
    weighted = Endpoint("blue.example.com", "A", ("192.0.2.1",), set_identifier="blue")
    results = await provider_of(server).apply(Changes(create=(weighted, a("app.example.com"))))
    assert {result.key: result.error for result in results} == {
        EndpointKey("blue.example.com", "A", "blue"): (
            "A blue.example.com: Cloudflare has no set identifiers; found 'blue'"
        ),
        EndpointKey("app.example.com", "A"): "",
    }


async def test_what_somebody_else_changed_meanwhile_is_left_as_it_is(server: CloudflareServer) -> None:
    record = server.put("example.com", name="app.example.com", type="A", content="192.0.2.1")
    provider = provider_of(server)
    [old] = await provider.records()
    record["content"] = "198.51.100.7"
    assert await errors(provider, Changes(delete=(old,))) == [
        "A app.example.com: found 198.51.100.7, wanted 192.0.2.1: somebody else has changed it; it was left as it is"
    ]
    assert await errors(provider, Changes(create=(a("app.example.com"),))) == [
        "A app.example.com: there is already one, 198.51.100.7; it was left as it is"
    ]
    assert [r["content"] for r in server.held("example.com")] == ["198.51.100.7"]


async def test_a_record_that_another_owner_took_meanwhile_is_left_as_it_is(server: CloudflareServer) -> None:
    server.put("example.com", name="app.example.com", type="A", content="192.0.2.1")
    text = '"heritage=external-dns,external-dns/owner=theirs"'
    server.put("example.com", name="a-app.example.com", type="TXT", content=text)
    provider = provider_of(server)
    provider.guard(OwnershipNames())
    old = next(record for record in await provider.records() if record.record_type == "A")
    error = await errors(provider, Changes(delete=(replace(old, labels={"owner": "ours"}),)))
    assert error == ["A app.example.com: it belongs to theirs by now, not ours"]
    assert len(server.held("example.com")) == 2


async def test_the_longest_zone_gets_a_name_and_names_outside_are_refused(server: CloudflareServer) -> None:
    provider = provider_of(server)
    results = await provider.apply(Changes(create=(a("x.sub.example.com"), a("badexample.com"))))
    assert {r.key.dns_name: r.error for r in results} == {
        "x.sub.example.com": "",
        "badexample.com": "badexample.com: the name is outside of all zones that the token reaches",
    }
    assert [r["name"] for r in server.held("sub.example.com")] == ["x.sub.example.com"]


async def test_a_domain_filter_leaves_zones_unread(server: CloudflareServer) -> None:
    provider = provider_of(server, domain_filter(("example.org",)))
    assert await provider.zones() == ["example.org"]
    assert [call for call in server.calls if "dns_records" in call and "id-of-example.org" not in call] == []


async def test_an_unreadable_zone_is_left_out_and_the_others_are_kept(server: CloudflareServer) -> None:
    server.sick["/id-of-example.com/dns_records"] = 403
    provider = provider_of(server)
    assert await provider.zones() == ["example.org", "sub.example.com"]
    [error] = await errors(provider, Changes(create=(a("app.example.com"),)))
    assert error.startswith("app.example.com: zone example.com cannot be read: Cloudflare at http://127.0.0.1:")
    assert error.endswith("check --cloudflare-api-token, which needs Zone Read and DNS Edit")
    assert [zone.name for zone in provider.unread()] == ["example.com"]
    server.sick.clear()
    server.calls.clear()
    assert await provider.read_again("example.com") == []
    assert [call.partition("?")[0] for call in server.calls] == ["GET /zones/id-of-example.com/dns_records"]
    assert await errors(provider, Changes(create=(a("app.example.com"),))) == [""]


async def test_a_lost_answer_in_one_zone_leaves_the_results_of_the_others(server: CloudflareServer) -> None:
    provider = provider_of(server)
    await provider.zones()
    server.lost.add("/id-of-example.com/dns_records/batch")
    with pytest.raises(ZonesUnknown) as caught:
        await provider.apply(Changes(create=(a("app.example.com"), a("app.example.org"))))
    assert [zone.name for zone in caught.value.zones] == ["example.com"]
    assert [(result.key.dns_name, result.error) for result in caught.value.results] == [("app.example.org", "")]


async def test_a_listing_that_is_shorter_than_it_says_is_none(server: CloudflareServer) -> None:
    for zone in ("example.com", "example.org", "sub.example.com"):
        server.put(zone, name=zone, type="A", content="192.0.2.1")
    server.hidden = 1
    with pytest.raises(ProviderError, match="of 1 that it counted, 0 came"):
        await provider_of(server).zones()


async def test_a_wrong_token_is_told_with_the_flag_to_look_at(server: CloudflareServer) -> None:
    provider = provider_of(server, cloudflare_api_token="wrong")
    with pytest.raises(ProviderError, match=r"answered 403 .*Invalid access token.*check --cloudflare-api-token"):
        await provider.zones()


async def test_a_token_comes_from_a_file_too(server: CloudflareServer, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    assert len(await provider_of(server, cloudflare_api_token=f"file:{file}").zones()) == 3
    with pytest.raises(ProviderError, match="--cloudflare-api-token: the file cannot be read"):
        await provider_of(server, cloudflare_api_token=f"file:{file}.gone").zones()


async def test_a_rate_limit_is_waited_for_as_long_as_retry_after_says(server: CloudflareServer) -> None:
    provider = provider_of(server)
    await provider.zones()
    server.limited = 2
    assert await errors(provider, Changes(create=(a("app.example.com"),))) == [""]


async def test_a_rate_limit_that_does_not_end_is_told_on_each_record_without_halving(
    server: CloudflareServer,
) -> None:
    provider = provider_of(server)
    await provider.zones()
    server.limited = 1000
    found = await errors(provider, Changes(create=(a("app.example.com"), a("b.example.com"))))
    assert ["the rate limit is used up" in error for error in found] == [True, True]
    assert server.held("example.com") == []
    assert 1000 - server.limited == 4  # once, and three times again


async def test_what_a_rate_limit_leaves_waits_and_nobody_calls_before_the_time(server: CloudflareServer) -> None:
    clock = SleepingClock()
    provider = provider_of(server, limiter=RateLimiter(CAPABILITIES.rate, clock))
    await provider.zones()
    server.retry_after, server.limited = "300", 1000
    changes = Changes(create=tuple(a(f"n{number}.example.com") for number in range(450)))
    server.calls.clear()
    for _ in range(3):
        assert ["the rate limit is used up" in error for error in await errors(provider, changes)] == [True] * 450
    assert len(server.calls) == 1
    server.limited = 0
    clock.time += 300.0
    assert await errors(provider, changes) == [""] * 450
    assert len(server.held("example.com")) == 450
    assert server.batches == [200, 200, 50]


async def test_calls_keep_to_the_rate_that_is_declared(server: CloudflareServer) -> None:
    clock = SleepingClock()
    begun = clock.time
    provider = provider_of(server, limiter=RateLimiter(CAPABILITIES.rate, clock))
    for _ in range(30):
        await provider.zones()  # a call for the zones, and one for each of the three
    assert len(server.calls) == 120
    assert clock.time - begun == pytest.approx(20 * 300 / 1100, abs=0.3)  # the first hundred go at once


async def test_a_lost_answer_is_no_answer(server: CloudflareServer) -> None:
    provider = provider_of(server)
    await provider.zones()
    server.lost.add("/batch")
    with pytest.raises(ProviderError, match="it is not known whether changes were made"):
        await provider.apply(Changes(create=(a("app.example.com"),)))
    assert [r["content"] for r in server.held("example.com")] == ["192.0.2.1"]


def test_settings_that_cannot_work_are_told_with_their_flags() -> None:
    settings = CloudflareSettings(
        cloudflare_url="api", cloudflare_dns_records_per_page=6000, cloudflare_timeout=0
    )  # fmt: skip
    assert [line.partition(":")[0] for line in settings.check()] == [
        "--cloudflare-api-token", "--cloudflare-dns-records-per-page", "--cloudflare-url", "--cloudflare-timeout",
    ]  # fmt: skip
