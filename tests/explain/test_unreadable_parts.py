"""Objects that are there and cannot be read: `explain` names them and the field; it does not call them absent."""

from __future__ import annotations

from typing import Any

from explain_world import (
    KNATIVE,
    Raw,
    core_service,
    domain_mapping,
    explained,
    gateway,
    http_route,
    knative_service,
    settled,
    step,
)

from gatepost.explain.one_object import explain_object, find_object, kind_named
from gatepost.explain.values import Explanation
from gatepost.objects.problems import Problem


def first(explanation: Explanation) -> tuple[str, str, str]:
    """Reason, object and field of the first reason."""
    why = explanation.reasons[0]
    return why.reason, str(why.about if isinstance(why, Problem) else why.at), why.field


def unreadable_gateway() -> Raw:
    raw = gateway()
    raw["spec"]["listeners"][0]["port"] = "80"
    return raw


def with_spec(raw: Raw, **fields: Any) -> Raw:
    return {**raw, "spec": {**raw.get("spec", {}), **fields}}


def test_a_gateway_that_cannot_be_read_is_on_the_way_of_its_routes() -> None:
    found = explained("app.example.com", unreadable_gateway(), http_route("app", "app.example.com"))
    assert found.verdict == "not served"
    assert first(found) == ("UnreadableObject", "Gateway infra/public", "spec.listeners[0].port")
    assert step(found, "Gateway infra/public").exists
    absent = explained("app.example.com", http_route("app", "app.example.com"))
    assert first(absent) == ("NoSuchParent", "Gateway infra/public", "")


def test_a_mapping_stops_at_a_service_that_cannot_be_read() -> None:
    service = {**knative_service("cart"), "metadata": {**knative_service("cart")["metadata"], "generation": "one"}}
    found = explained("shop.example.com", *KNATIVE, domain_mapping("shop.example.com", "cart"), service)
    assert first(found) == ("UnreadableObject", "Service shop/cart", "metadata.generation")


def test_the_name_of_a_service_that_cannot_be_read_is_not_said_to_be_unknown() -> None:
    service = with_spec(core_service("web"), ports="80")
    found = explained("web.shop.svc.cluster.local", service)
    assert first(found) == ("UnreadableObject", "Service shop/web", "spec.ports")


def test_for_a_name_that_nothing_mentions_the_routes_that_cannot_be_read_are_named() -> None:
    route = with_spec(http_route("app", "app.example.com"), hostnames="app.example.com")
    found = explained("app.example.com", unreadable_gateway(), route)
    assert found.summary == (
        "no DomainMapping, Route, KIngress, Gateway API route or DNSEndpoint mentions app.example.com; "
        "what HTTPRoute shop/app would say cannot be read"
    )


def test_an_object_that_cannot_be_read_exists_and_is_not_in_order() -> None:
    engine = settled(unreadable_gateway(), http_route("app", "app.example.com")).engine
    found = explain_object(engine, find_object(engine, kind_named("gateway"), "public"))
    assert (str(found.about), found.exists, found.is_in_order) == ("Gateway infra/public", True, False)
    assert found.unreadable is not None
    assert found.unreadable.field == "spec.listeners[0].port"
    route = explain_object(engine, find_object(engine, kind_named("httproute"), "app"))
    (claims,) = [finding for finding in route.findings if finding.rule == "dns claims"]
    assert [(why.reason, str(why.at)) for why in claims.skipped] == [("UnreadableObject", "Gateway infra/public")]
