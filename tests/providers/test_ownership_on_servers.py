"""Ownership in zones of real servers: what external-dns made is taken over, what gatepost makes can be taken over, and
two owners leave each other alone. The TXT records are written by hand from the rules of external-dns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from dns_servers import DnsServer, needs, running
from publishing import listed, owned_by, provider_of, wanted

from gatepost.dns.records import RecordSet

KINDS = ("bind", "knot", "pdns")
NS1 = "ns1.example.com. 300 A 127.0.0.1"
CART = '"heritage=external-dns,external-dns/owner=prod,external-dns/resource=httproute/shop/cart"'
OF_ONE = CART.replace("owner=prod", "owner=one")
OF_TWO = CART.replace("owner=prod", "owner=two")
FOREIGN = '"heritage=external-dns,external-dns/owner=other,external-dns/resource=httproute/shop/cart"'

WANTED = (
    wanted("app.example.com", "192.0.2.1", "192.0.2.2", ttl=60),
    wanted("six.example.com", "2001:db8::1", type_="AAAA"),
    wanted("www.example.com", "gw.example.org", type_="CNAME"),
    wanted("*.wild.example.com", "192.0.2.3"),
)


def zone(*ownership: tuple[str, str]) -> list[str]:
    """The lines of a zone file with the records of `WANTED` and these ownership records."""
    return [
        "app 60 IN A 192.0.2.1",
        "app 60 IN A 192.0.2.2",
        "six 0 IN AAAA 2001:db8::1",
        "www 300 IN CNAME gw.example.org.",
        "*.wild 300 IN A 192.0.2.3",
        "manual 300 IN A 192.0.2.99",
        'manual 300 IN TXT "v=spf1 -all"',
        *(f"{name} 0 IN TXT {text}" for name, text in ownership),
    ]


LAYOUTS = {
    "no affix": ({}, ("a-app", "aaaa-six", "cname-www", "a-_wildcard.wild")),
    "prefix": ({"txt_prefix": "ext-"}, ("ext-a-app", "ext-aaaa-six", "ext-cname-www", "ext-a-_wildcard.wild")),
    "prefix label": (
        {"txt_prefix": "_edns.", "txt_wildcard_replacement": "any"},
        ("_edns.a-app", "_edns.aaaa-six", "_edns.cname-www", "_edns.a-any.wild"),
    ),
    "prefix with type": (
        {"txt_prefix": "x-%{record_type}.", "txt_wildcard_replacement": "any"},
        ("x-a.app", "x-aaaa.six", "x-cname.www", "x-a.any.wild"),
    ),
    "suffix": ({"txt_suffix": "-ext"}, ("a-app-ext", "aaaa-six-ext", "cname-www-ext", "a-_wildcard-ext.wild")),
    "suffix with type": (
        {"txt_suffix": "-%{record_type}.own"},
        ("app-a.own", "six-aaaa.own", "www-cname.own", "_wildcard-a.own.wild"),
    ),
    "asterisk kept": ({}, ("a-app", "aaaa-six", "cname-www", "a-*.wild")),
}


@pytest.fixture(params=KINDS)
def any_server(request: pytest.FixtureRequest) -> Iterator[DnsServer]:
    needs(request.param)
    with running(request.param) as started:
        yield started


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LAYOUTS)
async def test_a_zone_made_by_external_dns_is_taken_over_with_no_change(kind: str, layout: str) -> None:
    needs(kind)
    flags, names = LAYOUTS[layout]
    with running(kind, {"example.com": zone(*((name, CART) for name in names))}) as server:
        before = server.records()
        found = await listed(provider_of(server), owned_by("prod", **flags))
        # The name with the asterisk is read, and written once more where gatepost would write it.
        again = [("update", "*.wild.example.com", ("ownership",))] if layout == "asterisk kept" else []
        assert [
            (c.action, c.record.dns_name, tuple(x.kind for x in c.causes)) for c in found.plan(*WANTED).changes
        ] == (again)
        assert {
            (h.endpoint.dns_name, h.owner, h.resource)
            for key in list(found.inventory.keys())
            for h in found.inventory.row(key)
        } >= {
            ("app.example.com", "prod", "httproute/shop/cart"),
            ("six.example.com", "prod", "httproute/shop/cart"),
            ("www.example.com", "prod", "httproute/shop/cart"),
            ("*.wild.example.com", "prod", "httproute/shop/cart"),
            ("manual.example.com", "", ""),
        }
        if not again:
            assert await found.publish(*WANTED) == []
            assert server.records() == before


async def test_a_zone_written_by_gatepost_has_the_records_that_external_dns_reads(any_server: DnsServer) -> None:
    found = await listed(provider_of(any_server), owned_by("prod"))
    results = await found.publish(*WANTED)
    assert [result.error for result in results] == [""] * 8
    assert any_server.records() == {
        NS1,
        "app.example.com. 60 A 192.0.2.1",
        "app.example.com. 60 A 192.0.2.2",
        "six.example.com. 300 AAAA 2001:db8::1",
        "www.example.com. 300 CNAME gw.example.org.",
        "*.wild.example.com. 300 A 192.0.2.3",
        f"a-app.example.com. 300 TXT {CART}",
        f"aaaa-six.example.com. 300 TXT {CART}",
        f"cname-www.example.com. 300 TXT {CART}",
        f"a-_wildcard.wild.example.com. 300 TXT {CART}",
    }
    assert (await listed(provider_of(any_server), owned_by("prod"))).plan(*WANTED).changes == ()


async def test_after_a_take_over_only_what_changes_is_written(any_server: DnsServer) -> None:
    other = await listed(provider_of(any_server), owned_by("prod"))
    await other.publish(*WANTED)
    found = await listed(provider_of(any_server), owned_by("prod"))
    now = (
        wanted("app.example.com", "192.0.2.1", "192.0.2.7", ttl=60),
        wanted("www.example.com", "192.0.2.8"),
        wanted("*.wild.example.com", "192.0.2.3"),
    )
    results = await found.publish(*now)
    assert not [result for result in results if result.error]
    assert any_server.records() == {
        NS1,
        "app.example.com. 60 A 192.0.2.1",
        "app.example.com. 60 A 192.0.2.7",
        "www.example.com. 300 A 192.0.2.8",
        "*.wild.example.com. 300 A 192.0.2.3",
        f"a-app.example.com. 300 TXT {CART}",
        f"a-www.example.com. 300 TXT {CART}",
        f"a-_wildcard.wild.example.com. 300 TXT {CART}",
    }


@pytest.mark.parametrize("kind", KINDS)
async def test_records_of_others_stay_whatever_is_wanted(kind: str) -> None:
    needs(kind)
    lines = [
        "theirs 300 IN A 192.0.2.50",
        f"a-theirs 300 IN TXT {FOREIGN}",
        "manual 300 IN A 192.0.2.51",
        f"a-left 300 IN TXT {FOREIGN}",
    ]
    with running(kind, {"example.com": lines}) as server:
        before = server.records()
        found = await listed(provider_of(server), owned_by("prod"))
        results = await found.publish(
            wanted("theirs.example.com"),
            wanted("manual.example.com"),
            wanted("left.example.com"),
            wanted("mine.example.com"),
        )
        assert {result.key.dns_name for result in results} == {"mine.example.com", "a-mine.example.com"}
        assert server.records() == before | {
            "mine.example.com. 300 A 192.0.2.1",
            f"a-mine.example.com. 300 TXT {CART}",
        }
        gone = await listed(provider_of(server), owned_by("prod"))
        assert not [result for result in await gone.publish() if result.error]
        assert server.records() == before


async def test_two_owners_share_a_zone_and_each_removes_only_its_own(any_server: DnsServer) -> None:
    one = await listed(provider_of(any_server), owned_by("one"))
    two = await listed(provider_of(any_server), owned_by("two"))
    await one.publish(wanted("a.example.com"), wanted("b.example.com"))
    await two.publish(wanted("c.example.com", "192.0.2.2"))
    of_two = {
        "c.example.com. 300 A 192.0.2.2",
        f"a-c.example.com. 300 TXT {OF_TWO}",
    }
    one = await listed(one.provider, one.settings)
    assert not [result for result in await one.publish() if result.error]
    assert any_server.records() == {NS1} | of_two


async def test_of_two_owners_who_want_one_name_at_once_the_first_gets_it_whole(any_server: DnsServer) -> None:
    one = await listed(provider_of(any_server), owned_by("one"))
    two = await listed(provider_of(any_server), owned_by("two"))
    assert not [result for result in await one.publish(wanted("app.example.com", "192.0.2.1")) if result.error]
    late = await two.publish(wanted("app.example.com", "192.0.2.2"), wanted("free.example.com", "192.0.2.2"))
    assert {result.key.dns_name for result in late if result.error} == {"app.example.com", "a-app.example.com"}
    assert {line for line in any_server.records() if "app" in line} == {
        "app.example.com. 300 A 192.0.2.1",
        f"a-app.example.com. 300 TXT {OF_ONE}",
    }
    assert "free.example.com. 300 A 192.0.2.2" in any_server.records()


@pytest.mark.parametrize("then", [(), (wanted("app.example.com", "192.0.2.9"),)], ids=["delete", "update"])
async def test_a_record_that_went_to_another_owner_meanwhile_is_left_alone(
    any_server: DnsServer, then: Sequence[RecordSet]
) -> None:
    one = await listed(provider_of(any_server), owned_by("one"))
    await one.publish(wanted("app.example.com"))
    stale = await listed(one.provider, one.settings)
    two = await listed(provider_of(any_server), owned_by("two", migrate_from_txt_owner="one"))
    assert not [result for result in await two.publish(wanted("app.example.com")) if result.error]
    before = any_server.records()
    assert any("owner=two" in line for line in before)
    results = await stale.publish(*then)
    assert results
    assert all(result.error for result in results)
    assert any_server.records() == before
