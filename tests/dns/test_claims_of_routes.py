"""What Routes claim, why they claim nothing, and what a change wakes."""

from __future__ import annotations

from typing import Any

from dns_objects import HTTP_ROUTES, START, answers, endpoints_of, engine_of, gateway, listener, parent, route
from msgspec.structs import replace

from gatepost.dns.claims import CLAIMS, RECORD_SETS
from gatepost.dns.desired import changed_names
from gatepost.dns.records import Claims, RecordSet
from gatepost.dns.rules import rules
from gatepost.dns.settings import DnsSettings
from gatepost.objects.gatewayapi import Gateway
from gatepost.objects.kinds import typed
from gatepost.objects.meta import Condition, KubernetesObject
from gatepost.objects.refs import Ref
from gatepost.state.engine import Engine
from gatepost.state.rule import Rule

TLS_WILDCARD = listener("tls", "*.example.com", protocol="HTTPS", port=443)


def claims_of(obj: KubernetesObject, *others: KubernetesObject, settings: DnsSettings = HTTP_ROUTES) -> Claims:
    engine = engine_of(settings, obj, *others)
    found = engine.value(engine.rule(CLAIMS), obj.ref)
    assert isinstance(found, Claims)
    return found


def record_set(engine: Engine, name: str) -> RecordSet:
    found = engine.value(engine.rule(RECORD_SETS), (name, ""))
    assert isinstance(found, RecordSet)
    return found


def reasons(claims: Claims) -> list[tuple[str, str]]:
    return [(why.reason, why.field) for why in claims.skipped]


def test_every_hostname_of_a_route_is_a_claim() -> None:
    found = claims_of(route(hostnames=["a.example.com", "b.example.com"]), gateway())
    assert [claim.name for claim in found.claims] == ["a.example.com", "b.example.com"]
    assert found.skipped == ()


def test_a_listener_that_no_hostname_meets_is_named() -> None:
    edge = gateway(listeners=[listener(hostname="other.example.com"), TLS_WILDCARD])
    found = claims_of(route(), edge)
    assert [claim.name for claim in found.claims] == ["app.example.com"]
    assert [(why.at, why.field) for why in found.skipped] == [(edge.ref, "spec.listeners[0].hostname")]


def test_a_hostname_that_meets_no_listener_is_named() -> None:
    found = claims_of(route(hostnames=["app.example.org"]), gateway(listeners=[TLS_WILDCARD]))
    assert found.claims == ()
    assert reasons(found) == [
        ("NoMatchingListenerHostname", "spec.listeners[0].hostname"),
        ("NoMatchingListener", "spec.hostnames"),
    ]


def test_a_route_without_any_hostname_is_told_why_it_has_none() -> None:
    unnamed = route(hostnames=[])
    wildcard = gateway(listeners=[listener(hostname="*.example.com")])
    exact = replace(HTTP_ROUTES, listener_hostname_fallback="exact")
    (why,) = claims_of(unnamed, wildcard, settings=exact).skipped
    assert (why.reason, why.at, why.field) == ("WildcardHostname", wildcard.ref, "spec.listeners[0].hostname")
    none = replace(HTTP_ROUTES, listener_hostname_fallback="none")
    (why,) = claims_of(unnamed, wildcard, settings=none).skipped
    assert (why.reason, why.at) == ("NoHostname", unnamed.ref)
    assert "--listener-hostname-fallback none" in why.message
    source = {"external-dns.kubernetes.io/gateway-hostname-source": "defined-hosts-only"}
    (why,) = claims_of(route(hostnames=[], annotations=source), wildcard).skipped
    assert (why.reason, "gateway-hostname-source=defined-hosts-only" in why.message) == ("NoHostname", True)


def test_each_no_says_which_object_and_field_decided() -> None:
    closed = {"namespaces": {"from": "Same"}}
    kinds = {"namespaces": {"from": "All"}, "kinds": [{"kind": "GRPCRoute"}]}
    edge = gateway(
        listeners=[
            listener("tcp", protocol="TCP"),
            listener("kinds", allowedRoutes=kinds),
            listener("closed", allowedRoutes=closed),
        ]
    )
    assert reasons(claims_of(route(), edge)) == [
        ("ProtocolMismatch", "spec.listeners[0].protocol"),
        ("KindNotAllowed", "spec.listeners[1].allowedRoutes.kinds"),
        ("NotAllowedByListeners", "spec.listeners[2].allowedRoutes.namespaces.from"),
        ("NoMatchingListener", "spec.hostnames"),
    ]


def test_a_gateway_that_does_not_exist_is_a_fact_and_holds_nothing() -> None:
    found = claims_of(route())
    assert found.claims == ()
    assert reasons(found)[0] == ("NoSuchParent", "")


def test_a_route_that_is_not_accepted_keeps_a_doubtful_claim() -> None:
    found = claims_of(route(answers=[(parent(), "False")]), gateway())
    assert [(claim.name, claim.records) for claim in found.claims] == [("app.example.com", ())]
    assert found.claims[0].doubt is not None
    assert found.claims[0].doubt.reason == "NotAccepted"


def test_a_gateway_without_addresses_leaves_doubtful_claims() -> None:
    edge = gateway(addresses=())
    engine = engine_of(HTTP_ROUTES, edge, route())
    settled = record_set(engine, "app.example.com")
    assert settled.endpoints == ()
    assert settled.hold is not None
    assert (settled.hold.reason, settled.hold.at) == ("NoAddress", edge.ref)


def test_a_selector_on_an_unknown_namespace_is_a_doubt() -> None:
    selector = {"namespaces": {"from": "Selector", "selector": {"matchLabels": {"team": "a"}}}}
    edge = gateway(listeners=[listener(allowedRoutes=selector)])
    found = claims_of(route(), edge)
    assert [(claim.name, claim.doubt and claim.doubt.reason) for claim in found.claims] == [
        ("app.example.com", "NamespaceUnknown")
    ]
    namespace = typed({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "b"}}})
    assert claims_of(route(), edge, namespace).claims == ()


def test_one_of_two_gateways_without_address_publishes_the_other_and_says_that_more_may_come() -> None:
    parents = [parent("east"), parent("west")]
    engine = engine_of(HTTP_ROUTES, gateway("east"), gateway("west", addresses=()), route(parents=parents))
    settled = record_set(engine, "app.example.com")
    assert [record.targets for record in settled.records] == [("192.0.2.1",)]
    assert settled.hold is not None
    assert settled.hold.reason == "NoAddress"


def test_a_status_entry_for_a_section_that_the_route_left_plays_no_part() -> None:
    edge = gateway(listeners=[listener("a", "a.example.com"), listener("b", "b.example.com")])
    moved = route(
        hostnames=[],
        parents=[parent(section="b")],
        answers=[(parent(section="a"), "True"), (parent(section="b"), "True")],
    )
    assert answers(endpoints_of(HTTP_ROUTES, edge, moved)) == {("b.example.com", "A"): ("192.0.2.1",)}


def test_a_route_on_its_way_to_another_section_keeps_the_name_of_the_old_one() -> None:
    edge = gateway(listeners=[listener("a", "a.example.com"), listener("b", "b.example.com")])
    moving = route(hostnames=[], parents=[parent(section="b")], answers=[(parent(section="a"), "True")])
    assert answers(endpoints_of(HTTP_ROUTES, edge, moving)) == {("a.example.com", "A"): ("192.0.2.1",)}


def test_a_route_whose_status_lags_says_so() -> None:
    assert claims_of(route(generation=3, observed=2), gateway()).lagging is not None
    assert claims_of(route(generation=3, observed=3), gateway()).lagging is None


def test_sections_are_looked_up_among_all_listeners_even_closed_ones() -> None:
    edge = gateway(listeners=[listener("web"), listener("web", protocol="TCP", port=81)])
    assert endpoints_of(HTTP_ROUTES, edge, route(parents=[parent(section="web")])) == ()


# What reran


class Recorder:
    """Stands in for a rule and notes its keys."""

    def __init__(self, rule: Rule[Any]) -> None:
        self.keys: list[Any] = []
        self._run = rule.run
        rule.run = self

    def __call__(self, key: Any, view: Any) -> Any:
        self.keys.append(key)
        return self._run(key, view)

    def take(self) -> list[Any]:
        keys, self.keys = self.keys, []
        return keys


def recorded_engine() -> tuple[Engine, Recorder, Recorder]:
    found, indexes = rules(HTTP_ROUTES)
    by_name = {rule.name: rule for rule in found}
    recorders = Recorder(by_name[CLAIMS]), Recorder(by_name[RECORD_SETS])
    engine = Engine(found, indexes, START)
    for name in ("east", "west"):
        engine.put(gateway(name))
        for number in range(20):
            engine.put(route(f"{name}-{number}", [f"{number}.{name}.example.com"], [parent(name)]))
    engine.run_stale()
    for recorder in recorders:
        recorder.take()
    return engine, *recorders


def test_a_changed_hostname_reruns_that_route_and_the_two_names() -> None:
    engine, claims, sets = recorded_engine()
    engine.put(route("east-3", ["new.example.com"], [parent("east")]))
    changes = engine.run_stale()
    assert claims.take() == [Ref("gateway.networking.k8s.io", "HTTPRoute", "shop", "east-3")]
    assert sets.take() == [("new.example.com", "")]  # the old name has no claim left and is dropped
    assert changed_names(changes) == (("3.east.example.com", ""), ("new.example.com", ""))


def test_a_condition_of_a_gateway_wakes_no_route() -> None:
    engine, claims, sets = recorded_engine()
    east = engine.store.get(gateway("east").ref)
    assert isinstance(east, Gateway)
    engine.put(replace(east, status=replace(east.status, conditions=(Condition("Programmed", "True"),))))
    assert engine.run_stale() == []
    assert (claims.take(), sets.take()) == ([], [])


def test_an_address_of_a_gateway_reruns_its_own_routes_only() -> None:
    engine, claims, _ = recorded_engine()
    engine.put(gateway("east", addresses=["192.0.2.9"]))
    engine.run_stale()
    assert sorted(ref.name for ref in claims.take()) == sorted(f"east-{number}" for number in range(20))
