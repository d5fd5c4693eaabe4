"""From the status of Gateways and HTTPRoutes to that of the KIngress."""

from __future__ import annotations

from typing import Any

import pytest
from gateway_world import (
    EDGE,
    INSIDE,
    PUBLIC,
    SERVED,
    config,
    gateway,
    ingress,
    parents,
    public_rule,
    rendered,
    route_of,
    seen,
    verdict,
    world,
)
from knative_objects import conditions, config_map, core_service

Raw = dict[str, Any]

APP = ingress("app", public_rule("app.example.com"))
SEEN = seen(APP)


def served_route(*verdicts: Raw, **more: Any) -> Raw:
    return route_of(APP, "app.example.com", status=parents(*verdicts), **more)


def ready_with(*verdicts: Raw, **more: Any) -> str:
    found = world(*EDGE, SEEN, served_route(*verdicts, **more))
    return conditions(found.outcome(SEEN))["Ready"][0]


def test_served_route_makes_the_kingress_ready() -> None:
    assert ready_with(verdict(*SERVED)) == "True"


@pytest.mark.parametrize(
    "verdicts",
    [
        (),
        (verdict(("Accepted", "False"), ("ResolvedRefs", "True")),),
        (verdict(("Accepted", "Unknown")),),
        (verdict(("ResolvedRefs", "True")),),
        (verdict(("Accepted", "True"), ("ResolvedRefs", "False")),),
        (verdict(*SERVED, parent="other"),),
        (verdict(*SERVED), verdict(("Accepted", "False"))),
    ],
    ids=[
        "no verdict",
        "refused",
        "undecided",
        "not accepted yet",
        "backend not found",
        "another Gateway's verdict",
        "two controllers disagree",
    ],
)
def test_route_that_is_not_served_keeps_the_kingress_waiting(verdicts: tuple[Raw, ...]) -> None:
    assert ready_with(*verdicts) == "Unknown"


def test_left_over_verdict_of_a_former_gateway_does_not_count() -> None:
    former = verdict(("Accepted", "False"), parent="former", generation=1)
    route = served_route(verdict(*SERVED, generation=2), former)
    route["metadata"]["generation"] = 2
    assert conditions(world(*EDGE, SEEN, route).outcome(SEEN))["Ready"][0] == "True"


def test_whoever_looked_at_the_route_as_it_is_must_have_accepted_it() -> None:
    assert ready_with(verdict(*SERVED), verdict(("Accepted", "False"), parent="other")) == "Unknown"
    assert ready_with(verdict(*SERVED), verdict(("Accepted", "True"), parent="other")) == "True"


def test_verdict_without_generation_counts_and_one_on_an_older_generation_does_not() -> None:
    route = served_route(verdict(*SERVED, generation=0))
    assert conditions(world(*EDGE, SEEN, route).outcome(SEEN))["Ready"][0] == "True"
    route["metadata"]["generation"] = 2
    route["status"] = parents(verdict(*SERVED, generation=1))
    assert conditions(world(*EDGE, SEEN, route).outcome(SEEN))["Ready"][0] == "Unknown"


def test_the_gateway_that_is_waited_for_is_told_with_its_namespace() -> None:
    told = [str(why) for why in world(*EDGE, SEEN, served_route()).outcome(SEEN).skipped]
    assert [why for why in told if why.endswith("status.parents: Gateway edge/public has not looked at it yet")]
    refused = served_route(verdict(("Accepted", "False")))
    told = [why.message for why in world(*EDGE, SEEN, refused).outcome(SEEN).skipped]
    assert "Gateway edge/public: Accepted is False (Accepted)" in told


def test_route_that_still_has_former_hosts_is_not_served() -> None:
    assert ready_with(verdict(*SERVED), hosts=["former.example.com"]) == "Unknown"


def test_new_spec_is_not_ready_in_the_pass_that_writes_it() -> None:
    """The verdict in that pass is still about the routes of the former spec."""
    changed = {**SEEN, "metadata": {**SEEN["metadata"], "generation": 2}}
    found = world(*EDGE, changed, served_route(verdict(*SERVED)))
    assert conditions(found.outcome(changed))["Ready"] == ("Unknown", "Uninitialized")
    assert found.outcome(changed).status["observedGeneration"] == 2
    found.carry_out(changed)
    # By now the route has generation 2, and nobody has looked at that.
    assert conditions(found.outcome(changed))["Ready"] == ("Unknown", "Uninitialized")
    route = found.raws[next(apply.ref for apply in found.outcome(changed).applies)]
    found.put({**route, "status": parents(verdict(*SERVED, generation=2))})
    assert conditions(found.outcome(changed))["Ready"][0] == "True"


def test_load_balancers_stay_told_while_readiness_is_lost() -> None:
    found = world(*EDGE, SEEN, served_route(verdict(*SERVED)))
    found.carry_out(SEEN)
    found.put(served_route(verdict(("Accepted", "False"))))
    found.carry_out(SEEN)
    kept = next(raw for raw in found.raws.values() if raw["kind"] == "Ingress")["status"]
    assert kept["publicLoadBalancer"] == {"ingress": [{"ip": "192.0.2.10"}]}
    assert {c["type"]: c["status"] for c in kept["conditions"]} == {
        "NetworkConfigured": "True",
        "LoadBalancerReady": "Unknown",
        "Ready": "Unknown",
    }


# Addresses


def load_balancers(*raws: Raw) -> tuple[Any, Any]:
    status = world(*raws, SEEN, served_route(verdict(*SERVED))).outcome(SEEN).status
    return status["publicLoadBalancer"]["ingress"], status["privateLoadBalancer"]["ingress"]


def with_services() -> Raw:
    return config_map(
        "config-gateway",
        external_gateways="- {class: t, gateway: edge/public, service: edge/public-lb}",
        local_gateways="- {class: t, gateway: edge/inside, service: edge/inside-lb}",
    )


def test_service_in_front_gives_its_name_and_its_ip_beside_it() -> None:
    balanced = core_service("public-lb", "edge", type="LoadBalancer", clusterIP="10.96.0.8")
    balanced["status"] = {"loadBalancer": {"ingress": [{"ip": "203.0.113.7"}]}}
    inside = core_service("inside-lb", "edge", clusterIP="10.96.0.9")
    assert load_balancers(with_services(), PUBLIC, INSIDE, balanced, inside) == (
        [{"ip": "203.0.113.7", "domainInternal": "public-lb.edge.svc.cluster.local"}],
        [{"ip": "10.96.0.9", "domainInternal": "inside-lb.edge.svc.cluster.local"}],
    )


def test_service_without_an_ip_of_its_own_leaves_the_name_or_the_address_of_the_gateway() -> None:
    headless = core_service("inside-lb", "edge", clusterIP="None")
    pending = core_service("public-lb", "edge", type="LoadBalancer", clusterIP="10.96.0.8")
    assert load_balancers(with_services(), gateway("public", address=None), INSIDE, pending, headless) == (
        [{"domainInternal": "public-lb.edge.svc.cluster.local"}],
        [{"domainInternal": "inside-lb.edge.svc.cluster.local"}],
    )
    assert load_balancers(with_services(), PUBLIC, INSIDE, pending, headless)[0] == [
        {"ip": "192.0.2.10", "domainInternal": "public-lb.edge.svc.cluster.local"}
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("192.0.2.99", {"ip": "192.0.2.99"}),
        ("2001:db8::9", {"ip": "2001:db8::9"}),
        ("lb.example.org", {"domainInternal": "lb.example.org"}),
    ],
)
def test_address_without_a_type_counts_by_its_value(value: str, expected: Raw) -> None:
    untyped = {**PUBLIC, "status": {"addresses": [{"value": value}]}}
    assert load_balancers(config(), untyped, INSIDE)[0] == [expected]


def test_gateway_that_is_not_there_is_told_even_before_a_route_is_served() -> None:
    found = world(config(), INSIDE, SEEN)
    assert conditions(found.outcome(SEEN))["LoadBalancerReady"] == ("False", "GatewayDoesNotExist")
    assert found.outcome(SEEN).problems[0].message == "could not find Gateway edge/public"
    found.put(PUBLIC)
    assert conditions(found.outcome(SEEN))["LoadBalancerReady"] == ("Unknown", "Uninitialized")


def test_gateway_for_the_other_visibility_that_is_not_there_is_told_when_all_else_is_served() -> None:
    found = world(config(), PUBLIC, SEEN)
    assert conditions(found.outcome(SEEN))["LoadBalancerReady"] == ("Unknown", "Uninitialized")
    found.put(served_route(verdict(*SERVED)))
    assert conditions(found.outcome(SEEN))["LoadBalancerReady"] == ("False", "GatewayDoesNotExist")


def test_rendering_the_result_again_changes_nothing() -> None:
    once = rendered(*EDGE, APP, served_route(verdict(*SERVED)))
    again = rendered(*once.values())
    assert again == once
