"""What a reconciler needs cannot be read: what it configured stays, and the object that waits says for which field."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any

from domain_world import DOMAIN, claim, knative_ref, mapping
from gateway_world import EDGE, INSIDE, PUBLIC, SERVED, config, ingress, parents, public_rule, route_of, verdict
from knative_objects import Raw, kingress, knative_service, local_hosts, network, route, rule, split

from gatepost.objects.refs import Ref, ref_of
from gatepost.runtime.offline.settle import render
from gatepost.runtime.wiring import reconcilers


def rendered(controller: str, *raws: Raw) -> tuple[dict[Ref, Raw], list[str]]:
    """The objects at rest, and the messages of all events."""
    wired = reconcilers([controller])
    result = render(raws, wired.rules, wired.indexes, now=datetime(2026, 3, 1, tzinfo=UTC))
    assert not result.failures, result.failures
    objects = {ref_of(raw): raw for raw in result.objects if raw["kind"] != "Event"}
    return objects, [raw["message"] for raw in result.objects if raw["kind"] == "Event"]


def spoiled(raw: Raw, *path: Any, value: Any) -> Raw:
    made = copy.deepcopy(raw)
    holder = made
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return made


def condition(raw: Raw, type_: str) -> Raw:
    (found,) = [one for one in raw["status"]["conditions"] if one["type"] == type_]
    return dict(found)


def test_a_kingress_keeps_its_routes_and_says_which_gateway_cannot_be_read() -> None:
    gateway = spoiled(PUBLIC, "spec", "listeners", 0, "port", value="80")
    wanted = ingress("app", public_rule("app.example.com"))
    standing = route_of(wanted, "app.example.com", status=parents(verdict(*SERVED)))
    objects, events = rendered("gateway", config(), gateway, INSIDE, wanted, standing)
    assert objects[ref_of(standing)]["spec"] == standing["spec"]
    ready = condition(objects[ref_of(wanted)], "Ready")
    why = "Gateway edge/public: spec.listeners[0].port: cannot be read: Expected `int`, got `str`"
    assert (ready["status"], ready["reason"]) == ("Unknown", "ReconcileIngressFailed")
    assert ready["message"] == f"Ingress reconciliation failed: {why}"
    assert why in events
    others, _ = rendered("gateway", *EDGE, wanted, standing)
    assert condition(others[ref_of(wanted)], "NetworkConfigured")["status"] == "True"


def test_a_mapping_keeps_its_kingress_and_says_which_service_cannot_be_read() -> None:
    service = knative_service("cart")
    made = route("cart", service)
    source = kingress("cart", made, rule(local_hosts("cart"), {"splits": [split("cart-00001")]}))
    wanted = mapping(knative_ref("cart"))
    standing = kingress(DOMAIN, wanted, rule([DOMAIN], {"splits": [split("cart-00001")]}, visibility="ExternalIP"))
    broken = spoiled(service, "status", value="none")
    objects, events = rendered("domainmapping", network(), claim(), broken, made, source, wanted, standing)
    assert objects[ref_of(standing)]["spec"] == standing["spec"]
    assert "Service shop/cart: status: cannot be read: Expected `object`, got `str`" in events
    assert condition(objects[ref_of(wanted)], "ReferenceResolved")["status"] == "Unknown"


def test_a_config_map_that_cannot_be_read_leaves_all_as_it_is() -> None:
    broken = spoiled(config(), "data", value="none")
    wanted = ingress("app", public_rule("app.example.com"))
    objects, _ = rendered("gateway", broken, *EDGE[1:], wanted)
    assert "status" not in objects[ref_of(wanted)] or not objects[ref_of(wanted)]["status"]
    assert [ref for ref in objects if ref.kind == "HTTPRoute"] == []


def test_a_kingress_is_not_released_while_a_gateway_that_may_have_its_listeners_cannot_be_read() -> None:
    finalizer = "ingresses.networking.internal.knative.dev"
    gone = ingress(
        "app",
        public_rule("app.example.com"),
        metadata={"finalizers": [finalizer], "deletionTimestamp": "2026-02-01T00:00:00Z"},
    )
    other = spoiled(PUBLIC, "metadata", "name", value="old")
    broken = spoiled(other, "spec", "listeners", value="none")
    objects, _ = rendered("gateway", *EDGE, broken, gone)
    assert objects[ref_of(gone)]["metadata"]["finalizers"] == [finalizer]
    released, _ = rendered("gateway", *EDGE, other, gone)
    assert ref_of(gone) not in released
