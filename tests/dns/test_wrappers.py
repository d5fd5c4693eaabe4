"""What the settings make of records on their way out."""

from __future__ import annotations

import pytest
from dns_objects import answers, dns_endpoint, endpoints_of, engine_of, gateway, listener, parent, route, value_at

from gatepost.dns.claims import RECORD_SETS
from gatepost.dns.desired import desired_endpoints
from gatepost.dns.domain_filter import domain_filter
from gatepost.dns.rules import BadSettings, rules
from gatepost.dns.settings import DnsSettings

PREFIX = "external-dns.kubernetes.io/"
ROUTES = ("gateway-httproute",)
WITH_PTR = ("A", "AAAA", "CNAME", "PTR")
NAME = "app.example.com"


def test_the_targets_of_a_nat64_network_join_the_a_record() -> None:
    chosen = DnsSettings(sources=ROUTES, nat64_networks=("2001:db8:64::/96",))
    edge = gateway(addresses=["192.0.2.1", "2001:db8:64::c633:6450", "2001:db8::1"])
    assert answers(endpoints_of(chosen, edge, route())) == {
        (NAME, "A"): ("192.0.2.1", "198.51.100.80"),  # 0xc6336450
        (NAME, "AAAA"): ("2001:db8:64::c633:6450", "2001:db8::1"),
    }


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        ((), (), {"192.0.2.1", "192.0.2.200", "2001:db8::1"}),
        (("192.0.2.0/24",), (), {"192.0.2.1", "192.0.2.200"}),
        (("192.0.2.0/24",), ("192.0.2.128/25",), {"192.0.2.1"}),
        ((), ("2001:db8::/32",), {"192.0.2.1", "192.0.2.200"}),
    ],
)
def test_targets_are_kept_by_network(include: tuple[str, ...], exclude: tuple[str, ...], expected: set[str]) -> None:
    chosen = DnsSettings(sources=ROUTES, target_net_filter=include, exclude_target_net=exclude)
    found = endpoints_of(chosen, gateway(addresses=["192.0.2.1", "192.0.2.200", "2001:db8::1"]), route())
    assert {target for endpoint in found for target in endpoint.targets} == expected


def test_a_name_is_in_no_network() -> None:
    named = gateway(addresses=["lb.example.net"])
    include = DnsSettings(sources=ROUTES, target_net_filter=("0.0.0.0/0",))
    exclude = DnsSettings(sources=ROUTES, exclude_target_net=("0.0.0.0/0",))
    assert endpoints_of(include, named, route()) == ()
    assert len(endpoints_of(exclude, named, route())) == 1


def test_all_names_of_an_address_share_a_ptr_record_with_their_lowest_ttl() -> None:
    chosen = DnsSettings(sources=ROUTES, managed_record_types=WITH_PTR, create_ptr=True)
    edge = gateway(addresses=["192.0.2.7", "2001:db8::7"])
    first = route("first", ["b.example.com"], annotations={PREFIX + "ttl": "300"})
    second = route("second", ["a.example.com", "*.example.com"], annotations={PREFIX + "ttl": "60"})
    reverse = "7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"
    found = {e.dns_name: e for e in endpoints_of(chosen, edge, first, second) if e.record_type == "PTR"}
    assert {name: (e.targets, e.record_ttl) for name, e in found.items()} == {
        "7.2.0.192.in-addr.arpa": (("a.example.com", "b.example.com"), 60),
        reverse: (("a.example.com", "b.example.com"), 60),
    }


def test_a_ptr_record_follows_its_names() -> None:
    chosen = DnsSettings(sources=ROUTES, managed_record_types=WITH_PTR, create_ptr=True)
    engine = engine_of(chosen, gateway(), route("a", ["a.example.com"]), route("b", ["b.example.com"]))
    ptr = ("1.2.0.192.in-addr.arpa", "PTR")
    assert answers(desired_endpoints(engine))[ptr] == ("a.example.com", "b.example.com")
    engine.remove(route("a").ref)
    engine.run_stale()
    assert answers(desired_endpoints(engine))[ptr] == ("b.example.com",)
    engine.remove(route("b").ref)
    engine.run_stale()
    assert desired_endpoints(engine) == ()


def test_a_ptr_record_that_is_written_down_comes_before_one_that_is_made() -> None:
    chosen = DnsSettings(sources=(*ROUTES, "crd"), managed_record_types=WITH_PTR, create_ptr=True)
    written = dns_endpoint(
        "p", {"dnsName": "1.2.0.192.in-addr.arpa", "recordType": "PTR", "targets": ["host.example.com"]}
    )
    found = answers(endpoints_of(chosen, gateway(), route(), written))
    assert found["1.2.0.192.in-addr.arpa", "PTR"] == ("host.example.com",)


def test_one_route_can_ask_for_a_ptr_record_or_decline_it() -> None:
    asks = route("asks", ["asks.example.com"], annotations={PREFIX + "record-type": "PTR"})
    declines = route("declines", ["declines.example.com"], annotations={PREFIX + "record-type": "A"})
    for by_default, expected in ((False, ("asks.example.com",)), (True, ("asks.example.com", NAME))):
        chosen = DnsSettings(sources=ROUTES, managed_record_types=WITH_PTR, create_ptr=by_default)
        found = endpoints_of(chosen, gateway(), asks, declines, route())
        assert sorted(answers(found)["1.2.0.192.in-addr.arpa", "PTR"]) == sorted(expected)
        assert all(endpoint.provider_specific == () for endpoint in found)


def test_a_missing_ttl_is_filled_in_and_a_lower_one_is_not_raised() -> None:
    chosen = DnsSettings(sources=ROUTES, min_ttl=120)
    low = route("low", ["low.example.com"], annotations={PREFIX + "ttl": "30"})
    found = endpoints_of(chosen, gateway(), low, route())
    assert {endpoint.dns_name: endpoint.record_ttl for endpoint in found} == {NAME: 120, "low.example.com": 30}


def test_properties_of_other_providers_are_left_out_of_every_name() -> None:
    chosen = DnsSettings(sources=ROUTES, provider="aws")
    two = route(
        hostnames=["a.example.com", "b.example.com"],
        annotations={PREFIX + "scw-ratio": "1", PREFIX + "aws-weight": "5", PREFIX + "aws-region": "eu"},
    )
    for endpoint in endpoints_of(chosen, gateway(), two):
        assert [(item.name, item.value) for item in endpoint.provider_specific] == [
            ("aws/region", "eu"),
            ("aws/weight", "5"),
        ]


def test_default_targets_fill_records_without_targets() -> None:
    chosen = DnsSettings(sources=("crd",), default_targets=("203.0.113.1", "2001:db8::2"))
    empty = dns_endpoint("e", {"dnsName": "empty.example.com", "recordType": "CNAME", "recordTTL": 60})
    found = endpoints_of(chosen, empty)
    assert [(e.record_type, e.targets, e.record_ttl) for e in found] == [
        ("A", ("203.0.113.1",), 60),
        ("AAAA", ("2001:db8::2",), 60),
    ]


def test_forced_default_targets_replace_all_and_end_every_conflict() -> None:
    chosen = DnsSettings(
        sources=ROUTES, default_targets=("203.0.113.1",), force_default_targets=True, conflict="refuse"
    )
    west = gateway("west", ["198.51.100.2"])
    found = endpoints_of(chosen, gateway(), west, route("a"), route("b", parents=[parent("west")]))
    assert answers(found) == {(NAME, "A"): ("203.0.113.1",)}


def test_a_name_out_of_reach_is_noted_and_not_published() -> None:
    engine = engine_of(DnsSettings(sources=ROUTES, domain_filter=("example.org",)), gateway(), route())
    settled = value_at(engine, RECORD_SETS, (NAME, ""))
    assert settled.records == ()
    assert [note.reason for note in settled.notes] == ["OutOfReach"]


@pytest.mark.parametrize(
    ("include", "exclude", "name", "passes"),
    [
        (("example.com",), (), "example.com", True),
        (("example.com",), (), "a.b.example.com", True),
        (("example.com",), (), "badexample.com", False),
        ((".example.com",), (), "example.com", False),
        ((".example.com",), (), "a.example.com", True),
        ((" Example.COM. ",), (), "a.example.com", True),
        (("bücher.example",), (), "a.xn--bcher-kva.example", True),
        ((), ("b.example.com",), "x.b.example.com", False),
        (("example.com",), ("b.example.com",), "c.example.com", True),
        ((), (), "anything.test", True),
        (("",), (), "anything.test", True),
    ],
)
def test_a_domain_filter_goes_by_whole_labels(
    include: tuple[str, ...], exclude: tuple[str, ...], name: str, passes: bool
) -> None:
    assert domain_filter(include, exclude).matches(name) is passes


@pytest.mark.parametrize(
    ("include", "exclude", "name", "passes"),
    [
        (r"\.org$", "", "a.example.org", True),
        (r"\.org$", "", "a.example.com", False),
        ("", r"^dev\.", "dev.example.com", False),
        ("", r"^dev\.", "a.example.com", True),
        (r"example", r"^dev\.", "dev.example.com", False),
    ],
)
def test_a_regular_expression_takes_the_place_of_the_lists(include: str, exclude: str, name: str, passes: bool) -> None:
    assert domain_filter(("other.test",), (), include, exclude).matches(name) is passes


def test_listener_hostnames_are_names_of_their_own() -> None:
    edge = gateway(listeners=[listener("a", "a.example.com"), listener("b", "*.b.example.com"), listener("plain")])
    found = endpoints_of(DnsSettings(sources=("gateway-listener",)), edge)
    assert [(e.dns_name, e.targets, e.labels["resource"]) for e in found] == [
        ("*.b.example.com", ("192.0.2.1",), "gateway/infra/edge"),
        ("a.example.com", ("192.0.2.1",), "gateway/infra/edge"),
    ]


# Settings that do not go together


@pytest.mark.parametrize(
    ("settings", "flag"),
    [
        (DnsSettings(), "--source"),
        (DnsSettings(sources=("ingress",)), "--source"),
        (DnsSettings(sources=ROUTES, conflict="newest"), "--conflict"),
        (DnsSettings(sources=ROUTES, listener_hostname_fallback="some"), "--listener-hostname-fallback"),
        (DnsSettings(sources=ROUTES, policy="all"), "--policy"),
        (DnsSettings(sources=ROUTES, annotation_prefix="dns.example.com"), "--annotation-prefix"),
        (DnsSettings(sources=ROUTES, label_filter="a in"), "--label-filter"),
        (DnsSettings(sources=ROUTES, annotation_filter="a=b,"), "--annotation-filter"),
        (DnsSettings(sources=ROUTES, gateway_label_filter="=x"), "--gateway-label-filter"),
        (DnsSettings(sources=ROUTES, nat64_networks=("2001:db8::/64",)), "--nat64-networks"),
        (DnsSettings(sources=ROUTES, nat64_networks=("192.0.2.0/24",)), "--nat64-networks"),
        (DnsSettings(sources=ROUTES, regex_domain_filter="("), "--regex-domain-filter"),
        (DnsSettings(sources=ROUTES, managed_record_types=("A", "SOA")), "--managed-record-types"),
        (DnsSettings(sources=ROUTES, create_ptr=True), "--create-ptr"),
        (DnsSettings(sources=ROUTES, ignore_hostname_annotation=True), "--ignore-hostname-annotation"),
        (DnsSettings(sources=ROUTES, txt_prefix="a", txt_suffix="b"), "--txt-prefix"),
        (DnsSettings(sources=ROUTES, txt_owner_id=""), "--txt-owner-id"),
    ],
)
def test_settings_that_cannot_work_are_refused_by_flag(settings: DnsSettings, flag: str) -> None:
    with pytest.raises(BadSettings) as refused:
        rules(settings)
    assert str(refused.value).startswith(flag)
    assert "\n" not in str(refused.value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(BadSettings) as refused:
        rules(DnsSettings(sources=("ingress",), conflict="newest"))
    assert [line.split(":")[0] for line in str(refused.value).splitlines()] == ["--source", "--conflict"]


def test_a_claim_outside_the_networks_does_not_compete_for_a_name() -> None:
    chosen = DnsSettings(sources=ROUTES, exclude_target_net=("10.0.0.0/8",), conflict="oldest")
    inside = gateway("inside", ["10.0.0.1"])
    older = route("older", parents=[parent("inside")], created="2025-01-01T00:00:00Z")
    assert answers(endpoints_of(chosen, gateway(), inside, older, route("younger"))) == {(NAME, "A"): ("192.0.2.1",)}


def test_targets_of_a_route_that_are_left_out_do_not_give_way_to_those_of_its_gateway() -> None:
    chosen = DnsSettings(sources=ROUTES, exclude_target_net=("10.0.0.0/8",))
    assert endpoints_of(chosen, gateway(), route(annotations={PREFIX + "target": "10.0.0.9"})) == ()


def test_forced_default_targets_replace_targets_outside_the_networks_too() -> None:
    chosen = DnsSettings(
        sources=ROUTES,
        exclude_target_net=("10.0.0.0/8",),
        default_targets=("203.0.113.1",),
        force_default_targets=True,
    )
    found = endpoints_of(chosen, gateway(addresses=["10.0.0.1"]), route())
    assert answers(found) == {(NAME, "A"): ("203.0.113.1",)}


@pytest.mark.parametrize("text", ["net", "192.0.2.1", "192.0.2.0/255.255.255.0", "192.0.2.0/33", ""])
def test_a_text_that_is_no_network_does_not_count_and_is_told(text: str) -> None:
    chosen = DnsSettings(sources=ROUTES, target_net_filter=(text,))
    assert [remark.partition(":")[0] for remark in chosen.remarks()] == ["--target-net-filter"]
    assert answers(endpoints_of(chosen, gateway(), route())) == {(NAME, "A"): ("192.0.2.1",)}


def test_a_ptr_record_stands_beside_other_records_of_its_name() -> None:
    chosen = DnsSettings(sources=(*ROUTES, "crd"), managed_record_types=(*WITH_PTR, "TXT"), create_ptr=True)
    written = dns_endpoint("t", {"dnsName": "1.2.0.192.in-addr.arpa", "recordType": "TXT", "targets": ["a note"]})
    found = endpoints_of(chosen, gateway(), route(), written)
    assert {(e.record_type, e.targets, e.labels["resource"]) for e in found if e.dns_name.endswith(".arpa")} == {
        ("TXT", ("a note",), "crd/shop/t"),
        ("PTR", (NAME,), "httproute/shop/cart"),
    }
