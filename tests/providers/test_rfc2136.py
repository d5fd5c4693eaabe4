"""The provider rfc2136 against BIND and Knot: what it writes is compared with what dig reads."""

from __future__ import annotations

import pytest
from dns_proxy import proxy_before
from dns_servers import ALGORITHMS, KEY_NAME, KEY_SECRET, DnsServer, key_name
from msgspec.structs import replace
from record_changes import a, errors

from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey, Property
from gatepost.providers.contract import Provider, ProviderError, RecordResult
from gatepost.providers.rfc2136.provider import Rfc2136Provider
from gatepost.providers.rfc2136.settings import Rfc2136Settings

pytest_plugins = ("dns_fixtures",)

NS1 = "ns1.example.com. 300 A 127.0.0.1"


def settings(server: DnsServer, **others: object) -> Rfc2136Settings:
    whole = Rfc2136Settings(
        rfc2136_host=("127.0.0.1",),
        rfc2136_port=server.port,
        rfc2136_zone=server.zones,
        rfc2136_tsig_keyname=KEY_NAME,
        rfc2136_tsig_secret=KEY_SECRET,
    )
    return replace(whole, **others)


@pytest.fixture
def provider(server: DnsServer) -> Rfc2136Provider:
    return Rfc2136Provider(settings(server))


async def test_it_lists_what_the_zone_holds(provider: Provider) -> None:
    assert await provider.zones() == ["example.com"]
    assert sorted(await provider.records(), key=lambda endpoint: endpoint.key) == [
        Endpoint("example.com", "NS", ("ns1.example.com",), 300),
        Endpoint("ns1.example.com", "A", ("127.0.0.1",), 300),
    ]


async def test_created_records_of_every_type_are_in_the_zone(server: DnsServer, provider: Provider) -> None:
    created = (
        a("app.example.com", "192.0.2.2", "192.0.2.1", ttl=60),
        Endpoint("app.example.com", "AAAA", ("2001:DB8:0:0::1",)),
        Endpoint("www.example.com", "CNAME", ("gw.example.org",)),
        Endpoint("example.com", "MX", ("10 ns1.example.com",)),
        Endpoint("_sip._tcp.example.com", "SRV", ("10 5 5060 sip.example.com.",)),
        Endpoint("text.example.com", "TXT", ('"one" "two; three"', "plain words")),
        Endpoint("*.wild.example.com", "A", ("192.0.2.9",)),
    )
    assert await errors(provider, Changes(create=created)) == [""] * 7
    assert server.records() == {
        NS1,
        "app.example.com. 60 A 192.0.2.1",
        "app.example.com. 60 A 192.0.2.2",
        "app.example.com. 300 AAAA 2001:db8::1",
        "www.example.com. 300 CNAME gw.example.org.",
        "example.com. 300 MX 10 ns1.example.com.",
        "_sip._tcp.example.com. 300 SRV 10 5 5060 sip.example.com.",
        'text.example.com. 300 TXT "one" "two; three"',
        'text.example.com. 300 TXT "plain words"',
        "*.wild.example.com. 300 A 192.0.2.9",
    }


async def test_what_is_listed_is_what_adjust_foretold(provider: Provider) -> None:
    wanted = [
        a("App.Example.com.", "192.0.2.2", "192.0.2.1", ttl=60),
        Endpoint("v6.example.com", "AAAA", ("2001:DB8:0:0::1",), 60),
        Endpoint("www.example.com", "CNAME", ("gw.example.org.",), 60, provider_specific=(Property("alias", "true"),)),
        Endpoint("text.example.com", "TXT", ("plain",), 60),
    ]
    await provider.apply(Changes(create=tuple(wanted)))
    listed = {endpoint.key: endpoint for endpoint in await provider.records()}
    adjusted = provider.adjust(wanted)
    assert [listed[endpoint.key] for endpoint in adjusted] == adjusted
    assert adjusted[1].targets == ("2001:db8::1",)
    assert adjusted[3].targets == ('"plain"',)


async def test_an_update_a_change_of_type_and_a_deletion(server: DnsServer, provider: Provider) -> None:
    one, two, three = a("one.example.com", ttl=60), a("two.example.com"), a("three.example.com")
    await provider.apply(Changes(create=(one, two, three)))
    changed = a("one.example.com", "192.0.2.7")
    cname = Endpoint("two.example.com", "CNAME", ("gw.example.org",))
    changes = Changes(create=(cname,), update_old=(one,), update_new=(changed,), delete=(two, three))
    assert await errors(provider, changes) == ["", "", "", ""]
    assert server.records() == {
        NS1,
        "one.example.com. 60 A 192.0.2.7",  # nobody asked for another TTL
        "two.example.com. 300 CNAME gw.example.org.",
    }


async def test_what_others_change_is_seen_by_the_next_listing(server: DnsServer, provider: Provider) -> None:
    other = Rfc2136Provider(settings(server))
    await provider.records()
    await other.apply(Changes(create=(a("app.example.com"), a("gone.example.com"))))
    assert len(await provider.records()) == 4
    await other.apply(
        Changes(
            update_old=(a("app.example.com"),),
            update_new=(a("app.example.com", "192.0.2.8", "192.0.2.9", ttl=30),),
            delete=(a("gone.example.com"),),
        )
    )
    assert sorted(e for e in map(str, await provider.records()) if "192.0.2" in e) == [
        str(a("app.example.com", "192.0.2.8", "192.0.2.9", ttl=30))
    ]


async def test_a_record_that_somebody_made_meanwhile_is_left_alone(server: DnsServer, provider: Provider) -> None:
    await provider.records()
    await Rfc2136Provider(settings(server)).apply(Changes(create=(a("app.example.com", "192.0.2.66"),)))
    results = await provider.apply(Changes(create=(a("app.example.com"), a("new.example.com"))))
    assert [(result.key.dns_name, bool(result.error)) for result in results] == [
        ("app.example.com", True),
        ("new.example.com", False),
    ]
    assert "there is already a record of this name and type" in results[0].error
    assert "(YXRRSET)" in results[0].error
    assert server.records() == {NS1, "app.example.com. 300 A 192.0.2.66", "new.example.com. 300 A 192.0.2.1"}


async def test_a_record_that_somebody_changed_meanwhile_is_left_alone(server: DnsServer, provider: Provider) -> None:
    old, theirs = a("app.example.com"), a("app.example.com", "192.0.2.66")
    await provider.apply(Changes(create=(old, a("bye.example.com"))))
    other = Rfc2136Provider(settings(server))
    await other.records()
    await other.apply(Changes(update_old=(old,), update_new=(theirs,)))
    results = await provider.apply(Changes(delete=(old, a("bye.example.com"))))
    assert "somebody else has changed it, and it was left as it is (NXRRSET)" in results[0].error
    assert results[1] == RecordResult(EndpointKey("bye.example.com", "A"))
    assert server.records() == {NS1, "app.example.com. 300 A 192.0.2.66"}


@pytest.mark.parametrize(("there", "wanted"), [("A", "CNAME"), ("CNAME", "A"), ("TXT", "CNAME")])
async def test_a_cname_is_not_silently_dropped_beside_others(
    server: DnsServer, provider: Provider, there: str, wanted: str
) -> None:
    targets = {"A": "192.0.2.1", "CNAME": "gw.example.org", "TXT": '"text"'}
    await provider.apply(Changes(create=(Endpoint("app.example.com", there, (targets[there],)),)))
    before = server.records()
    [error] = await errors(provider, Changes(create=(Endpoint("app.example.com", wanted, (targets[wanted],)),)))
    assert "one that cannot stand beside it" in error
    assert server.records() == before


async def test_bad_records_are_refused_one_by_one_before_anything_is_sent(
    server: DnsServer, provider: Provider
) -> None:
    results = await provider.apply(
        Changes(
            create=(
                a("app.badexample.com"),
                a("app.example.com", "192.0.2.300"),
                Endpoint("example.com", "CNAME", ("gw.example.org",)),
                Endpoint("set.example.com", "A", ("192.0.2.1",), set_identifier="blue"),
                Endpoint("two.example.com", "CNAME", ("a.example.org", "b.example.org")),
                a("good.example.com"),
            )
        )
    )
    found = {result.key.dns_name: result.error for result in results}
    assert found["app.badexample.com"] == (
        "app.badexample.com: the name is outside of all zones of this provider (example.com)"
    )
    assert '"192.0.2.300" is no A target' in found["app.example.com"]
    assert found["example.com"] == (
        "CNAME example.com: at the apex of a zone, this type is refused by DNS beside its SOA and NS"
    )
    assert found["set.example.com"] == "A set.example.com: the DNS has no set identifiers; found 'blue'"
    assert found["two.example.com"] == "CNAME two.example.com: a CNAME has one target, this has 2"
    assert found["good.example.com"] == ""
    assert server.records() == {NS1, "good.example.com. 300 A 192.0.2.1"}


async def test_a_ttl_that_nobody_sets_stays_over_updates_without_a_listing(
    server: DnsServer, provider: Provider
) -> None:
    await provider.apply(Changes(create=(a("app.example.com"),)))
    await provider.apply(
        Changes(update_old=(a("app.example.com"),), update_new=(a("app.example.com", "192.0.2.2", ttl=60),))
    )
    await provider.apply(
        Changes(update_old=(a("app.example.com", "192.0.2.2"),), update_new=(a("app.example.com", "192.0.2.3"),))
    )
    assert server.records() == {NS1, "app.example.com. 60 A 192.0.2.3"}


async def test_the_lowest_ttl_is_kept_to_and_no_reason_for_updates(server: DnsServer) -> None:
    provider = Rfc2136Provider(settings(server, rfc2136_min_ttl=120))
    await provider.apply(Changes(create=(a("low.example.com", ttl=60), a("high.example.com", ttl=3600))))
    assert server.records() == {NS1, "low.example.com. 120 A 192.0.2.1", "high.example.com. 3600 A 192.0.2.1"}
    assert provider.adjust([a("low.example.com", ttl=60)]) == [a("low.example.com", ttl=120)]
    assert provider.adjust([a("none.example.com")]) == [a("none.example.com")]


async def test_many_changes_go_in_batches_and_one_bad_one_is_found(server: DnsServer) -> None:
    provider = Rfc2136Provider(settings(server, rfc2136_batch_change_size=30))
    await Rfc2136Provider(settings(server)).apply(Changes(create=(a("n77.example.com", "192.0.2.66"),)))
    results = await provider.apply(Changes(create=tuple(a(f"n{number}.example.com") for number in range(200))))
    assert [result.key.dns_name for result in results if result.error] == ["n77.example.com"]
    assert len(results) == 200
    assert len(server.records()) == 201
    assert "n77.example.com. 300 A 192.0.2.66" in server.records()


async def test_a_key_that_the_server_does_not_know(server: DnsServer) -> None:
    provider = Rfc2136Provider(settings(server, rfc2136_tsig_keyname="unknown"))
    wanted = "knows no TSIG key unknown of algorithm hmac-sha256 (BADKEY); check --rfc2136-tsig-keyname"
    with pytest.raises(ProviderError) as raised:
        await provider.zones()
    assert wanted in str(raised.value)


async def test_a_key_with_another_secret(server: DnsServer) -> None:
    provider = Rfc2136Provider(settings(server, rfc2136_tsig_secret="d3Jvbmc="))
    with pytest.raises(ProviderError, match=r"has another secret for TSIG key gatepost \(BADSIG\)"):
        await provider.records()


async def test_a_key_that_is_not_allowed_to_write_gets_an_error_for_each_record(server: DnsServer) -> None:
    provider = Rfc2136Provider(settings(server, rfc2136_tsig_keyname="stranger", rfc2136_axfr=False))
    refusals = await errors(provider, Changes(create=(a("one.example.com"), a("two.example.com"))))
    assert len(refusals) == 2
    for refusal in refusals:
        assert "TSIG key stranger" in refusal
    assert server.records() == {NS1}


async def test_a_zone_that_the_server_does_not_have_stops_only_itself(server: DnsServer) -> None:
    provider = Rfc2136Provider(settings(server, rfc2136_zone=("example.com", "example.org")))
    assert await provider.zones() == ["example.com"]
    assert {endpoint.dns_name for endpoint in await provider.records()} == {"example.com", "ns1.example.com"}
    results = await provider.apply(Changes(create=(a("app.example.org"), a("app.example.com"))))
    found = {result.key.dns_name: result.error for result in results}
    assert found["app.example.com"] == ""
    assert found["app.example.org"].startswith("app.example.org: zone example.org cannot be read: server 127.0.0.1:")
    assert server.records() == {NS1, "app.example.com. 300 A 192.0.2.1"}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_every_algorithm_signs_updates_and_transfers(server: DnsServer, algorithm: str) -> None:
    provider = Rfc2136Provider(
        settings(server, rfc2136_tsig_keyname=key_name(algorithm), rfc2136_tsig_secret_alg=algorithm)
    )
    assert await errors(provider, Changes(create=(a("app.example.com"),))) == [""]
    assert a("app.example.com", ttl=300) in await provider.records()
    wrong = next(other for other in ALGORITHMS if other != algorithm)
    with pytest.raises(ProviderError, match="TSIG key"):
        await Rfc2136Provider(
            settings(server, rfc2136_tsig_keyname=key_name(algorithm), rfc2136_tsig_secret_alg=wrong)
        ).zones()


async def test_without_transfers_nothing_is_listed_and_records_are_only_created(server: DnsServer) -> None:
    provider = Rfc2136Provider(settings(server, rfc2136_axfr=False))
    assert await provider.zones() == ["example.com"]
    assert await provider.records() == []
    assert not provider.capabilities.lists_records
    assert await errors(provider, Changes(create=(a("app.example.com"),))) == [""]
    [error] = await errors(provider, Changes(create=(a("app.example.com", "192.0.2.2"),)))
    assert "there is already a record of this name and type" in error
    assert server.records() == {NS1, "app.example.com. 300 A 192.0.2.1"}


async def test_a_zone_that_refuses_everything_is_not_asked_about_each_name(bind: DnsServer) -> None:
    async with proxy_before(bind.port) as proxy:
        provider = Rfc2136Provider(
            settings(bind, rfc2136_port=proxy.port, rfc2136_tsig_keyname="stranger", rfc2136_axfr=False)
        )
        results = await provider.apply(Changes(create=tuple(a(f"n{number}.example.com") for number in range(2000))))
        assert len(results) == 2000
        assert all("(REFUSED)" in result.error for result in results)
        assert proxy.queries < 200


def test_settings_name_all_that_is_wrong() -> None:
    wrong = Rfc2136Settings(
        rfc2136_port=0, rfc2136_tsig_keyname="k", rfc2136_tsig_secret="not base64!", rfc2136_tsig_secret_alg="hmac-md5"
    )
    with pytest.raises(ValueError, match="--rfc2136-host") as raised:
        Rfc2136Provider(wrong)
    assert str(raised.value).splitlines() == [
        "--rfc2136-host: none was given, wanted the name or address of a DNS server",
        "--rfc2136-zone: none was given, wanted the zones that are ours to write to",
        "--rfc2136-port: found 0, wanted 1 to 65535",
        "--rfc2136-tsig-secret: found a text that is no base64",
        "--rfc2136-tsig-secret-alg: found 'hmac-md5', wanted one of hmac-sha1, hmac-sha224, hmac-sha256, hmac-sha384, "
        "hmac-sha512",
    ]


def test_a_key_has_the_name_that_dns_can_hold() -> None:
    wrong = Rfc2136Settings(
        rfc2136_host=("127.0.0.1",),
        rfc2136_zone=("example.com",),
        rfc2136_tsig_keyname="key..one",
        rfc2136_tsig_secret="c2VjcmV0",
    )
    assert wrong.check() == ('--rfc2136-tsig-keyname: "key..one" is no DNS name: A DNS label is empty.',)


def test_a_key_and_insecure_are_not_given_together() -> None:
    both = Rfc2136Settings(
        rfc2136_host=("127.0.0.1",), rfc2136_zone=("example.com",), rfc2136_insecure=True, rfc2136_tsig_keyname="k"
    )
    assert both.check() == ("--rfc2136-insecure: signs nothing, but a TSIG key was given; leave out one of them",)
