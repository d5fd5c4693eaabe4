"""The promises of this controller as properties, over random KIngresses, Gateways and routes, and random edits."""

from __future__ import annotations

import copy
from typing import Any

from gateway_world import (
    EDGE,
    INSIDE,
    PUBLIC,
    SERVED,
    config,
    gateway,
    ingress,
    parents,
    path,
    public_rule,
    rendered,
    route_of,
    tls,
    verdict,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from knative_objects import START

from gatepost.objects.kinds import typed
from gatepost.objects.refs import Ref, ref_of
from gatepost.reconcilers import gateway as controller
from gatepost.reconcilers.gateway.listeners import LISTENERS
from gatepost.reconcilers.gateway.reconcile import KINGRESS
from gatepost.state.engine import Engine
from gatepost.writes.outcome import Outcome

Raw = dict[str, Any]

HOSTS = st.sampled_from(["a.example.com", "b.example.com", "*.example.com"])
NAMES = st.sampled_from(["one", "two"])


@st.composite
def kingresses(draw: st.DrawFn) -> Raw:
    hosts = draw(st.lists(HOSTS, max_size=2, unique=True))
    name = draw(NAMES)
    rules = [public_rule(host, path(draw(st.sampled_from(["blue", "green"])))) for host in hosts]
    metadata: Raw = {"creationTimestamp": draw(st.sampled_from(["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"]))}
    if draw(st.integers(0, 5)) == 0:
        metadata["deletionTimestamp"] = "2026-03-01T00:00:00Z"
        metadata["finalizers"] = ["ingresses.networking.internal.knative.dev"]
    secured = draw(st.booleans())
    option = draw(st.sampled_from(["Enabled", "Redirected"]))
    entries = [tls(host, "cert") for host in hosts] if secured else []
    made = ingress(name, *rules, metadata=metadata, httpOption=option, tls=entries)
    made["status"] = {"observedGeneration": draw(st.integers(0, 1))}
    return made


@st.composite
def gateways(draw: st.DrawFn) -> Raw:
    listeners = [
        {"name": f"kni-uid-shop-{name}", "hostname": draw(HOSTS), "port": 443, "protocol": "HTTPS"}
        for name in draw(st.lists(NAMES, unique=True))
    ]
    address = draw(st.sampled_from([None, "192.0.2.10", "192.0.2.11"]))
    return gateway(draw(st.sampled_from(["public", "inside", "other"])), *listeners, address=address)


@st.composite
def http_routes(draw: st.DrawFn) -> Raw:
    owner = ingress(draw(NAMES))
    accepted = draw(st.sampled_from(["True", "False"]))
    status = parents(verdict(("Accepted", accepted), ("ResolvedRefs", "True")))
    return route_of(owner, draw(st.sampled_from(["a.example.com", "b.example.com"])), status=status)


CONFIGS = st.sampled_from([config(), config(external="edge/other"), {**config(), "data": {"external-gateways": "["}}])
OBJECTS = st.one_of(kingresses(), gateways(), http_routes(), CONFIGS)
EDITS = st.lists(st.tuples(st.booleans(), OBJECTS), max_size=12)


def outcomes(engine: Engine) -> dict[tuple[str, Any], Outcome]:
    engine.run_stale()
    assert not engine.failures, engine.failures
    found: dict[tuple[str, Any], Outcome] = {}
    for rule in (KINGRESS, LISTENERS):
        found |= {(rule.name, key): value for key, value in engine.values(rule) if value is not None}
    return found


def fresh(objects: dict[Ref, Raw]) -> Engine:
    engine = Engine(controller.RULES, controller.INDEXES, START)
    for raw in objects.values():
        engine.put(typed(raw))
    return engine


@given(EDITS)
@settings(max_examples=150, deadline=None)
def test_edits_one_by_one_lead_where_a_fresh_start_does(edits: list[tuple[bool, Raw]]) -> None:
    objects: dict[Ref, Raw] = {ref_of(raw): raw for raw in EDGE}
    engine = fresh(objects)
    for removes, raw in edits:
        if removes:
            objects.pop(ref_of(raw), None)
            engine.remove(ref_of(raw))
        else:
            objects[ref_of(raw)] = raw
            engine.put(typed(raw))
        assert outcomes(engine) == outcomes(fresh(objects))


@given(st.lists(OBJECTS, max_size=8))
@settings(max_examples=60, deadline=None)
def test_order_of_the_input_does_not_matter_and_the_result_is_at_rest(raws: list[Raw]) -> None:
    given_objects = {ref_of(raw): raw for raw in (*EDGE, *raws)}
    forward = rendered(*copy.deepcopy(list(given_objects.values())))
    backward = rendered(*copy.deepcopy(list(given_objects.values())[::-1]))
    assert forward == backward
    assert rendered(*copy.deepcopy(list(forward.values()))) == forward


@given(st.lists(st.one_of(kingresses(), gateways()), max_size=6))
@settings(max_examples=60, deadline=None)
def test_nothing_of_others_is_touched(raws: list[Raw]) -> None:
    by_hand = {"name": "by-hand", "hostname": "a.example.com", "port": 443, "protocol": "HTTPS"}
    unknown = {"name": "kni-unknown", "hostname": "b.example.com", "port": 443, "protocol": "HTTPS"}
    owned = route_of(ingress("someone", namespace="shop"), "a.example.com", status=parents(verdict(*SERVED)))
    public = gateway("public", by_hand, unknown)
    given_objects = {ref_of(raw): raw for raw in (config(), INSIDE, *raws, public, owned)}
    after = rendered(*copy.deepcopy(list(given_objects.values())))
    standing = after[ref_of(PUBLIC)]["spec"]["listeners"]
    assert [listener for listener in standing if listener["name"] in ("by-hand", "kni-unknown")] == [by_hand, unknown]
    assert after[ref_of(owned)]["spec"] == owned["spec"]
    places = [(listener["port"], listener.get("hostname")) for listener in standing]
    assert len(places) == len(set(places))


GOOD_CONFIGS = st.sampled_from([config(), config(external="edge/other")])


@given(kingresses(), kingresses(), GOOD_CONFIGS, GOOD_CONFIGS)
@settings(max_examples=60, deadline=None)
def test_a_spec_leaves_nothing_of_the_former_one_behind(former: Raw, latter: Raw, was: Raw, now: Raw) -> None:
    assume(latter["spec"]["rules"])  # without rules, what stands there stays
    name = former["metadata"]["name"]
    for kingress in (former, latter):
        kingress["metadata"] = ingress(name)["metadata"]
    gateways_there = (PUBLIC, INSIDE, gateway("other"))
    standing = rendered(was, *gateways_there, former)
    del standing[ref_of(was)]
    changed = {**standing.pop(ref_of(former)), "spec": latter["spec"]}
    changed["metadata"] = {**changed["metadata"], "generation": 2}
    assert made(rendered(now, *standing.values(), changed)) == made(rendered(now, *gateways_there, latter))


def made(objects: dict[Ref, Raw]) -> dict[Ref, Any]:
    """What is made for KIngresses: listeners in any order, and all else by its spec and labels."""
    found: dict[Ref, Any] = {}
    for ref, raw in objects.items():
        if ref.kind == "Gateway":
            found[ref] = {listener["name"]: listener for listener in raw["spec"]["listeners"]}
        elif ref.kind in ("HTTPRoute", "ReferenceGrant"):
            found[ref] = (raw["spec"], raw["metadata"].get("labels"))
    return found
