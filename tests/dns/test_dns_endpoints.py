"""DNSEndpoints: records as they are written, one bad entry at a time left out."""

from __future__ import annotations

import pytest
from dns_objects import START, answers, dns_endpoint, endpoints_of, engine_of, value_at
from msgspec.structs import replace

from gatepost.dns.claims import CLAIMS
from gatepost.dns.rules import rules
from gatepost.dns.settings import DnsSettings
from gatepost.dns.sources.endpoint_status import ENDPOINT_STATUS
from gatepost.objects.meta import KubernetesObject
from gatepost.state.engine import Engine

ALL_TYPES = DnsSettings(
    sources=("crd",), managed_record_types=("A", "AAAA", "CNAME", "TXT", "MX", "SRV", "NS", "PTR", "NAPTR", "DNAME")
)


def entry(type_: str, *targets: str, name: str = "app.example.com", **fields: object) -> dict[str, object]:
    return {"dnsName": name, "recordType": type_, "targets": list(targets), **fields}


@pytest.mark.parametrize(
    ("type_", "target", "is_fine"),
    [
        ("A", "192.0.2.1", True),
        ("A", "192.0.2.1.", False),
        ("A", "2001:db8::1", False),
        ("A", "lb.example.net", False),
        ("AAAA", "2001:db8::1", True),
        ("AAAA", "::ffff:192.0.2.1", True),
        ("AAAA", "192.0.2.1", False),
        ("CNAME", "lb.example.net", True),
        ("CNAME", "lb.example.net.", True),
        ("CNAME", "192.0.2.1", False),
        ("MX", "10 mx.example.net", True),
        ("MX", "65536 mx.example.net", False),
        ("MX", "mx.example.net", False),
        ("SRV", "10 5 5060 sip.example.net.", True),
        ("SRV", "10 5 5060 sip.example.net", False),
        ("SRV", "10 5 sip.example.net.", False),
        ("SRV", "10 5 x sip.example.net.", False),
        ("NS", "ns.example.net", True),
        ("NS", "ns.example.net.", False),
        ("NAPTR", '100 50 "s" "SIP+D2U" "" _sip._udp.example.net.', True),
        ("NAPTR", '100 50 "s" "SIP+D2U" "" _sip._udp.example.net', False),
        ("TXT", "v=spf1 -all", True),
        ("PTR", "app.example.com", False),  # does not stand below a reverse zone
    ],
)
def test_each_type_has_targets_of_its_own_form(type_: str, target: str, is_fine: bool) -> None:
    good = entry("A", "192.0.2.9", name="good.example.com")
    obj = dns_endpoint("static", entry(type_, target), good)
    claims = value_at(engine_of(ALL_TYPES, obj), CLAIMS, obj.ref)
    assert [claim.name for claim in claims.claims] == (["app.example.com"] if is_fine else []) + ["good.example.com"]
    assert len(claims.skipped) == (0 if is_fine else 1)


def test_a_reverse_record_stands_below_a_reverse_zone() -> None:
    written = dns_endpoint("static", entry("PTR", "app.example.com", name="1.2.0.192.in-addr.arpa"))
    assert answers(endpoints_of(ALL_TYPES, written)) == {("1.2.0.192.in-addr.arpa", "PTR"): ("app.example.com",)}


def test_entries_of_one_name_and_type_are_joined() -> None:
    obj = dns_endpoint("static", entry("A", "192.0.2.2", recordTTL=60), entry("A", "192.0.2.1"))
    (endpoint,) = endpoints_of(ALL_TYPES, obj)
    assert (endpoint.targets, endpoint.record_ttl) == (("192.0.2.1", "192.0.2.2"), 60)


def test_a_cname_gives_way_to_other_records_of_its_name() -> None:
    obj = dns_endpoint("static", entry("CNAME", "lb.example.net"), entry("A", "192.0.2.1"))
    engine = engine_of(ALL_TYPES, obj)
    assert [why.reason for why in value_at(engine, CLAIMS, obj.ref).skipped] == ["OneName"]
    assert answers(endpoints_of(ALL_TYPES, obj)) == {("app.example.com", "A"): ("192.0.2.1",)}


def test_an_alias_may_have_a_name_for_its_target() -> None:
    alias = entry("A", "lb.example.net", providerSpecific=[{"name": "alias", "value": "true"}])
    assert answers(endpoints_of(ALL_TYPES, dns_endpoint("static", alias))) == {
        ("app.example.com", "A"): ("lb.example.net",)
    }


def test_an_older_but_broken_record_does_not_take_the_name_from_a_good_one() -> None:
    broken = dns_endpoint("broken", entry("A", "nonsense"), created="2020-01-01T00:00:00Z")
    good = dns_endpoint("good", entry("A", "192.0.2.1"), created="2026-01-01T00:00:00Z")
    assert answers(endpoints_of(ALL_TYPES, broken, good)) == {("app.example.com", "A"): ("192.0.2.1",)}


def test_a_record_without_targets_is_left_out_where_there_are_no_defaults() -> None:
    assert endpoints_of(ALL_TYPES, dns_endpoint("static", entry("A"))) == ()


@pytest.mark.parametrize(("generation", "status"), [(3, {"observedGeneration": 3}), (0, {})])
def test_the_status_tells_which_generation_was_read(generation: int, status: dict[str, int]) -> None:
    def of_generation(obj: KubernetesObject) -> KubernetesObject:
        return replace(obj, metadata=replace(obj.metadata, generation=generation))

    obj = of_generation(dns_endpoint("static", entry("A", "192.0.2.1")))
    engine = Engine(*rules(ALL_TYPES, writes_status=True), START)
    engine.put(obj)
    engine.run_stale()
    outcome = value_at(engine, ENDPOINT_STATUS, obj.ref)
    assert (outcome.status, outcome.applies, outcome.events) == (status, [], [])


def test_the_status_of_an_object_that_is_filtered_out_is_left_alone() -> None:
    settings = replace(ALL_TYPES, namespace="other")
    obj = dns_endpoint("static", entry("A", "192.0.2.1"))
    engine = Engine(*rules(settings, writes_status=True), START)
    engine.put(obj)
    engine.run_stale()
    assert value_at(engine, ENDPOINT_STATUS, obj.ref).about is None
