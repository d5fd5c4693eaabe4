"""The Services that hold a Route's names inside the cluster, and the slices that lead them to the gateway."""

from __future__ import annotations

from typing import Any

import pytest
from knative_objects import (
    Raw,
    World,
    applied,
    conditions,
    config_map,
    controlled_by,
    core_service,
    event_reasons,
    meta,
)
from route_world import balancers, latest, own_ingress, pinned, placeholder, route, route_world

from gatepost.objects.lookups import NameLookup
from gatepost.objects.meta import ObjectMeta
from gatepost.reconcilers.lookups import NAME_LOOKUPS
from gatepost.writes.compare import wanted_object
from gatepost.writes.outcome import Outcome

ROUTE = route()
HTTP2: Raw = {"name": "http2", "port": 80, "protocol": "TCP", "appProtocol": "kubernetes.io/h2c"}
HEADLESS: Raw = {"type": "ClusterIP", "clusterIP": "None", "ports": [{**HTTP2, "targetPort": 80}]}
EXTERNAL: Raw = {
    "type": "ExternalName",
    "externalName": "web.shop.example.com",
    "sessionAffinity": "None",
    "ports": [{**HTTP2, "targetPort": 80}],
}
ALLOCATED: Raw = {
    "type": "ClusterIP",
    "clusterIP": "192.0.2.50",
    "ports": [{"name": "http", "port": 80, "targetPort": 80}],
}
PRIVATE_LABEL = {"networking.knative.dev/visibility": "cluster-local"}


def world_with(service: Raw | None, *more: Raw, **status: Any) -> World:
    services = [service] if service is not None else []
    return route_world(ROUTE, own_ingress(ROUTE, **status), *services, *more)


def written(world: World, name: str = "web") -> Raw | None:
    """The Service as it will be; None if it is not ours to write."""
    for apply in world.outcome(ROUTE).applies:
        if apply.fields["kind"] == "Service" and apply.ref.name == name:
            return wanted_object(apply, world.raws.get(apply.ref))
    return None


def spec_of(world: World) -> Raw:
    service = written(world)
    assert service is not None
    spec: Raw = service["spec"]
    return spec


def slices(outcome: Outcome) -> dict[str, list[str]]:
    """Address type -> addresses of the slices that are to be laid."""
    found = [apply.fields for apply in outcome.applies if apply.fields["kind"] == "EndpointSlice"]
    return {one["addressType"]: [endpoint["addresses"][0] for endpoint in one["endpoints"]] for one in found}


def ports_of(outcome: Outcome) -> list[Raw]:
    ports: list[Raw] = next(a.fields["ports"] for a in outcome.applies if a.fields["kind"] == "EndpointSlice")
    return ports


def reasons(outcome: Outcome) -> list[str]:
    return [problem.reason for problem in outcome.problems]


def test_new_service_reserves_its_name_headless_and_without_slices() -> None:
    seen = route(labels={"team": "a", **PRIVATE_LABEL}, annotations={"note": "n"})
    service = applied(route_world(seen).outcome(seen), "Service")
    assert service == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "labels": {"serving.knative.dev/route": "web", "team": "a"},
            "annotations": {"note": "n"},
            "ownerReferences": controlled_by(seen),
        },
        "spec": HEADLESS,
    }


def test_every_target_has_a_service_of_its_own() -> None:
    seen = route(latest(), pinned("web-00001", 0, tag="old"))
    outcome = route_world(seen).outcome(seen)
    names = [apply.ref.name for apply in outcome.applies if apply.fields["kind"] == "Service"]
    assert names == ["web", "old-web"]


def test_address_of_the_gateway_goes_into_a_slice_that_the_service_owns() -> None:
    service = placeholder(ROUTE, **HEADLESS)
    outcome = world_with(service, **balancers(private=[{"ip": "192.0.2.10"}])).outcome(ROUTE)
    assert applied(outcome, "EndpointSlice") == {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "web-ipv4",
            "namespace": "shop",
            "labels": {
                "endpointslice.kubernetes.io/managed-by": "gatepost",
                "kubernetes.io/service-name": "web",
            },
            "ownerReferences": controlled_by(service),
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["192.0.2.10"], "conditions": {"ready": True}}],
        "ports": [HTTP2],
    }


def laid(owner: Raw, family: str, *addresses: str) -> Raw:
    """A slice of the Service, as it was laid before."""
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": meta(f"web-{family.lower()}", ownerReferences=controlled_by(owner)),
        "addressType": family,
        "endpoints": [{"addresses": [address]} for address in addresses],
    }


def test_external_name_turns_headless_once_its_slices_have_been_seen() -> None:
    service = placeholder(ROUTE, **EXTERNAL)
    status = balancers(private=[{"ip": "192.0.2.10"}])
    world = world_with(service, **status)
    assert slices(world.outcome(ROUTE)) == {"IPv4": ["192.0.2.10"]}
    assert spec_of(world) == EXTERNAL
    assert spec_of(world_with(service, laid(service, "IPv4", "192.0.2.9"), **status)) == EXTERNAL
    seen = world_with(service, laid(service, "IPv4", "192.0.2.10"), **status)
    assert spec_of(seen) == {**HEADLESS, "sessionAffinity": "None"}


def test_external_name_waits_for_the_slices_of_both_families() -> None:
    service = placeholder(ROUTE, **EXTERNAL)
    ipv4, ipv6 = laid(service, "IPv4", "198.51.100.20"), laid(service, "IPv6", "2001:db8::20")
    assert spec_of(world_with(service, GATEWAY, ipv4, **INNER)) == EXTERNAL
    assert spec_of(world_with(service, GATEWAY, ipv4, ipv6, **INNER))["clusterIP"] == "None"


@pytest.mark.parametrize("form", [HEADLESS, EXTERNAL, ALLOCATED], ids=["headless", "ExternalName", "allocated"])
@pytest.mark.parametrize(
    "status",
    [
        {},
        balancers(private=[], public=[]),
        balancers(private=[{"ip": "192.0.2.1"}, {"ip": "192.0.2.2"}]),
        balancers(private=[{}]),
        balancers(private=[{"ip": "127.0.0.1"}]),
        balancers(private=[{"ip": "169.254.169.254"}]),
        balancers(private=[{"ip": "no address"}]),
        balancers(private=[{"domainInternal": "absent.gateways.svc.cluster.local"}]),
        balancers(private=[{"domain": "lb.example.net"}]),
    ],
    ids=["none", "no entry", "two", "empty", "loopback", "node", "no ip", "no such Service", "not resolved"],
)
def test_without_a_usable_address_the_service_keeps_the_form_that_it_has(form: Raw, status: Raw) -> None:
    world = world_with(placeholder(ROUTE, **form), **status)
    assert spec_of(world) == form
    assert slices(world.outcome(ROUTE)) == {}
    assert reasons(world.outcome(ROUTE)) == ["GatewayAddressUnknown"]


@pytest.mark.parametrize(
    ("labels", "status", "address"),
    [
        ({}, balancers(private=[{"ip": "192.0.2.10"}], public=[{"ip": "203.0.113.5"}]), "192.0.2.10"),
        ({}, balancers(public=[{"ip": "203.0.113.5"}]), "203.0.113.5"),
        ({}, balancers(private=[], public=[{"ip": "203.0.113.5"}]), "203.0.113.5"),
        (PRIVATE_LABEL, balancers(private=[{"ip": "192.0.2.10"}]), "192.0.2.10"),
        (PRIVATE_LABEL, balancers(public=[{"ip": "203.0.113.5"}]), None),
        (
            {**PRIVATE_LABEL, "networking.knative.dev/visibility": "x"},
            balancers(public=[{"ip": "203.0.113.5"}]),
            "203.0.113.5",
        ),
    ],
    ids=["private first", "public else", "private is empty", "label: private", "label: never public", "another label"],
)
def test_load_balancer_is_chosen_by_what_is_reported_and_by_the_label(
    labels: Raw, status: Raw, address: str | None
) -> None:
    outcome = world_with(placeholder(ROUTE, labels=labels, **HEADLESS), **status).outcome(ROUTE)
    assert slices(outcome) == ({"IPv4": [address]} if address else {})


def test_label_that_makes_the_service_private_survives_every_change() -> None:
    service = placeholder(ROUTE, labels={**PRIVATE_LABEL, "mine": "1"}, **EXTERNAL)
    before = laid(service, "IPv4", "192.0.2.10")
    after = written(world_with(service, before, **balancers(private=[{"ip": "192.0.2.10"}])))
    assert after is not None
    assert after["spec"]["clusterIP"] == "None"
    assert after["metadata"]["labels"] == {**PRIVATE_LABEL, "mine": "1", "serving.knative.dev/route": "web"}
    assert after["metadata"]["uid"] == "uid-service-web"


def test_ip_is_preferred_to_names() -> None:
    entry = {"ip": "192.0.2.12", "domainInternal": "inner.gateways.svc.cluster.local", "domain": "lb.example.net"}
    outcome = world_with(placeholder(ROUTE, **HEADLESS), **balancers(private=[entry])).outcome(ROUTE)
    assert slices(outcome) == {"IPv4": ["192.0.2.12"]}


INNER = balancers(private=[{"domainInternal": "inner.gateways.svc.cluster.local"}])
GATEWAY = core_service(
    "inner",
    "gateways",
    type="ClusterIP",
    clusterIP="198.51.100.20",
    clusterIPs=["198.51.100.20", "2001:db8::20"],
    ports=[{"name": "http", "port": 80, "targetPort": 8080}],
)


def gateway_slice(name: str, port: int, *endpoints: tuple[str, bool | None]) -> Raw:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": meta(name, "gateways", labels={"kubernetes.io/service-name": "inner"}),
        "addressType": "IPv4",
        "endpoints": [
            {"addresses": [address], "conditions": {} if ready is None else {"ready": ready}}
            for address, ready in endpoints
        ],
        "ports": [{"name": "http", "port": port}, {"name": "metrics", "port": 9090}],
    }


def test_headless_service_is_led_to_the_cluster_ips_of_the_gateway_one_slice_a_family() -> None:
    outcome = world_with(placeholder(ROUTE, **HEADLESS), GATEWAY, **INNER).outcome(ROUTE)
    assert slices(outcome) == {"IPv4": ["198.51.100.20"], "IPv6": ["2001:db8::20"]}
    assert ports_of(outcome) == [HTTP2]


def test_service_with_a_cluster_ip_mirrors_the_ready_pods_of_the_gateway() -> None:
    pods = gateway_slice("inner-x", 8080, ("192.0.2.2", True), ("192.0.2.3", False), ("192.0.2.1", None))
    world = world_with(placeholder(ROUTE, **ALLOCATED), GATEWAY, pods, **INNER)
    assert slices(world.outcome(ROUTE)) == {"IPv4": ["192.0.2.1", "192.0.2.2"]}
    assert ports_of(world.outcome(ROUTE)) == [{**HTTP2, "port": 8080}]
    assert spec_of(world) == {**ALLOCATED, "ports": [{**HTTP2, "targetPort": 80}]}


def test_gateway_without_ready_pods_leaves_a_service_with_a_cluster_ip_alone() -> None:
    pods = gateway_slice("inner-x", 8080, ("192.0.2.3", False))
    world = world_with(placeholder(ROUTE, **ALLOCATED), GATEWAY, pods, **INNER)
    assert slices(world.outcome(ROUTE)) == {}
    assert spec_of(world) == ALLOCATED


@pytest.mark.parametrize(("port", "mirrored"), [(80, True), (8080, False)])
def test_headless_gateway_is_mirrored_only_where_it_listens_on_the_port_of_clients(port: int, mirrored: bool) -> None:
    gateway = core_service("inner", "gateways", clusterIP="None", ports=[{"name": "http", "port": 80}])
    world = world_with(placeholder(ROUTE, **HEADLESS), gateway, gateway_slice("x", port, ("192.0.2.1", True)), **INNER)
    assert slices(world.outcome(ROUTE)) == ({"IPv4": ["192.0.2.1"]} if mirrored else {})
    asked = [name for name, _ in world.engine.values(NAME_LOOKUPS)]
    assert asked == ([] if mirrored else ["inner.gateways.svc.cluster.local"])


def test_recreated_gateway_service_moves_the_slices_of_the_routes_that_it_serves() -> None:
    world = world_with(placeholder(ROUTE, **HEADLESS), GATEWAY, **INNER)
    world.take_ran()
    moved = {**GATEWAY, "spec": {**GATEWAY["spec"], "clusterIP": "198.51.100.21", "clusterIPs": ["198.51.100.21"]}}
    world.put(moved)
    assert [str(ref) for ref in world.take_ran()] == ["Route shop/web"]
    assert slices(world.outcome(ROUTE)) == {"IPv4": ["198.51.100.21"]}


@pytest.mark.parametrize(("namespace", "followed"), [("gateways", True), ("elsewhere", False)])
def test_name_is_followed_only_into_the_namespace_of_a_configured_gateway(namespace: str, followed: bool) -> None:
    entries = f"- class: c\n  gateway: {namespace}/public\n  service: {namespace}/inner\n"
    gateways = config_map("config-gateway", external_gateways=entries, local_gateways=entries)
    outcome = world_with(placeholder(ROUTE, **HEADLESS), GATEWAY, gateways, **INNER).outcome(ROUTE)
    assert bool(slices(outcome)) is followed


def test_addresses_that_dns_gave_for_a_name_go_into_slices() -> None:
    world = world_with(placeholder(ROUTE, **HEADLESS), **balancers(public=[{"domain": "lb.example.net"}]))
    assert [name for name, _ in world.engine.values(NAME_LOOKUPS)] == ["lb.example.net"]
    answer = ("169.254.169.254", "198.51.100.7", "2001:db8::7")
    world.engine.put(NameLookup(metadata=ObjectMeta(name="lb.example.net"), addresses=answer))
    world.engine.run_stale()
    assert slices(world.outcome(ROUTE)) == {"IPv4": ["198.51.100.7"], "IPv6": ["2001:db8::7"]}


def test_name_that_dns_has_no_address_for_any_more_takes_the_slices_with_it() -> None:
    service = placeholder(ROUTE, **HEADLESS)
    old = laid(service, "IPv4", "198.51.100.7")
    world = world_with(service, old, **balancers(public=[{"domain": "lb.example.net"}]))
    assert world.outcome(ROUTE).deletes == []  # not asked yet: what was known stands
    world.engine.put(NameLookup(metadata=ObjectMeta(name="lb.example.net"), addresses=()))
    world.engine.run_stale()
    assert [delete.ref.name for delete in world.outcome(ROUTE).deletes] == [old["metadata"]["name"]]
    assert reasons(world.outcome(ROUTE)) == ["GatewayAddressGone"]
    assert spec_of(world) == HEADLESS


def test_external_name_serves_on_where_dns_has_no_address_for_the_gateway() -> None:
    world = world_with(placeholder(ROUTE, **EXTERNAL), **balancers(public=[{"domain": "lb.example.net"}]))
    world.engine.put(NameLookup(metadata=ObjectMeta(name="lb.example.net"), addresses=()))
    world.engine.run_stale()
    assert spec_of(world) == EXTERNAL


def test_family_that_the_gateway_lost_loses_its_slice() -> None:
    service = placeholder(ROUTE, **HEADLESS)
    outcome = world_with(
        service, laid(service, "IPv6", "2001:db8::1"), **balancers(private=[{"ip": "192.0.2.10"}])
    ).outcome(ROUTE)
    assert [delete.ref.name for delete in outcome.deletes] == ["web-ipv6"]


def test_slice_of_somebody_else_is_left_alone_and_the_service_with_it() -> None:
    foreign = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": meta("web-ipv4"),
        "addressType": "IPv4",
    }
    service = placeholder(ROUTE, **EXTERNAL)
    world = world_with(service, foreign, **balancers(private=[{"ip": "192.0.2.10"}]))
    outcome = world.outcome(ROUTE)
    assert spec_of(world) == EXTERNAL
    assert slices(outcome) == {}
    assert outcome.deletes == []
    assert reasons(outcome) == ["NotOwned"]


MESH = balancers(private=[{"meshOnly": True}])
MESH_PORTS = [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 80}]


def test_mesh_only_gives_a_cluster_ip_by_way_of_external_name() -> None:
    bridge: Raw = {"type": "ExternalName", "externalName": "web.shop.example.com", "ports": MESH_PORTS}
    assert spec_of(world_with(placeholder(ROUTE, **HEADLESS), **MESH)) == bridge
    assert spec_of(world_with(placeholder(ROUTE, **bridge), **MESH)) == {"type": "ClusterIP", "ports": MESH_PORTS}
    assert spec_of(world_with(placeholder(ROUTE, **ALLOCATED), **MESH)) == ALLOCATED


def endpoints(owner: Raw | None, name: str = "web") -> Raw:
    owners = controlled_by(owner) if owner is not None else []
    metadata = meta(name, uid=f"uid-endpoints-{name}", ownerReferences=owners)
    return {"apiVersion": "v1", "kind": "Endpoints", "metadata": metadata}


def test_endpoints_of_the_route_go_once_slices_take_their_place() -> None:
    service = placeholder(ROUTE, **HEADLESS)
    status = balancers(private=[{"ip": "192.0.2.10"}])
    slice_ = laid(service, "IPv4", "192.0.2.10")
    outcome = world_with(service, endpoints(ROUTE), slice_, **status).outcome(ROUTE)
    assert [str(delete.ref) for delete in outcome.deletes] == ["Endpoints shop/web"]
    assert world_with(service, endpoints(ROUTE), **status).outcome(ROUTE).deletes == []
    assert world_with(service, endpoints(ROUTE), slice_).outcome(ROUTE).deletes == []


@pytest.mark.parametrize(
    "foreign",
    [core_service("web"), placeholder(route(name="api"), "web"), endpoints(None)],
    ids=["Service of nobody", "Service of another Route", "Endpoints of nobody"],
)
def test_name_that_is_taken_stops_the_route(foreign: Raw) -> None:
    outcome = route_world(ROUTE, foreign).outcome(ROUTE)
    assert outcome.applies == []
    assert conditions(outcome)["IngressReady"] == ("False", "NotOwned")
    assert event_reasons(outcome) == ["InternalError"]


def test_service_of_a_tag_that_is_gone_is_deleted_with_its_endpoints() -> None:
    outcome = route_world(ROUTE, placeholder(ROUTE, "old-web", **HEADLESS), endpoints(ROUTE, "old-web")).outcome(ROUTE)
    assert sorted(str(delete.ref) for delete in outcome.deletes) == ["Endpoints shop/old-web", "Service shop/old-web"]


def test_labelled_service_that_the_route_does_not_control_is_kept() -> None:
    copied = core_service("metrics")
    copied["metadata"]["labels"] = {"serving.knative.dev/route": "web"}
    assert route_world(ROUTE, copied).outcome(ROUTE).deletes == []
