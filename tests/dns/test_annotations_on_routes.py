"""What annotations ask for."""

from __future__ import annotations

import pytest
from dns_objects import HTTP_ROUTES, answers, endpoints_of, engine_of, gateway, route, value_at

from gatepost.dns.annotations import ttl_seconds
from gatepost.dns.claims import CLAIMS, RECORD_SETS
from gatepost.dns.sources.parents import PARENTS

PREFIX = "external-dns.kubernetes.io/"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("300", 300),
        ("300s", 300),
        ("5m", 300),
        ("1h30m", 5400),
        ("1.5s", 1),
        ("1.9s", 1),
        ("+60", 60),
        ("2147483647", 2147483647),
        ("2147483648", 0),
        ("0", 0),
        ("500ms", 0),
        ("-5", 0),
        ("-5s", 0),
        ("1d", 0),
        ("60.5", 0),
        (" 60", 0),
        ("", 0),
        ("1_000", 0),
        ("٣", 0),
    ],
)
def test_a_ttl_is_seconds_or_a_duration(text: str, seconds: int) -> None:
    assert ttl_seconds(text) == seconds


def test_a_ttl_that_cannot_be_read_is_told_and_leaves_the_record() -> None:
    engine = engine_of(HTTP_ROUTES, gateway(), one := route(annotations={PREFIX + "ttl": "soon"}))
    claims = value_at(engine, CLAIMS, one.ref)
    assert [claim.name for claim in claims.claims] == ["app.example.com"]
    assert [(why.reason, why.at, why.field) for why in claims.skipped] == [
        ("InvalidAnnotation", one.ref, "metadata.annotations[ttl]")
    ]


def test_the_targets_of_a_route_come_before_those_of_its_gateway() -> None:
    found = endpoints_of(
        HTTP_ROUTES,
        gateway(annotations={PREFIX + "target": "198.51.100.1"}),
        route("own", ["own.example.com"], annotations={PREFIX + "target": "203.0.113.9, lb.example.net."}),
        route("plain", ["plain.example.com"]),
    )
    assert answers(found) == {
        ("own.example.com", "A"): ("203.0.113.9",),
        ("plain.example.com", "A"): ("198.51.100.1",),
    }


def test_targets_of_its_own_need_no_address_of_the_gateway() -> None:
    found = endpoints_of(HTTP_ROUTES, gateway(addresses=()), route(annotations={PREFIX + "target": "203.0.113.9"}))
    assert answers(found) == {("app.example.com", "A"): ("203.0.113.9",)}


def test_an_annotation_that_means_nothing_on_a_gateway_is_told_there() -> None:
    engine = engine_of(HTTP_ROUTES, edge := gateway(annotations={PREFIX + "hostname": "x.example.com"}), route())
    remarks = value_at(engine, PARENTS, edge.ref).remarks
    assert [(why.reason, why.field) for why in remarks] == [("MisplacedAnnotation", "metadata.annotations[hostname]")]


def test_a_target_that_is_no_name_publishes_nothing_and_takes_nothing_away() -> None:
    engine = engine_of(HTTP_ROUTES, gateway(), route(annotations={PREFIX + "target": "not/a/name"}))
    settled = value_at(engine, RECORD_SETS, ("app.example.com", ""))
    assert settled.records == ()
    assert settled.hold is not None
    assert [problem.reason for problem in settled.problems] == ["InvalidRecord"]


def test_a_target_in_another_script_is_published_as_punycode() -> None:
    found = endpoints_of(HTTP_ROUTES, gateway(), route(annotations={PREFIX + "target": "bücher.example."}))
    assert answers(found) == {("app.example.com", "CNAME"): ("xn--bcher-kva.example",)}


def test_one_address_in_two_spellings_is_one_target() -> None:
    found = endpoints_of(HTTP_ROUTES, gateway(addresses=["2001:db8::1", "2001:DB8:0::1"]), route())
    assert answers(found) == {("app.example.com", "AAAA"): ("2001:DB8:0::1",)}
