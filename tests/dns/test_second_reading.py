"""What the rules publish, against a second and simpler reading of the specification (`second_reading`)."""

from __future__ import annotations

from dns_objects import endpoints_of, gateway, listener, route
from hypothesis import given, settings
from hypothesis import strategies as st
from second_reading import PROTOCOLS, AGateway, AListener, AParent, ARoute, records

from gatepost.dns.settings import DnsSettings
from gatepost.objects.meta import KubernetesObject

PREFIX = "external-dns.kubernetes.io/"
SOURCES = ("gateway-httproute", "gateway-grpcroute", "gateway-tlsroute", "gateway-tcproute")
HOSTNAMES = ("example.com", "a.example.com", "*.example.com", "*.a.example.com")
TARGETS = ("192.0.2.1", "192.0.2.2", "2001:db8::1", "lb.example.net", "m.example.net", "z.example.net")
NAMESPACES = ("infra", "shop")

listeners = st.builds(
    AListener,
    name=st.sampled_from(["web", "tls"]),
    hostname=st.sampled_from(("", "", "", *HOSTNAMES)),
    protocol=st.sampled_from(["HTTP", "HTTP", "HTTPS", "TLS", "TCP"]),
    port=st.sampled_from([80, 443]),
    takes=st.sampled_from(["All", "All", "All", "Same", "None"]),
)
gateways = st.builds(
    AGateway,
    name=st.sampled_from(["edge", "core"]),
    namespace=st.just("infra"),
    addresses=st.lists(st.sampled_from(TARGETS), max_size=3, unique=True).map(tuple),
    listeners=st.lists(listeners, min_size=1, max_size=3).map(tuple),
    target=st.sampled_from(["", "", "", *TARGETS]),
    ttl=st.sampled_from([0, 0, 30]),
)
parents = st.builds(
    AParent,
    gateway=st.sampled_from(["edge", "edge", "core"]),
    namespace=st.sampled_from(["infra", "infra", "infra", "shop"]),
    section=st.sampled_from(["", "", "", "web", "tls"]),
    port=st.sampled_from([0, 0, 0, 80]),
    is_accepted=st.sampled_from([True, True, True, True, False]),
)
routes = st.builds(
    ARoute,
    kind=st.sampled_from(["HTTPRoute", "HTTPRoute", "HTTPRoute", *PROTOCOLS]),
    name=st.sampled_from(["cart", "site", "news"]),
    namespace=st.sampled_from(NAMESPACES),
    created=st.integers(2024, 2026),
    hostnames=st.lists(st.sampled_from(HOSTNAMES), max_size=2, unique=True).map(tuple),
    annotated=st.lists(st.sampled_from(HOSTNAMES), max_size=1).map(tuple),
    source=st.sampled_from(["", "", "", "annotation-only", "defined-hosts-only"]),
    # An entry of another section of the same Gateway is a matter of its own (cases `status-section-*`).
    parents=st.lists(parents, min_size=1, max_size=2, unique_by=lambda one: (one.gateway, one.namespace)).map(tuple),
    target=st.sampled_from(["", "", "", "", *TARGETS]),
    ttl=st.sampled_from([0, 0, 60, 90]),
)
scenes = st.tuples(
    st.lists(gateways, min_size=1, max_size=2, unique_by=lambda one: one.name),
    st.lists(routes, min_size=2, max_size=4, unique_by=lambda one: (one.kind, one.namespace, one.name)),
)


def _annotations(**texts: object) -> dict[str, str]:
    return {PREFIX + name.replace("_", "-"): str(text) for name, text in texts.items() if text}


def _gateway(one: AGateway) -> KubernetesObject:
    found = [
        listener(
            each.name,
            each.hostname,
            protocol=each.protocol,
            port=each.port,
            allowedRoutes={"namespaces": {"from": each.takes}},
        )
        for each in one.listeners
    ]
    notes = _annotations(target=one.target, ttl=one.ttl)
    return gateway(one.name, one.addresses, found, notes, one.namespace)


def _route(one: ARoute) -> KubernetesObject:
    asked = []
    for each in one.parents:
        reference: dict[str, object] = {"name": each.gateway, "namespace": each.namespace}
        reference |= {"sectionName": each.section} if each.section else {}
        reference |= {"port": each.port} if each.port else {}
        asked.append((reference, str(each.is_accepted)))
    return route(
        one.name,
        one.hostnames,
        [reference for reference, _ in asked],
        namespace=one.namespace,
        created=f"{one.created}-01-01T00:00:00Z",
        annotations=_annotations(
            hostname=",".join(one.annotated), gateway_hostname_source=one.source, target=one.target, ttl=one.ttl
        ),
        answers=asked,
        kind=one.kind,
    )


@settings(deadline=None, max_examples=250)
@given(scenes, st.sampled_from(["oldest", "refuse", "merge"]))
def test_both_readings_publish_the_same(scene: tuple[list[AGateway], list[ARoute]], conflict: str) -> None:
    some_gateways, some_routes = scene
    published = endpoints_of(
        DnsSettings(sources=SOURCES, conflict=conflict),
        *map(_gateway, some_gateways),
        *map(_route, some_routes),
    )
    found = {
        (endpoint.dns_name, endpoint.record_type): (endpoint.targets, endpoint.record_ttl, endpoint.labels["resource"])
        for endpoint in published
    }
    assert found == records(some_gateways, some_routes, conflict)
