"""The provider pdns against PowerDNS: what it writes is compared with what dig reads and the API lists."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web
from dns_servers import API_KEY, DnsServer, needs, running
from msgspec.structs import replace
from record_changes import a, errors

from gatepost.dns.domain_filter import DomainFilter, domain_filter
from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey, Property
from gatepost.dns.ownership.txt_format import OwnershipNames
from gatepost.providers.contract import Provider, ProviderError
from gatepost.providers.pdns.provider import PdnsProvider
from gatepost.providers.pdns.settings import PdnsSettings

pytest_plugins = ("dns_fixtures",)

NS1 = "ns1.example.com. 300 A 127.0.0.1"
ALIAS = (Property("alias", "true"),)


def provider_of(server: DnsServer, domains: DomainFilter | None = None, **others: Any) -> PdnsProvider:
    settings = PdnsSettings(pdns_server=server.api_url, pdns_api_key=API_KEY)
    return PdnsProvider(replace(settings, **others), domains)


@pytest.fixture
def provider(pdns: DnsServer) -> PdnsProvider:
    return provider_of(pdns)


@pytest.fixture
def nested() -> Iterator[DnsServer]:
    needs("pdns")
    with running("pdns", {"example.com": (), "sub.example.com": (), "example.org": ()}) as started:
        yield started


def api(server: DnsServer, method: str, path: str, body: object = None) -> Any:
    """A call that the tests make themselves, below the zones."""
    request = urllib.request.Request(
        f"{server.api_url}/api/v1/servers/localhost/zones/{path}",
        None if body is None else json.dumps(body).encode(),
        {"X-API-Key": API_KEY, "Content-Type": "application/json"},
        method=method,
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or "null")


def put(server: DnsServer, name: str, type_: str, *records: dict[str, Any]) -> None:
    """Somebody else writes a record set into example.com."""
    record_set = {"name": name, "type": type_, "ttl": 300, "changetype": "REPLACE", "records": records}
    api(server, "PATCH", "example.com.", {"rrsets": [record_set]})


async def test_it_lists_the_zones_and_what_they_hold(provider: Provider) -> None:
    assert await provider.zones() == ["example.com"]
    assert sorted(await provider.records(), key=lambda endpoint: endpoint.key) == [
        Endpoint("example.com", "NS", ("ns1.example.com",), 300),
        Endpoint("ns1.example.com", "A", ("127.0.0.1",), 300),
    ]


async def test_created_records_of_every_type_are_in_the_zone(pdns: DnsServer, provider: Provider) -> None:
    created = (
        a("app.example.com", "192.0.2.2", "192.0.2.1", ttl=60),
        Endpoint("app.example.com", "AAAA", ("2001:DB8:0:0::1",)),
        Endpoint("www.example.com", "CNAME", ("gw.example.org",)),
        Endpoint("example.com", "MX", ("10 mail.example.com",)),
        Endpoint("_sip._tcp.example.com", "SRV", ("10 5 5060 sip.example.com.",)),
        Endpoint("text.example.com", "TXT", ('"one" "two; three"', "plain words")),
        Endpoint("*.wild.example.com", "A", ("192.0.2.9",)),
    )
    assert await errors(provider, Changes(create=created)) == [""] * 7
    assert pdns.records() == {
        NS1,
        "app.example.com. 60 A 192.0.2.1",
        "app.example.com. 60 A 192.0.2.2",
        "app.example.com. 300 AAAA 2001:db8::1",
        "www.example.com. 300 CNAME gw.example.org.",
        "example.com. 300 MX 10 mail.example.com.",
        "_sip._tcp.example.com. 300 SRV 10 5 5060 sip.example.com.",
        'text.example.com. 300 TXT "one" "two; three"',
        'text.example.com. 300 TXT "plain words"',
        "*.wild.example.com. 300 A 192.0.2.9",
    }


async def test_what_is_listed_is_what_adjust_foretold(provider: Provider) -> None:
    await provider.zones()
    wanted = [
        a("App.Example.com.", "192.0.2.2", "192.0.2.1", ttl=60),
        Endpoint("v6.example.com", "AAAA", ("2001:DB8:0:0::1",), 60),
        Endpoint("www.example.com", "CNAME", ("gw.example.org.",), 60, provider_specific=(Property("aws/x", "1"),)),
        Endpoint("alias.example.com", "CNAME", ("gw.example.org.",), 60, provider_specific=ALIAS),
        Endpoint("example.com", "CNAME", ("gw.example.org.",), 60),
        Endpoint("text.example.com", "TXT", ("x" * 300,), 60),
    ]
    assert await errors(provider, Changes(create=tuple(provider.adjust(wanted)))) == [""] * 6
    listed = {endpoint.key: endpoint for endpoint in await provider.records()}
    adjusted = provider.adjust(wanted)
    assert [listed[endpoint.key] for endpoint in adjusted] == adjusted
    assert [endpoint.provider_specific for endpoint in adjusted] == [(), (), (), ALIAS, ALIAS, ()]


async def test_an_update_a_change_of_type_and_a_deletion(pdns: DnsServer, provider: Provider) -> None:
    one, two, three = a("one.example.com", ttl=60), a("two.example.com"), a("three.example.com")
    await provider.apply(Changes(create=(one, two, three)))
    cname = Endpoint("two.example.com", "CNAME", ("gw.example.org",))
    changed = a("one.example.com", "192.0.2.7")
    changes = Changes(create=(cname,), update_old=(one,), update_new=(changed,), delete=(two, three))
    assert await errors(provider, changes) == ["", "", "", ""]
    assert pdns.records() == {
        NS1,
        "one.example.com. 60 A 192.0.2.7",  # nobody asked for another TTL
        "two.example.com. 300 CNAME gw.example.org.",
    }


async def test_a_cname_becomes_an_alias_and_back(pdns: DnsServer, provider: Provider) -> None:
    cname = Endpoint("app.example.com", "CNAME", ("gw.example.org",), 300)
    alias = replace(cname, provider_specific=ALIAS)
    await provider.apply(Changes(create=(cname,)))
    assert await errors(provider, Changes(update_old=(cname,), update_new=(alias,))) == [""]
    assert alias in await provider.records()
    assert await errors(provider, Changes(update_old=(alias,), update_new=(cname,))) == [""]
    assert pdns.records() == {NS1, "app.example.com. 300 CNAME gw.example.org."}


async def test_disabled_records_are_not_listed_and_never_lost(pdns: DnsServer, provider: Provider) -> None:
    on, off = {"content": "192.0.2.1", "disabled": False}, {"content": "192.0.2.2", "disabled": True}
    put(pdns, "app.example.com.", "A", on, off)
    put(pdns, "off.example.com.", "A", off)
    listed = await provider.records()
    assert a("app.example.com", ttl=300) in listed
    assert not [endpoint for endpoint in listed if endpoint.dns_name == "off.example.com"]
    old, new = a("app.example.com"), a("app.example.com", "192.0.2.9")
    assert await errors(provider, Changes(update_old=(old,), update_new=(new,))) == [""]
    assert await errors(provider, Changes(delete=(new,))) == [""]
    assert await errors(provider, Changes(create=(a("off.example.com", "192.0.2.7"),))) == [""]
    left = {s["name"]: s["records"] for s in api(pdns, "GET", "example.com.")["rrsets"] if s["type"] == "A"}
    assert left["app.example.com."] == [off]
    by_content = sorted(left["off.example.com."], key=lambda record: str(record["content"]))
    assert by_content == [off, {"content": "192.0.2.7", "disabled": False}]


async def test_the_longest_zone_gets_a_name_and_labels_are_whole(nested: DnsServer) -> None:
    provider = provider_of(nested)
    results = await provider.apply(
        Changes(create=(a("app.sub.example.com"), a("app.badexample.com"), a("notsub.example.com")))
    )
    found = {result.key.dns_name: result.error for result in results}
    assert found == {
        "app.sub.example.com": "",
        "app.badexample.com": "app.badexample.com: the name is outside of all zones of this server",
        "notsub.example.com": "",
    }
    assert "app.sub.example.com. 300 A 192.0.2.1" in nested.records("sub.example.com")
    assert "notsub.example.com. 300 A 192.0.2.1" in nested.records("example.com")


async def test_zones_outside_of_the_domain_filter_are_neither_read_nor_written(nested: DnsServer) -> None:
    provider = provider_of(nested, domain_filter(("team.example.com",)))
    assert await provider.zones() == ["example.com"]
    assert {endpoint.dns_name for endpoint in await provider.records()} == {"example.com", "ns1.example.com"}
    [error] = await errors(provider, Changes(create=(a("app.example.org"),)))
    assert error == "app.example.org: the domain filter leaves zone example.org out"
    assert nested.records("example.org") == {"ns1.example.org. 300 A 127.0.0.1"}


async def test_records_that_others_made_or_changed_meanwhile_are_left_alone(
    pdns: DnsServer, provider: Provider
) -> None:
    put(pdns, "app.example.com.", "A", {"content": "192.0.2.66", "disabled": False})
    put(pdns, "www.example.com.", "A", {"content": "192.0.2.66", "disabled": False})
    results = await provider.apply(
        Changes(create=(a("app.example.com"), a("new.example.com")), delete=(a("www.example.com"),))
    )
    assert [result.error for result in results] == [
        "A app.example.com: there is already one, 192.0.2.66; it was left as it is",
        "A www.example.com: found 192.0.2.66, wanted 192.0.2.1: somebody else has changed it; it was left as it is",
        "",
    ]
    assert pdns.records() == {
        NS1,
        "app.example.com. 300 A 192.0.2.66",
        "www.example.com. 300 A 192.0.2.66",
        "new.example.com. 300 A 192.0.2.1",
    }


async def test_a_record_that_another_owner_has_taken_over_is_left_alone(
    pdns: DnsServer, provider: PdnsProvider
) -> None:
    provider.guard(OwnershipNames())
    put(pdns, "app.example.com.", "A", {"content": "192.0.2.1", "disabled": False})
    text = '"heritage=external-dns,external-dns/owner=other"'
    put(pdns, "a-app.example.com.", "TXT", {"content": text, "disabled": False})
    mine = replace(a("app.example.com"), labels={"owner": "me"})
    assert await errors(provider, Changes(delete=(mine,))) == ["A app.example.com: it belongs to other by now, not me"]
    assert "app.example.com. 300 A 192.0.2.1" in pdns.records()


async def test_one_bad_record_in_many_is_found_and_the_others_go_through(pdns: DnsServer, provider: Provider) -> None:
    put(pdns, "n77.example.com.", "CNAME", {"content": "gw.example.org.", "disabled": False})
    results = await provider.apply(Changes(create=tuple(a(f"n{number}.example.com") for number in range(700))))
    refused = [result for result in results if result.error]
    assert [result.key for result in refused] == [EndpointKey("n77.example.com", "A")]
    assert refused[0].error.endswith("answered 422: RRset n77.example.com. IN A: Conflicts with pre-existing RRset")
    assert len(results) == 700
    assert len(pdns.records()) == 701


async def test_a_wrong_key_is_one_clear_problem(pdns: DnsServer) -> None:
    provider = provider_of(pdns, pdns_api_key="wrong")
    with pytest.raises(ProviderError, match=r"answered 401.*check --pdns-api-key"):
        await provider.zones()


async def test_a_server_id_that_is_none_is_one_clear_problem(pdns: DnsServer) -> None:
    provider = provider_of(pdns, pdns_server_id="other")
    with pytest.raises(ProviderError, match=r"answered 404.*check --pdns-server and --pdns-server-id"):
        await provider.records()


async def test_a_server_that_is_gone_is_tried_again_and_then_told(pdns: DnsServer, provider: Provider) -> None:
    await provider.zones()
    assert pdns.process is not None
    pdns.process.terminate()
    pdns.process.wait(20)
    with pytest.raises(
        ProviderError, match=r"it is not known whether changes were made: PowerDNS at .* cannot be reached"
    ):
        await provider.apply(Changes(create=(a("app.example.com"),)))


def test_settings_name_what_is_wrong() -> None:
    with pytest.raises(ValueError, match=r"--pdns-api-key") as raised:
        PdnsProvider(PdnsSettings(pdns_server="localhost:8081"))
    assert str(raised.value).splitlines() == [
        "--pdns-api-key: none was given; the API of PowerDNS asks for one",
        "--pdns-server: found 'localhost:8081', wanted a URL like http://localhost:8081",
    ]


async def test_a_rate_limit_is_obeyed_and_ends_the_calls_that_would_follow() -> None:
    calls: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        calls.append(request.method)
        if request.method == "PATCH":
            return web.Response(status=429, headers={"Retry-After": "60"}, text="slow down")
        zone = {"id": "example.com.", "name": "example.com.", "rrsets": []}
        return web.json_response([zone] if request.path.endswith("/zones") else zone)

    app = web.Application()
    app.router.add_route("*", "/{anything:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        limited = PdnsProvider(PdnsSettings(pdns_server=url, pdns_api_key="key"))
        await limited.zones()
        names = [f"n{number}.example.com" for number in range(1200)]
        found = await errors(limited, Changes(create=tuple(a(name) for name in names)))
        assert len(found) == 1200
        assert set(found) == {f"PowerDNS at {url} answered 429: slow down"}
        assert calls.count("PATCH") == 1
        [error] = await errors(limited, Changes(create=(a("x.example.com"),)))
        assert error == f"PowerDNS at {url}: it has asked to be left alone after too many calls"
        assert calls.count("PATCH") == 1
    finally:
        await runner.cleanup()
