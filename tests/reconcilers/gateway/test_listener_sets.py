"""TLS listeners in ListenerSets, where the Gateway takes those and either knows them well or has no room left."""

from __future__ import annotations

from typing import Any

from gateway_world import EDGE, INSIDE, config, gateway, ingress, public_rule, rendered, tls, world
from knative_objects import conditions, the

from gatepost.objects.refs import Ref, ref_of
from gatepost.reconcilers.gateway.listeners import LISTENERS

Raw = dict[str, Any]

HOST = "app.example.com"
NAME = "app-edge-public"


def secured(option: str = "Enabled", namespace: str = "shop") -> Raw:
    return ingress("app", public_rule(HOST), tls=[tls(HOST, "cert", namespace)], httpOption=option)


def opened(*listeners: Raw, allowed: Raw | None = None) -> Raw:
    """The Gateway, letting in ListenerSets of these namespaces, by default of all."""
    public = gateway("public", *listeners)
    return {**public, "spec": {**public["spec"], "allowedListeners": {"namespaces": allowed or {"from": "All"}}}}


KNOWS_SETS: Raw = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "GatewayClass",
    "metadata": {"name": "traefik"},
    "spec": {"controllerName": "example.com/controller"},
    "status": {"supportedFeatures": [{"name": "ListenerSet"}]},
}


def one(objects: dict[Ref, Raw], kind: str) -> Raw | None:
    found = [raw for ref, raw in objects.items() if ref.kind == kind and ref.name != "inside"]
    assert len(found) <= 1, found
    return found[0] if found else None


def sections(route: Raw) -> list[tuple[str, str, str | None]]:
    return [(ref["kind"], ref["name"], ref.get("sectionName")) for ref in route["spec"]["parentRefs"]]


def test_class_that_knows_listener_sets_gets_one_that_the_kingress_owns() -> None:
    objects = rendered(config(), opened(), INSIDE, KNOWS_SETS, secured())
    found = one(objects, "ListenerSet")
    assert found is not None
    assert (found["metadata"]["name"], found["metadata"]["namespace"]) == (NAME, "shop")
    assert found["metadata"]["ownerReferences"][0]["uid"] == "uid-shop-app"
    parent = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "namespace": "edge", "name": "public"}
    assert found["spec"]["parentRef"] == parent
    assert found["spec"]["listeners"] == [
        {
            "name": "kni-uid-shop-app",
            "hostname": HOST,
            "port": 443,
            "protocol": "HTTPS",
            "tls": {
                "mode": "Terminate",
                "certificateRefs": [{"group": "", "kind": "Secret", "name": "cert", "namespace": "shop"}],
            },
            "allowedRoutes": {"namespaces": {"from": "Same"}},
        }
    ]
    public = one(objects, "Gateway")
    assert public is not None
    assert [listener["name"] for listener in public["spec"]["listeners"]] == ["http"]


def test_route_attaches_to_the_gateway_and_to_the_set() -> None:
    found = world(config(), opened(), INSIDE, KNOWS_SETS, secured())
    route = the(found.outcome(secured()), "HTTPRoute")
    assert sections(route) == [("Gateway", "public", None), ("ListenerSet", NAME, None)]


def test_gateway_that_takes_no_sets_keeps_the_listener() -> None:
    for allowed in ({"from": "None"}, {"from": "Same"}, {"from": "Selector", "selector": {"matchLabels": {"a": "b"}}}):
        objects = rendered(config(), opened(allowed=allowed), INSIDE, KNOWS_SETS, secured())
        assert one(objects, "ListenerSet") is None, allowed
        public = one(objects, "Gateway")
        assert public is not None
        assert [listener["name"] for listener in public["spec"]["listeners"]] == ["http", "kni-uid-shop-app"]


def test_selector_of_the_gateway_looks_at_the_labels_of_the_namespace() -> None:
    selector = {"from": "Selector", "selector": {"matchLabels": {"team": "a"}}}
    shop = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "a"}}}
    assert one(rendered(config(), opened(allowed=selector), INSIDE, KNOWS_SETS, shop, secured()), "ListenerSet")


def test_certificate_of_another_namespace_is_granted_to_sets() -> None:
    objects = rendered(config(), opened(), INSIDE, KNOWS_SETS, secured(namespace="certs"))
    froms = [raw["spec"]["from"] for ref, raw in objects.items() if ref.kind == "ReferenceGrant"]
    group = "gateway.networking.k8s.io"
    assert sorted(froms, key=lambda one: one[0]["kind"]) == [
        [{"group": group, "kind": "Gateway", "namespace": "edge"}],
        [{"group": group, "kind": "ListenerSet", "namespace": "shop"}],
    ]


def test_full_gateway_of_a_class_that_says_nothing_gets_sets_if_it_takes_them() -> None:
    taken = [{"name": f"by-hand-{n}", "port": 9000 + n, "protocol": "TCP"} for n in range(63)]
    objects = rendered(config(), opened(*taken), INSIDE, secured())
    assert one(objects, "ListenerSet")
    shut = gateway("public", *taken)
    found = world(config(), shut, INSIDE, secured())
    assert conditions(found.outcome(secured()))["Ready"] == ("False", "NoRoomOnGateway")


def test_set_goes_when_tls_is_dropped() -> None:
    before = rendered(config(), opened(), INSIDE, KNOWS_SETS, secured())
    plain = ingress("app", public_rule(HOST))
    assert one(rendered(*{**before, ref_of(plain): plain}.values()), "ListenerSet") is None


def test_redirect_names_the_listener_in_the_set_once_it_answers() -> None:
    kingress = secured("Redirected")
    before = rendered(config(), opened(), INSIDE, KNOWS_SETS, kingress)
    listener_set = one(before, "ListenerSet")
    assert listener_set is not None
    found = world(config(), opened(), INSIDE, KNOWS_SETS, kingress, listener_set)
    routes = [apply.fields for apply in found.outcome(kingress).applies if apply.fields["kind"] == "HTTPRoute"]
    assert [route["metadata"]["name"] for route in routes] == [HOST]
    programmed = {"name": "kni-uid-shop-app", "conditions": [{"type": "Programmed", "status": "True"}]}
    found.put({**listener_set, "status": {"listeners": [programmed]}})
    routes = [apply.fields for apply in found.outcome(kingress).applies if apply.fields["kind"] == "HTTPRoute"]
    assert {route["metadata"]["name"]: sections(route) for route in routes} == {
        HOST: [("ListenerSet", NAME, "kni-uid-shop-app")],
        f"{HOST}-redirect": [("Gateway", "public", "http")],
    }


# TLS of cluster-local names

LOCAL_HOST = "app.shop.svc.cluster.local"


def network(**data: str) -> Raw:
    metadata = {"name": "config-network", "namespace": "knative-serving"}
    named = {key.replace("_", "-"): value for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": named}


def local() -> Raw:
    rule = {**public_rule(LOCAL_HOST), "visibility": "ClusterLocal"}
    return ingress("app", rule, tls=[tls(LOCAL_HOST, "cert")])


def inside_listeners(*more: Raw) -> list[str]:
    objects = rendered(*EDGE, local(), *more)
    inside = next(raw for ref, raw in objects.items() if ref.name == "inside")
    return [listener["name"] for listener in inside["spec"]["listeners"]]


def test_local_gateway_gets_a_listener_only_where_config_network_asks_for_it() -> None:
    assert inside_listeners() == ["http"]
    assert inside_listeners(network(cluster_local_domain_tls="Disabled")) == ["http"]
    assert inside_listeners(network(cluster_local_domain_tls="Enabled")) == ["http", "kni-uid-shop-app"]


def test_config_network_that_cannot_be_read_leaves_the_listeners_of_those_who_need_it() -> None:
    standing = {"name": "kni-uid-shop-app", "hostname": LOCAL_HOST, "port": 443, "protocol": "HTTPS"}
    busy = gateway("inside", standing, address="198.51.100.20")
    found = world(config(), gateway("public"), busy, local(), network(cluster_local_domain_tls="perhaps"))
    outcome = found.engine.value(LISTENERS, ref_of(busy))
    assert outcome is not None
    assert outcome.applies == []
    assert conditions(found.outcome(local()))["Ready"] == ("Unknown", "ReconcileIngressFailed")
