"""What reran: a change wakes the KIngresses that rest on it, and no others."""

from __future__ import annotations

from typing import Any

from gateway_world import (
    EDGE,
    HTTP,
    INSIDE,
    PUBLIC,
    SERVED,
    gateway,
    ingress,
    parents,
    public_rule,
    route_of,
    tls,
    verdict,
    world,
)
from knative_objects import World, config_map

Raw = dict[str, Any]

TWO_GATEWAYS = config_map(
    "config-gateway",
    external_gateways=("- {class: t, gateway: edge/public}\n- {class: t, gateway: edge/gold, selector: {tier: gold}}"),
    local_gateways="- {class: t, gateway: edge/inside}",
)
GOLD = gateway("gold", address="192.0.2.20")
PLAIN = ingress("plain", public_rule("plain.example.com"))
GOLDEN = ingress("golden", public_rule("golden.example.com"), metadata={"labels": {"tier": "gold"}})


def settled() -> World:
    found = world(TWO_GATEWAYS, PUBLIC, GOLD, INSIDE, PLAIN, GOLDEN)
    found.take_ran()
    return found


def names(found: World) -> list[str]:
    return [ref.name for ref in found.take_ran()]


def test_new_address_of_a_gateway_reruns_only_its_kingresses() -> None:
    found = settled()
    found.put(gateway("gold", address="192.0.2.21"))
    assert names(found) == ["golden"]


def test_new_address_of_the_local_gateway_reruns_all_since_all_report_it() -> None:
    found = settled()
    found.put(gateway("inside", address="198.51.100.21"))
    assert names(found) == ["golden", "plain"]


def test_change_of_a_gateway_that_no_kingress_reads_reruns_nothing() -> None:
    found = settled()
    public = gateway("public", {"name": "tcp", "port": 9000, "protocol": "TCP"})
    public["metadata"] = {**public["metadata"], "labels": {"team": "ops"}, "generation": 2}
    public["status"] = {**public["status"], "listeners": [{"name": HTTP["name"], "attachedRoutes": 7}]}
    found.put(public, gateway("unused"))
    assert names(found) == []


def test_change_of_a_kingress_reruns_that_one_alone() -> None:
    found = settled()
    found.put(ingress("plain", public_rule("plain.example.com"), public_rule("more.example.com")))
    assert names(found) == ["plain"]


def test_tls_of_one_kingress_and_its_listener_rerun_no_other() -> None:
    found = settled()
    secured = ingress("plain", public_rule("plain.example.com"), tls=[tls("plain.example.com", "cert")])
    found.put(secured)
    assert set(names(found)) == {"plain"}
    found.put(gateway("public", {"name": "kni-uid-shop-plain", "port": 443, "protocol": "HTTPS"}))
    assert names(found) == []


def test_another_kingress_on_the_same_host_reruns_the_one_that_has_it_and_no_other() -> None:
    found = settled()
    found.put(ingress("rival", public_rule("plain.example.com")))
    assert names(found) == ["plain", "rival"]


def test_verdict_on_a_route_reruns_its_kingress_alone() -> None:
    found = settled()
    route = route_of(PLAIN, "plain.example.com")
    found.put(route)
    assert names(found) == ["plain"]
    found.put({**route, "status": parents(verdict(*SERVED))})
    assert names(found) == ["plain"]


def test_route_of_nobody_here_reruns_nothing() -> None:
    found = settled()
    found.put(route_of(ingress("far", public_rule("far.example.com"), namespace="far"), "far.example.com"))
    assert names(found) == []


def test_comment_in_config_gateway_reruns_nothing() -> None:
    found = settled()
    data = {**TWO_GATEWAYS["data"], "_example": "words"}
    found.put({**TWO_GATEWAYS, "data": data})
    assert names(found) == []


def test_outcome_does_not_depend_on_the_order_of_events() -> None:
    objects = (*EDGE, PLAIN, GOLDEN, route_of(PLAIN, "plain.example.com", status=parents(verdict(*SERVED))))
    forward, backward = world(*objects), world(*reversed(objects))
    for kingress in (PLAIN, GOLDEN):
        assert forward.outcome(kingress) == backward.outcome(kingress)
