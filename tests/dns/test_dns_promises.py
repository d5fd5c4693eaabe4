"""The promises of the sources, over random objects and random edits.

Edits one by one give what a fresh start gives, and no text in an object makes a rule fail.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from dns_objects import START, dns_endpoint, gateway, listener, parent, route, unhurried
from hypothesis import given
from hypothesis import strategies as st

from gatepost.dns.claims import CLAIMS
from gatepost.dns.desired import desired_endpoints, record_sets
from gatepost.dns.rules import rules
from gatepost.dns.settings import DnsSettings
from gatepost.objects.kinds import typed
from gatepost.objects.meta import KubernetesObject
from gatepost.state.engine import Engine

EVERYTHING = DnsSettings(
    sources=("gateway-httproute", "gateway-tlsroute", "gateway-listener", "crd"),
    gateway_listener_sets=True,
    managed_record_types=("A", "AAAA", "CNAME", "PTR"),
    create_ptr=True,
)
PREFIX = "external-dns.kubernetes.io/"
HOSTNAMES = ("a.example.com", "b.example.com", "*.example.com", "x.y.example.com", "example.com")
FROM = (
    {"from": "All"},
    {"from": "Same"},
    {"from": "None"},
    {"from": "Selector", "selector": {"matchLabels": {"team": "a"}}},
    {"from": "Selector"},
)


def listener_set(hostname: str, accepted: str) -> KubernetesObject:
    conditions = [{"type": "Accepted", "status": accepted}]
    return typed(
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "ListenerSet",
            "metadata": {"name": "branch", "namespace": "shop"},
            "spec": {"parentRef": {"name": "edge", "namespace": "infra"}, "listeners": [listener("web", hostname)]},
            "status": {"conditions": conditions, "listeners": [{"name": "web", "conditions": conditions}]},
        }
    )


def allowing(obj: KubernetesObject, namespaces: dict[str, Any]) -> KubernetesObject:
    """The Gateway with a say on ListenerSets."""
    raw = msgspec.to_builtins(obj)
    raw["spec"]["allowedListeners"] = {"namespaces": namespaces}
    return typed({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", **raw})


def namespace(team: str) -> KubernetesObject:
    return typed({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": team}}})


hostname_lists = st.lists(st.sampled_from(HOSTNAMES), max_size=2, unique=True)
annotation_maps = st.dictionaries(
    st.sampled_from([PREFIX + name for name in ("ttl", "target", "hostname", "aws-weight", "set-identifier", "alias")]),
    st.sampled_from(["60", "lb.example.net", "192.0.2.77", "c.example.com,a.example.com", "true", ""]),
    max_size=2,
)
listeners = st.builds(
    lambda name, hostname, namespaces, protocol: listener(
        name, hostname, allowedRoutes={"namespaces": namespaces}, protocol=protocol
    ),
    st.sampled_from(["web", "tls"]),
    st.sampled_from(("", *HOSTNAMES)),
    st.sampled_from(FROM),
    st.sampled_from(["HTTP", "HTTPS", "TLS"]),
)
gateways = st.builds(
    lambda name, addresses, found, notes, sets: allowing(gateway(name, addresses, found, notes), sets),
    st.sampled_from(["edge", "other"]),
    st.lists(st.sampled_from(["192.0.2.1", "2001:db8::1", "lb.example.net", "a b"]), max_size=2, unique=True),
    st.lists(listeners, max_size=3),
    annotation_maps,
    st.sampled_from(FROM),
)
parents = st.sampled_from(
    [
        parent("edge"),
        parent("edge", "web"),
        parent("other"),
        parent("missing"),
        {"kind": "ListenerSet", "name": "branch", "namespace": "shop"},
        {"kind": "Service", "group": "", "name": "edge"},
    ]
)
routes = st.builds(
    lambda name, found, asked, year, notes, answered, kind, generation: route(
        name,
        found,
        asked,
        created=f"{year}-01-01T00:00:00Z",
        annotations=notes,
        answers=answered,
        kind=kind,
        generation=generation,
    ),
    st.sampled_from(["cart", "shop", "site"]),
    hostname_lists,
    st.lists(parents, max_size=2, unique_by=str),
    st.integers(2024, 2026),
    annotation_maps,
    st.none() | st.lists(st.tuples(parents, st.sampled_from(["True", "False", "Unknown"])), max_size=2),
    st.sampled_from(["HTTPRoute", "TLSRoute"]),
    st.integers(1, 2),
)
written = st.builds(
    lambda name, targets, ttl: dns_endpoint(
        "static", {"dnsName": name, "recordType": "A", "targets": targets, "recordTTL": ttl}
    ),
    st.sampled_from(HOSTNAMES),
    st.lists(st.sampled_from(["192.0.2.1", "198.51.100.9", "x"]), max_size=2),
    st.sampled_from([0, 60]),
)
objects = st.one_of(
    gateways,
    routes,
    routes,
    written,
    st.builds(listener_set, st.sampled_from(("", *HOSTNAMES)), st.sampled_from(["True", "False"])),
    st.sampled_from(["a", "b"]).map(namespace),
)
edits = st.lists(st.tuples(objects, st.sampled_from(["put", "put", "put", "remove"])), max_size=12)


def state_of(engine: Engine) -> tuple[Any, ...]:
    claims = {ref: value for ref, value in engine.values(engine.rule(CLAIMS)) if value is not None}
    return (tuple(record_sets(engine)), claims, desired_endpoints(engine))


@pytest.mark.parametrize("conflict", ["oldest", "refuse", "merge"])
@unhurried
@given(edits=edits)
def test_edits_one_by_one_give_what_a_fresh_start_gives(
    conflict: str, edits: list[tuple[KubernetesObject, str]]
) -> None:
    settings = msgspec.structs.replace(EVERYTHING, conflict=conflict)
    engine = Engine(*rules(settings), START)
    there: dict[Any, KubernetesObject] = {}
    for obj, action in edits:
        if action == "put":
            there[obj.ref] = obj
            engine.put(obj)
        else:
            there.pop(obj.ref, None)
            engine.remove(obj.ref)
        engine.run_stale()
    fresh = Engine(*rules(settings), START)
    for ref in sorted(there):
        fresh.put(there[ref])
    fresh.run_stale()
    assert engine.failures == fresh.failures == {}
    assert state_of(engine) == state_of(fresh)


@unhurried
@given(edits=edits)
def test_what_is_published_can_be_published(edits: list[tuple[KubernetesObject, str]]) -> None:
    """Whatever the objects say: one record of a type under a name, a CNAME alone, every record with targets."""
    engine = Engine(*rules(EVERYTHING), START)
    for obj, _ in edits:
        engine.put(obj)
    engine.run_stale()
    types: dict[tuple[str, str], list[str]] = {}
    for endpoint in desired_endpoints(engine):
        assert endpoint.targets
        assert list(endpoint.targets) == sorted(set(endpoint.targets))
        types.setdefault((endpoint.dns_name, endpoint.set_identifier), []).append(endpoint.record_type)
    for found in types.values():
        assert len(found) == len(set(found))
        assert "CNAME" not in found or len(found) == 1


texts = st.text(max_size=30)


@unhurried
@given(texts, texts, texts, st.dictionaries(texts | st.sampled_from([PREFIX + "ttl", PREFIX + "target"]), texts))
def test_no_text_in_an_object_makes_a_rule_fail(
    hostname: str, address: str, target: str, notes: dict[str, str]
) -> None:
    engine = Engine(*rules(EVERYTHING), START)
    engine.put(gateway(addresses=[address], listeners=[listener("web", hostname), listener("any")], annotations=notes))
    engine.put(route(hostnames=[hostname, target], annotations={**notes, PREFIX + "hostname": target}))
    engine.put(dns_endpoint("d", {"dnsName": hostname, "recordType": target, "targets": [address, target]}))
    engine.run_stale()
    assert engine.failures == {}


@pytest.mark.parametrize("text", ["a" * 60 + "!", "a." * 40_000, "9" * 10_000, "9" * 10_000 + "s", "ü" * 20_000])
@pytest.mark.timeout(5)
def test_no_text_in_an_object_takes_long(text: str) -> None:
    engine = Engine(*rules(EVERYTHING), START)
    notes = {PREFIX + name: text for name in ("target", "ttl", "hostname", "alias")}
    engine.put(gateway(addresses=[text], listeners=[listener("web", text), listener("any")], annotations=notes))
    engine.put(route(hostnames=[text], annotations=notes))
    for type_ in ("A", "CNAME", "MX", "SRV", "PTR"):
        engine.put(dns_endpoint("d", {"dnsName": text, "recordType": type_, "targets": [text, f"{text} {text}"]}))
        engine.run_stale()
    assert engine.failures == {}
