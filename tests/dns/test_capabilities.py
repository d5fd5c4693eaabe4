"""What a provider cannot hold is a problem on the object that asks for it, and is never sent."""

from __future__ import annotations

import pytest

from gatepost.dns.capabilities import Capabilities
from gatepost.dns.choices import RECORD_TYPES
from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.endpoint import Endpoint, Property
from gatepost.dns.ownership.registry import inventory
from gatepost.dns.plan import Plan
from gatepost.dns.planner import Planner
from gatepost.dns.records import Claimant, Record, RecordSet
from gatepost.dns.served import Served, UnreadZone
from gatepost.dns.settings import DnsSettings
from gatepost.dns.standing import DOUBTFUL, Standing
from gatepost.objects.gatewayapi import HTTPRoute

ALL = DnsSettings(sources=("gateway-httproute",), txt_owner_id="me", managed_record_types=RECORD_TYPES)
CART = HTTPRoute.KIND.ref("shop", "cart")
PLAIN = Capabilities(
    provider="Plain DNS",
    types=frozenset({"A", "AAAA", "CNAME", "TXT"}),
    set_identifiers=False,
    apex_cname=False,
    ttls=(60, 86400),
    properties=("plain/comment", "more/"),
    without_effect=("plain-colour",),
)
SERVED = Served(frozenset({"example.com", "sub.example.com", "example.org"}), capabilities=PLAIN)


def wanted(name: str, *records: Record, set_identifier: str = "") -> RecordSet:
    return RecordSet(name, set_identifier, records, (Claimant("2026-01-01T00:00:00Z", CART),))


def plan(*record_sets: RecordSet, served: Served = SERVED, there: tuple[Endpoint, ...] = ()) -> Plan:
    planner = Planner(ALL, lambda resource, key: Standing(DOUBTFUL, "still wanted", CART), served=served)
    return planner.plan_all(inventory(ALL, there, served.zones or ()), record_sets)


def created(found: Plan) -> list[tuple[str, str]]:
    return [(change.record.dns_name, change.record.record_type) for change in found.changes]


def problems(found: Plan) -> list[tuple[str, str]]:
    assert {problem.about for problem in found.problems} <= {CART}
    return [(problem.reason, problem.message) for problem in found.problems]


A = Record("A", ("192.0.2.1",))


def test_a_type_that_the_provider_does_not_hold_is_refused_and_the_others_of_the_name_are_not() -> None:
    found = plan(wanted("app.example.com", A, Record("SRV", ("0 0 80 a.example.net.",))))
    assert created(found) == [("app.example.com", "A")]
    assert problems(found) == [
        (
            "TypeNotSupported",
            "SRV app.example.com: Plain DNS holds no SRV in zone example.com, only A, AAAA, CNAME, TXT",
        )
    ]


def test_two_set_identifiers_of_one_name_are_two_problems_where_there_are_no_routing_policies() -> None:
    found = plan(
        wanted("app.example.com", A, set_identifier="blue"), wanted("app.example.com", A, set_identifier="green")
    )
    assert found.changes == ()
    start = "A app.example.com: Plain DNS keeps no record sets apart in zone example.com; found set identifier"
    assert problems(found) == [
        ("SetIdentifierNotSupported", f"{start} 'blue', wanted none"),
        ("SetIdentifierNotSupported", f"{start} 'green', wanted none"),
    ]


def test_a_cname_at_the_apex_needs_an_alias_and_elsewhere_it_does_not() -> None:
    cname = Record("CNAME", ("gw.example.net",))
    found = plan(wanted("example.org", cname), wanted("sub.example.com", cname), wanted("www.example.com", cname))
    assert created(found) == [("www.example.com", "CNAME")]
    assert [reason for reason, _ in problems(found)] == ["ApexNotSupported"] * 2
    assert problems(found)[0][1].startswith("CNAME example.org: it is the apex of zone example.org, whose SOA and NS")


def test_what_is_there_of_a_name_that_cannot_be_held_any_more_is_kept() -> None:
    labels = {"owner": "me", "resource": "httproute/shop/cart"}
    text = '"heritage=external-dns,external-dns/owner=me,external-dns/resource=httproute/shop/cart"'
    there = (
        Endpoint("example.org", "A", ("192.0.2.9",), labels=labels),
        Endpoint("a-_apex.example.org", "TXT", (text,)),
    )
    found = plan(wanted("example.org", Record("CNAME", ("gw.example.net",))), there=there)
    assert found.changes == ()
    assert [(held.action, held.record.record_type, held.cause.message) for held in found.held] == [
        ("delete", "A", "still wanted")
    ]


def test_a_ttl_out_of_range_is_published_as_near_as_can_be_and_told() -> None:
    found = plan(
        wanted("low.example.com", Record("A", ("192.0.2.1",), 30)),
        wanted("high.example.com", Record("A", ("192.0.2.1",), 100_000)),
        wanted("fit.example.com", Record("A", ("192.0.2.1",), 60)),
        wanted("unset.example.com", A),
    )
    assert {change.record.dns_name: change.record.record_ttl for change in found.changes} == {
        "low.example.com": 60,
        "high.example.com": 86400,
        "fit.example.com": 60,
        "unset.example.com": 0,
    }
    takes = "Plain DNS takes 60 to 86400 seconds; it is published with"
    assert problems(found) == [
        ("TtlOutOfRange", f"A high.example.com: found a TTL of 100000, {takes} 86400"),
        ("TtlOutOfRange", f"A low.example.com: found a TTL of 30, {takes} 60"),
    ]


def test_only_properties_that_come_back_are_compared() -> None:
    kept = (Property("more/x", "1"), Property("plain/comment", "hello"))
    asked = tuple(sorted((*kept, Property("alias", "true"), Property("plain/other", "2"))))
    found = plan(wanted("app.example.com", Record("A", ("192.0.2.1",), properties=asked)))
    assert [change.record.provider_specific for change in found.changes] == [kept]


def test_a_property_that_is_meant_for_the_provider_and_not_done_is_told() -> None:
    colour = (Property("x.io/plain-colour", "red"),)
    found = plan(wanted("app.example.com", Record("A", ("192.0.2.1",), properties=colour)))
    assert created(found) == [("app.example.com", "A")]
    assert problems(found) == [
        ("PropertyWithoutEffect", "A app.example.com: x.io/plain-colour has no effect, Plain DNS does not do it here")
    ]


def test_a_name_in_a_zone_that_could_not_be_read_does_not_fall_to_the_zone_above() -> None:
    served = SERVED.with_unread([UnreadZone("sub.example.com", "server ns1 refuses (REFUSED)")])
    found = plan(
        wanted("a.sub.example.com", A), wanted("sub.example.com", A), wanted("a.example.com", A), served=served
    )
    assert created(found) == [("a.example.com", "A")]
    message = "zone sub.example.com cannot be read, and its names are left as they are: server ns1 refuses (REFUSED)"
    assert problems(found) == [("ZoneUnreadable", message)]
    assert created(plan(wanted("a.sub.example.com", A), served=served.with_read("sub.example.com"))) == [
        ("a.sub.example.com", "A")
    ]


@pytest.mark.parametrize(
    ("served", "message"),
    [
        (SERVED, "x.test is in no zone of Plain DNS, which has example.com, example.org, sub.example.com"),
        (Served(frozenset(), capabilities=PLAIN), "x.test is in no zone of Plain DNS, which has none"),
        (
            Served(frozenset(f"{number:02}.test" for number in range(12)), capabilities=PLAIN),
            "x.test is in no zone of Plain DNS, which has 00.test, 01.test, 02.test, 03.test, 04.test, 05.test, "
            "06.test, 07.test, 08.test, 09.test and 2 more",
        ),
        (
            Served(domains=DomainFilter(include=("example.com",)), capabilities=PLAIN),
            "x.test is outside of the domains that Plain DNS says it serves, which are example.com",
        ),
        (
            Served(domains=DomainFilter(regex_include="^a"), capabilities=PLAIN),
            "x.test is outside of the domains that Plain DNS says it serves",
        ),
    ],
)
def test_a_name_outside_of_all_zones_is_told_with_what_there_is(served: Served, message: str) -> None:
    found = plan(wanted("x.test", A), served=served)
    assert found.changes == ()
    assert problems(found) == [("NoZone", message)]


def test_zones_are_compared_label_by_label() -> None:
    assert SERVED.zone_of("a.sub.example.com") == "sub.example.com"
    assert SERVED.zone_of("a.badsub.example.com") == "example.com"
    assert SERVED.zone_of("*.example.org") == "example.org"
    assert SERVED.zone_of("badexample.org") == ""


def test_a_provider_that_says_nothing_is_sent_everything() -> None:
    found = plan(
        wanted("example.com", Record("CNAME", ("gw.example.net",), 1), set_identifier="x"), served=Served()
    )  # fmt: skip
    assert created(found) == [("example.com", "CNAME")]
    assert found.problems == ()
