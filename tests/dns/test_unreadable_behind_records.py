"""Objects that are there and cannot be read: what is published because of them is held, and the field is named."""

from __future__ import annotations

import pytest
from dns_objects import HTTP_ROUTES, engine_of, gateway, listener, parent, route, value_at

from gatepost.dns.claims import CLAIMS
from gatepost.dns.desired import record_sets
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership.changes import changes_for
from gatepost.dns.ownership.registry import inventory
from gatepost.dns.plan import DELETE, Plan
from gatepost.dns.planner import Planner
from gatepost.dns.settings import DnsSettings
from gatepost.dns.standing import Standings
from gatepost.objects.core import Namespace
from gatepost.objects.gatewayapi import Gateway
from gatepost.objects.meta import KubernetesObject, ObjectMeta
from gatepost.objects.problems import UNREADABLE, Problem, Skipped
from gatepost.objects.refs import Ref
from gatepost.runtime.dns.doubts import problem_of as told_of
from gatepost.state.engine import Engine

SELECTED = {"namespaces": {"from": "Selector", "selector": {"matchLabels": {"team": "a"}}}}
SHOP = Namespace(metadata=ObjectMeta(name="shop", labels={"team": "a"}))
NAMING = gateway(listeners=[listener(hostname="app.example.com")])
SELECTING = gateway(listeners=[listener(allowedRoutes=SELECTED)])


def problem_of(ref: Ref) -> Problem:
    return Problem(UNREADABLE, "cannot be read: Expected `int`, got `str`", ref, "metadata.generation")


def said_of(ref: Ref) -> Skipped:
    return Skipped(UNREADABLE, "cannot be read: Expected `int`, got `str`", ref, "metadata.generation")


def plan_of(engine: Engine, there: Inventory, settings: DnsSettings = HTTP_ROUTES) -> Plan:
    standings = Standings(engine, namespace=settings.namespace)
    return Planner(settings, standings).plan_all(there, record_sets(engine), allow=True)


def published(*objects: KubernetesObject, settings: DnsSettings = HTTP_ROUTES) -> Inventory:
    """What DNS holds once these objects are published."""
    engine = engine_of(settings, *objects)
    there = inventory(settings, [], ["example.com"])
    there.take(changes_for(plan_of(engine, there, settings).allowed, there))
    assert plan_of(engine, there, settings) == Plan()
    return there


def restarted(*objects: KubernetesObject, unreadable: Ref, settings: DnsSettings = HTTP_ROUTES) -> Engine:
    """An engine that has never seen the unreadable object in another form."""
    engine = engine_of(settings, *objects)
    engine.put_unreadable(problem_of(unreadable))
    engine.run_stale()
    assert not engine.failures
    return engine


@pytest.mark.parametrize(
    ("objects", "unreadable"),
    [
        ((SELECTING, SHOP, route()), SELECTING.ref),
        ((SELECTING, SHOP, route()), SHOP.ref),
        ((SELECTING, SHOP, route()), route().ref),
        ((NAMING, route(hostnames=[])), NAMING.ref),
    ],
    ids=["the Gateway", "the Namespace", "the Route", "the Gateway of a Route without hostnames"],
)
def test_a_record_is_held_while_an_object_behind_it_cannot_be_read(
    objects: tuple[KubernetesObject, ...], unreadable: Ref
) -> None:
    there = published(*objects)
    others = [obj for obj in objects if obj.ref != unreadable]
    plan = plan_of(restarted(*others, unreadable=unreadable), there)
    assert plan.changes == ()
    assert [(held.action, held.cause.kind, held.cause.may_end) for held in plan.held] == [("delete", "doubtful", False)]
    assert str(said_of(unreadable)) in plan.held[0].cause.message


def test_the_reason_names_the_object_and_its_field_instead_of_saying_that_it_does_not_exist() -> None:
    engine = restarted(route(), unreadable=gateway().ref)
    assert value_at(engine, CLAIMS, route().ref).skipped == (said_of(gateway().ref),)
    absent = engine_of(HTTP_ROUTES, route())
    assert value_at(absent, CLAIMS, route().ref).skipped[0].reason == "NoSuchParent"


def test_a_section_of_a_gateway_that_cannot_be_read_is_not_said_to_be_missing() -> None:
    to_section = route(parents=[parent(section="web")])
    engine = restarted(to_section, unreadable=gateway().ref)
    assert value_at(engine, CLAIMS, to_section.ref).skipped == (said_of(gateway().ref),)


def test_the_addresses_of_a_parent_that_cannot_be_read_stay_beside_those_of_one_that_can() -> None:
    both = route(parents=[parent(), parent("other")])
    there = published(gateway(), gateway("other", ["192.0.2.9"]), both)
    plan = plan_of(restarted(gateway(), both, unreadable=gateway("other").ref), there)
    assert plan.changes == ()
    assert [held.cause.kind for held in plan.held] == ["doubtful"]


def test_the_names_of_listeners_are_held_while_their_gateway_cannot_be_read() -> None:
    settings = DnsSettings(sources=("gateway-listener",), txt_owner_id="me")
    there = published(NAMING, settings=settings)
    plan = plan_of(restarted(unreadable=NAMING.ref, settings=settings), there, settings)
    assert plan.changes == ()
    assert [held.cause.message for held in plan.held] == [str(said_of(NAMING.ref))]


def test_once_the_object_is_read_or_gone_nothing_is_held_any_more() -> None:
    there = published(gateway(), route())
    engine = restarted(route(), unreadable=gateway().ref)
    assert plan_of(engine, there).held
    engine.put(gateway())
    engine.run_stale()
    assert plan_of(engine, there) == Plan()
    engine.remove(Gateway.KIND.ref("infra", gateway().metadata.name))
    engine.run_stale()
    assert [change.action for change in plan_of(engine, there).changes] == ["delete"]


def test_a_record_is_held_that_only_the_present_form_of_a_route_may_ask_for() -> None:
    there = published(gateway(), route(hostnames=["app.example.com"]))
    engine = engine_of(HTTP_ROUTES, gateway(), route(hostnames=["other.example.com"]))
    engine.put_unreadable(problem_of(route().ref))
    engine.run_stale()
    held = [(held.action, held.record.dns_name) for held in plan_of(engine, there).held]
    assert held == [("delete", "app.example.com")]
    engine.put(route(hostnames=["other.example.com"]))  # as it was: an edit that was taken back
    engine.run_stale()
    plan = plan_of(engine, there)
    assert plan.held == ()
    assert [change.action for change in plan.changes if change.record.dns_name == "app.example.com"] == ["delete"]


# A label names one object, and several may have asked for the name

OTHER = route("other")


def deletions(plan: Plan) -> list[str]:
    return [change.record.dns_name for change in plan.changes if change.action == DELETE]


def test_a_record_stays_that_an_unreadable_object_may_ask_for_beside_the_one_that_is_gone() -> None:
    there = published(gateway(), route(), OTHER)
    engine = restarted(gateway(), unreadable=OTHER.ref)  # the label names the Route that is gone
    (held,) = plan_of(engine, there).held
    assert (held.action, held.record.dns_name, held.cause.kind, held.cause.may_end) == (
        "delete",
        "app.example.com",
        "doubtful",
        False,
    )
    assert held.cause.message == (
        f"{route().ref} is gone, and what {OTHER.ref} asks for is not known: {said_of(OTHER.ref)}"
    )
    told = told_of(held)
    assert told is not None
    assert told.about == OTHER.ref
    engine.put(OTHER)
    engine.run_stale()
    assert plan_of(engine, there).held == ()


def test_a_record_stays_that_the_present_form_of_another_object_may_ask_for() -> None:
    there = published(gateway(), route(hostnames=["app.example.com"]), route("other", ["other.example.com"]))
    engine = engine_of(HTTP_ROUTES, gateway(), route(hostnames=[]), route("other", ["other.example.com"]))
    engine.put_unreadable(problem_of(OTHER.ref))
    engine.run_stale()
    plan = plan_of(engine, there)
    assert (deletions(plan), [held.record.dns_name for held in plan.held]) == ([], ["app.example.com"])


def test_what_is_known_to_be_asked_for_is_published_although_another_object_may_ask_for_it_too() -> None:
    there = published(gateway(), route())
    moved = (gateway("other", ["192.0.2.9"]), route("new", parents=[parent("other")]))
    plan = plan_of(restarted(gateway(), *moved, unreadable=OTHER.ref), there)
    assert [change.new.targets for change in plan.changes if change.new is not None] == [("192.0.2.9",)]
    assert plan.held == ()


@pytest.mark.parametrize(
    ("settings", "unreadable", "expected"),
    [
        (DnsSettings(sources=("gateway-httproute",), txt_owner_id="me", namespace="shop"), OTHER.ref, []),
        (
            DnsSettings(sources=("gateway-httproute",), txt_owner_id="me", namespace="shop"),
            route(namespace="bar").ref,
            ["app.example.com"],
        ),
        (HTTP_ROUTES, route(kind="GRPCRoute").ref, ["app.example.com"]),
        (HTTP_ROUTES, gateway().ref, ["app.example.com"]),
    ],
    ids=[
        "a Route",
        "a Route that --namespace leaves out",
        "of a kind that is no source",
        "a Gateway, which asks for none",
    ],
)
def test_only_an_object_that_may_ask_for_names_holds_records(
    settings: DnsSettings, unreadable: Ref, expected: list[str]
) -> None:
    there = published(gateway(), route(), settings=settings)
    plan = plan_of(restarted(unreadable=unreadable, settings=settings), there, settings)
    assert deletions(plan) == expected
