"""From objects to deletions: what makes a record go, and what only holds it. Engine, inventory and plan together."""

from __future__ import annotations

import pytest
from dns_objects import HTTP_ROUTES, engine_of, gateway, listener, parent, route

from gatepost.dns.desired import record_set_at, record_sets
from gatepost.dns.endpoint import NameKey
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership.changes import changes_for
from gatepost.dns.ownership.registry import inventory
from gatepost.dns.plan import Plan
from gatepost.dns.planner import Planner
from gatepost.dns.standing import Standings
from gatepost.objects.gatewayapi import HTTPRoute
from gatepost.objects.meta import KubernetesObject
from gatepost.state.engine import Engine
from gatepost.state.failure import Failure
from gatepost.state.store import Index

KEY: NameKey = ("app.example.com", "")


def plan_of(engine: Engine, there: Inventory, unreadable: tuple[str, ...] = ()) -> Plan:
    planner = Planner(HTTP_ROUTES, Standings(engine, unreadable))
    return planner.plan_all(there, record_sets(engine), allow=True)


def published() -> tuple[Engine, Inventory]:
    """A Gateway and a Route whose record is published."""
    engine = engine_of(HTTP_ROUTES, gateway(), route())
    there = inventory(HTTP_ROUTES, [], ["example.com"])
    there.take(changes_for(plan_of(engine, there).allowed, there))
    assert [holding.endpoint.targets for holding in there.row(KEY)] == [("192.0.2.1",)]
    assert plan_of(engine, there) == Plan()
    return engine, there


def after(*objects: KubernetesObject) -> Plan:
    engine, there = published()
    for obj in objects:
        engine.put(obj)
    engine.run_stale()
    return plan_of(engine, there)


def deletions(plan: Plan) -> list[tuple[str, str]]:
    return [(change.action, cause.kind) for change in plan.changes for cause in change.causes]


def holds(plan: Plan) -> list[tuple[str, str]]:
    return [(held.action, held.cause.kind) for held in plan.held]


SELECTED = {"namespaces": {"from": "Selector", "selector": {"matchLabels": {"team": "a"}}}}
DOUBTS = {
    "the Gateway lost its addresses": gateway(addresses=()),
    "the Route is not accepted any more": route(answers=[(parent(), "False")]),
    "nobody has answered to the Route": route(answers=[]),
    "acceptance is unknown": route(answers=[(parent(), "Unknown")]),
    "the namespace of the Route is not known": gateway(listeners=[listener(allowedRoutes=SELECTED)]),
    "the name was taken out and no controller has seen that yet": route(
        hostnames=["new.example.com"], generation=2, observed=1
    ),
    "the name was taken out of a Route that nobody has answered to": route(hostnames=["new.example.com"], answers=[]),
    "the name was taken out of a Route that was refused before that": route(
        hostnames=["new.example.com"], generation=2, observed=1, answers=[(parent(), "False")]
    ),
    "the address is of no use": gateway(addresses=["not an address"]),
}
FACTS = {
    "the Route has another name": route(hostnames=["new.example.com"], generation=2, observed=2),
    "the Route has another name and was refused": route(hostnames=["new.example.com"], answers=[(parent(), "False")]),
    "the Route is on another Gateway": route(parents=[parent("other")]),
    "the listener has another hostname": gateway(listeners=[listener(hostname="other.example.com")]),
    "the listener takes no Routes of that namespace": gateway(
        listeners=[listener(allowedRoutes={"namespaces": {"from": "Same"}})]
    ),
    "the Route is for another controller": route(annotations={"external-dns.kubernetes.io/controller": "other"}),
}


@pytest.mark.parametrize("doubt", DOUBTS)
def test_in_doubt_a_record_is_held(doubt: str) -> None:
    plan = after(DOUBTS[doubt])
    assert [change.action for change in plan.changes if change.action != "create"] == []
    assert holds(plan) == [("delete", "doubtful")]
    assert plan.held[0].cause.message


@pytest.mark.parametrize("fact", FACTS)
def test_a_record_that_its_object_let_go_is_deleted(fact: str) -> None:
    assert ("delete", "detached") in deletions(after(FACTS[fact]))


def test_a_record_whose_object_is_gone_is_deleted() -> None:
    engine, there = published()
    engine.remove(route().ref)
    engine.run_stale()
    plan = plan_of(engine, there)
    assert deletions(plan) == [("delete", "gone")]
    assert plan.changes[0].causes[0].message == "HTTPRoute shop/cart is gone"


def test_a_gateway_that_is_gone_lets_its_names_go() -> None:
    engine, there = published()
    engine.remove(gateway().ref)
    engine.run_stale()
    assert deletions(plan_of(engine, there)) == [("delete", "detached")]


def test_while_a_kind_cannot_be_read_its_records_are_held() -> None:
    engine, there = published()
    engine.remove(route().ref)
    engine.run_stale()
    assert holds(plan_of(engine, there, (HTTPRoute.KIND.kind,))) == [("delete", "doubtful")]


@pytest.mark.parametrize("resource", ["ingress/shop/cart", "crd/shop/static", "odd"])
def test_a_record_of_a_source_that_is_not_read_is_held(resource: str) -> None:
    engine, _ = published()
    standing = Standings(engine)(resource, KEY)
    assert standing.kind == "doubtful"
    assert resource in standing.message


def test_a_record_set_comes_and_goes_with_its_claims() -> None:
    engine, _ = published()
    assert record_set_at(engine, KEY) is not None
    engine.remove(route().ref)
    engine.run_stale()
    assert record_set_at(engine, KEY) is None


def test_a_name_moves_from_one_route_to_another_without_a_gap() -> None:
    engine, there = published()
    engine.put(route("heir", parents=[parent("west")], created="2026-05-01T00:00:00Z"))
    engine.put(gateway("west", ["198.51.100.2"]))
    engine.remove(route().ref)
    engine.run_stale()
    plan = plan_of(engine, there)
    assert [(change.action, change.record.targets) for change in plan.changes] == [("update", ("198.51.100.2",))]
    assert plan.changes[0].record.labels["resource"] == "httproute/shop/heir"


def test_without_a_registry_a_record_that_no_object_here_asked_for_is_held() -> None:
    engine, _ = published()
    assert Standings(engine, is_owner_known=False)("", ("www.example.com", "")).kind == "doubtful"
    assert Standings(engine)("", ("www.example.com", "")).kind == "gone"


def test_without_a_registry_a_name_whose_object_was_seen_goes_with_it() -> None:
    engine, _ = published()
    engine.remove(route().ref)
    engine.run_stale()
    seen = {KEY: "httproute/shop/cart"}
    assert Standings(engine, is_owner_known=False, seen=seen)("", KEY).kind == "gone"


@pytest.mark.parametrize(
    "doubt",
    [gateway(addresses=()), route(answers=[(parent(), "False")]), route(hostnames=["new.example.com"], generation=2)],
)
def test_a_doubt_about_the_state_of_an_object_may_end(doubt: KubernetesObject) -> None:
    assert [held.cause.may_end for held in after(doubt).held] == [True]


def test_that_something_cannot_be_read_never_ends_by_itself() -> None:
    engine, there = published()
    engine.remove(route().ref)
    engine.run_stale()
    assert [held.cause.may_end for held in plan_of(engine, there, (HTTPRoute.KIND.kind,)).held] == [False]
    assert Standings(engine)("ingress/shop/cart", KEY).may_end is False


def test_while_an_object_is_missing_from_an_index_nothing_is_let_go() -> None:
    engine, there = published()
    index = Index("broken", HTTPRoute, lambda obj: [])
    place = ("broken", route().ref)
    engine.put(route(hostnames=["new.example.com"]))
    engine.run_stale()
    engine.failures[place] = Failure(index, route().ref, ValueError("a fault of ours"))
    assert holds(plan_of(engine, there)) == [("delete", "doubtful")]
    del engine.failures[place]
    assert ("delete", "detached") in deletions(plan_of(engine, there))
