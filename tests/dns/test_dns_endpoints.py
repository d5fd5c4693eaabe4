"""DNSEndpoints: records as they are written, one bad entry at a time left out."""

from __future__ import annotations

from typing import Any

import pytest
from dns_objects import START, answers, dns_endpoint, endpoints_of, engine_of, value_at
from msgspec.structs import replace

from gatepost.dns.claims import CLAIMS
from gatepost.dns.rules import rules
from gatepost.dns.settings import DnsSettings
from gatepost.dns.sources.endpoint_status import ENDPOINT_STATUS
from gatepost.objects.dns_verdicts import DnsVerdict
from gatepost.objects.dnsendpoint import DNSEndpoint, DNSEndpointStatus
from gatepost.objects.meta import Condition, KubernetesObject, ObjectMeta
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
        ("TXT", '"heritage=external-dns,external-dns/owner=them"', False),  # nobody writes ownership by hand
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


@pytest.mark.parametrize(("written", "counts"), [(1, 1), (2**31 - 1, 2**31 - 1), (-5, 0), (2**31, 0)])
def test_a_ttl_that_dns_cannot_hold_does_not_count(written: int, counts: int) -> None:
    obj = dns_endpoint("static", entry("A", "192.0.2.1", recordTTL=written))
    (endpoint,) = endpoints_of(ALL_TYPES, obj)
    assert endpoint.record_ttl == counts
    skipped = value_at(engine_of(ALL_TYPES, obj), CLAIMS, obj.ref).skipped
    assert [(why.reason, why.field) for why in skipped] == (
        [] if counts else [("InvalidTTL", "spec.endpoints[0].recordTTL")]
    )


def test_labels_are_kept_but_those_that_are_ours() -> None:
    written = {"team": "shop", "owner": "them", "resource": "crd/a/b", "ownedRecord": "x.example.com"}
    (endpoint,) = endpoints_of(ALL_TYPES, dns_endpoint("static", entry("A", "192.0.2.1", labels=written)))
    assert endpoint.labels == {"team": "shop", "resource": "crd/shop/static"}


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("zz", "1,external-dns/owner=them"),
        ("zz", '1" "external-dns/owner=them'),
        ("zz", "1\n"),
        ("zz", "a\\b"),
        ("zz,external-dns/owner", "them"),
        ("zz=1", "x"),
    ],
)
def test_no_label_can_say_whose_a_record_is(label: str, value: str) -> None:
    obj = dns_endpoint("static", entry("A", "192.0.2.1", labels={label: value, "team": "shop"}))
    (endpoint,) = endpoints_of(ALL_TYPES, obj)
    assert endpoint.labels == {"team": "shop", "resource": "crd/shop/static"}
    skipped = value_at(engine_of(ALL_TYPES, obj), CLAIMS, obj.ref).skipped
    assert [(why.reason, why.field) for why in skipped] == [("InvalidLabel", f"spec.endpoints[0].labels[{label}]")]


def test_an_entry_without_a_type_is_told_as_such() -> None:
    obj = dns_endpoint("static", {"dnsName": "app.example.com", "targets": ["192.0.2.1"]})
    (why,) = value_at(engine_of(ALL_TYPES, obj), CLAIMS, obj.ref).skipped
    assert why.message == "app.example.com: no type is not among the managed record types"


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


def stored(obj: KubernetesObject, generation: int = 3, **status: Any) -> DNSEndpoint:
    """A DNSEndpoint as a cluster has it, with this status."""
    assert isinstance(obj, DNSEndpoint)
    metadata = replace(obj.metadata, generation=generation, uid=f"u-{obj.metadata.name}")
    return replace(obj, metadata=metadata, status=DNSEndpointStatus(**status))


def status_of(obj: DNSEndpoint, *others: KubernetesObject, settings: DnsSettings = ALL_TYPES) -> dict[str, Any]:
    engine = Engine(*rules(settings, writes_status=True), START)
    for each in (obj, *others):
        engine.put(each)
    engine.run_stale()
    outcome = value_at(engine, ENDPOINT_STATUS, obj.ref)
    assert outcome.applies == []
    status: dict[str, Any] = outcome.status
    return status


def conditions_of(obj: DNSEndpoint, *others: KubernetesObject, settings: DnsSettings = ALL_TYPES) -> dict[str, Any]:
    """(status, reason, message) of each condition by its type."""
    written = status_of(obj, *others, settings=settings)["conditions"]
    assert {condition["observedGeneration"] for condition in written} == {obj.metadata.generation}
    found = {c["type"]: (c["status"], c.get("reason", ""), c.get("message", "")) for c in written}
    status, reason, message = found["Ready"]
    assert message.endswith(SIGNATURE)
    return {**found, "Ready": (status, reason, message.removesuffix(SIGNATURE).rstrip())}


def verdict_on(obj: DNSEndpoint, missing: str = "", generation: int = 3) -> DnsVerdict:
    metadata = ObjectMeta(name=obj.metadata.name, namespace=obj.metadata.namespace, uid=obj.metadata.uid)
    return DnsVerdict(metadata=metadata, generation=generation, missing=missing)


SIGNATURE = "[owner: default]"
APP = stored(dns_endpoint("static", entry("A", "192.0.2.1")))
PENDING = ("Unknown", "Pending", "DNS has not been compared with it yet")


def test_the_status_tells_which_generation_was_read() -> None:
    assert status_of(APP)["observedGeneration"] == 3
    assert status_of(stored(APP, generation=0)) == {}


def test_conditions_are_written_with_a_new_generation_and_where_they_have_stayed() -> None:
    assert "conditions" in status_of(APP)
    # The definition that external-dns publishes has none, so a server has dropped them: they are not written again.
    assert status_of(stored(APP, observed_generation=3)) == {"observedGeneration": 3}
    kept = stored(APP, observed_generation=3, conditions=(Condition("Ready", "Unknown"),))
    assert "conditions" in status_of(kept)


def test_conditions_of_others_stay() -> None:
    theirs = Condition("Audited", "True", "Seen", last_transition_time="2026-01-01T00:00:00Z")
    written = status_of(stored(APP, observed_generation=3, conditions=(theirs,)))["conditions"]
    assert [condition["type"] for condition in written] == ["Audited", "Accepted", "Ready"]
    assert written[0] == {
        "type": "Audited",
        "status": "True",
        "reason": "Seen",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


def test_ready_waits_for_dns_and_then_says_what_is_there() -> None:
    accepted = ("True", "Accepted", "")
    assert conditions_of(APP) == {"Accepted": accepted, "Ready": PENDING}
    assert conditions_of(APP, verdict_on(APP)) == {"Accepted": accepted, "Ready": ("True", "Published", "")}
    assert conditions_of(APP, verdict_on(APP, "app.example.com"))["Ready"] == (
        "False",
        "NotPublished",
        "app.example.com is not in DNS as it is asked for here; events and the log of gatepost tell why",
    )


def test_what_was_seen_of_an_earlier_generation_or_object_says_nothing() -> None:
    assert conditions_of(APP, verdict_on(APP, generation=2))["Ready"] == PENDING
    before = replace(APP, metadata=replace(APP.metadata, uid="u-before"))
    assert conditions_of(APP, verdict_on(before))["Ready"] == PENDING


def test_what_an_earlier_process_has_seen_of_this_generation_stands_until_dns_is_compared() -> None:
    ready = Condition("Ready", "True", "Published", SIGNATURE, observed_generation=3)
    again = stored(APP, observed_generation=3, conditions=(ready,))
    assert conditions_of(again)["Ready"] == ("True", "Published", "")
    changed = stored(APP, generation=4, observed_generation=3, conditions=(ready,))
    assert conditions_of(changed)["Ready"] == PENDING


def test_conditions_that_another_instance_has_written_for_this_generation_are_left_alone() -> None:
    theirs = Condition("Ready", "False", "NotPublished", "[owner: other]", observed_generation=3)
    seen = stored(APP, observed_generation=3, conditions=(theirs,))
    assert status_of(seen, verdict_on(APP)) == {"observedGeneration": 3}
    changed = stored(APP, generation=4, observed_generation=3, conditions=(theirs,))
    assert conditions_of(changed, verdict_on(APP, generation=4))["Ready"] == ("True", "Published", "")


def test_an_entry_that_is_left_out_is_not_ready() -> None:
    obj = stored(dns_endpoint("static", entry("A", "192.0.2.1"), entry("FOO", "x", name="odd.example.com")))
    assert conditions_of(obj, verdict_on(obj)) == {
        "Accepted": ("True", "Accepted", ""),
        "Ready": ("False", "NotPublished", "odd.example.com: FOO is not among the managed record types"),
    }


def test_accepted_lists_the_entries_that_can_be_no_records() -> None:
    obj = stored(dns_endpoint("static", entry("A", "192.0.2.1"), entry("NS", "ns.example.net."), entry("A", name="")))
    assert conditions_of(obj)["Accepted"] == (
        "False",
        "InvalidTarget",
        "spec.endpoints[1].targets: 'ns.example.net.' must not end with a dot; "
        "spec.endpoints[2].dnsName: found no name, wanted one",
    )


def test_what_is_wrong_with_entries_is_told_in_events_too() -> None:
    obj = stored(dns_endpoint("static", entry("A", "192.0.2.1", recordTTL=-1), entry("A", "x", name="odd.example.com")))
    engine = Engine(*rules(ALL_TYPES, writes_status=True), START)
    engine.put(obj)
    engine.run_stale()
    events = value_at(engine, ENDPOINT_STATUS, obj.ref).events
    assert [(event.type, event.reason, event.message) for event in events] == [
        ("Warning", "InvalidTTL", "spec.endpoints[0].recordTTL: found -1, wanted 1 to 2147483647; it does not count"),
        ("Warning", "InvalidRecord", "spec.endpoints: odd.example.com A: target 'x' is no IPv4 address"),
    ]
    good = stored(dns_endpoint("good", entry("A", "192.0.2.1")))
    engine.put(good)
    engine.run_stale()
    assert value_at(engine, ENDPOINT_STATUS, good.ref).events == []


def test_ready_names_the_object_that_has_the_name() -> None:
    older = dns_endpoint("older", entry("A", "192.0.2.9"), created="2020-01-01T00:00:00Z")
    assert conditions_of(APP, older)["Ready"] == (
        "False",
        "DNSConflict",
        "app.example.com belongs to DNSEndpoint shop/older, whose claim comes first",
    )


def test_ready_says_what_the_settings_keep_out() -> None:
    outside = replace(ALL_TYPES, domain_filter=("example.org",))
    status, reason, message = conditions_of(APP, settings=outside)["Ready"]
    assert (status, reason) == ("False", "NotPublished")
    assert "does not pass the domain filters" in message
    empty = stored(dns_endpoint("static"))
    assert conditions_of(empty)["Ready"] == ("False", "NoRecords", "spec.endpoints: found no entry")


def test_the_status_of_an_object_that_is_filtered_out_is_left_alone() -> None:
    settings = replace(ALL_TYPES, namespace="other")
    obj = dns_endpoint("static", entry("A", "192.0.2.1"))
    engine = Engine(*rules(settings, writes_status=True), START)
    engine.put(obj)
    engine.run_stale()
    assert value_at(engine, ENDPOINT_STATUS, obj.ref).about is None
