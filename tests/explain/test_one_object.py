"""KIND/NAME: which object is meant, and what the rules say of it."""

from __future__ import annotations

import pytest
from explain_world import (
    KNATIVE,
    core_service,
    domain_mapping,
    gateway,
    http_route,
    settled,
    standing_domain,
)

from gatepost.explain.one_object import Ambiguous, UnknownKind, explain_object, find_object, kind_named
from gatepost.objects.refs import GroupKind, Ref

MAPPING = Ref("serving.knative.dev", "DomainMapping", "shop", "app.example.com")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("dm", GroupKind("serving.knative.dev", "DomainMapping")),
        ("DomainMapping", GroupKind("serving.knative.dev", "DomainMapping")),
        ("domainmappings.serving.knative.dev", GroupKind("serving.knative.dev", "DomainMapping")),
        ("route", GroupKind("serving.knative.dev", "Route")),
        ("kingress", GroupKind("networking.internal.knative.dev", "Ingress")),
        ("httproutes", GroupKind("gateway.networking.k8s.io", "HTTPRoute")),
        ("gtw", GroupKind("gateway.networking.k8s.io", "Gateway")),
        ("service", GroupKind("", "Service")),
        ("ksvc", GroupKind("serving.knative.dev", "Service")),
        ("services.serving.knative.dev", GroupKind("serving.knative.dev", "Service")),
    ],
)
def test_kinds_are_called_as_kubectl_calls_them(text: str, kind: GroupKind) -> None:
    assert kind_named(text) == kind


def test_unknown_kind_gives_near_ones() -> None:
    with pytest.raises(UnknownKind, match="'httprout'; near ones: httproute"):
        kind_named("httprout")


def test_object_is_found_in_the_one_namespace_that_has_it() -> None:
    engine = settled(http_route("app", "app.example.com")).engine
    assert str(find_object(engine, kind_named("httproute"), "app")) == "HTTPRoute shop/app"


def test_object_of_two_namespaces_needs_one_of_them() -> None:
    other = http_route("app", "app.example.com")
    other["metadata"]["namespace"] = "other"
    engine = settled(http_route("app", "app.example.com"), other).engine
    with pytest.raises(Ambiguous, match="HTTPRoute other/app, HTTPRoute shop/app"):
        find_object(engine, kind_named("httproute"), "app")
    assert find_object(engine, kind_named("httproute"), "app", "other").namespace == "other"


def test_object_that_is_not_there_is_looked_for_in_namespace_default() -> None:
    engine = settled().engine
    ref = find_object(engine, kind_named("httproute"), "app")
    found = explain_object(engine, ref)
    assert (str(ref), found.exists, found.is_in_order) == ("HTTPRoute default/app", False, False)


def test_mapping_tells_what_it_wants_what_it_reads_and_why_it_stopped() -> None:
    engine = settled(*KNATIVE, domain_mapping("app.example.com", "cart")).engine
    found = explain_object(engine, MAPPING)
    (finding,) = found.findings
    assert (finding.rule, finding.blocked) == ("domainmapping", True)
    assert [problem.field for problem in finding.problems] == ["spec.ref.name"]
    assert "Service shop/cart (not there)" in finding.reads
    assert "DomainMapping shop/app.example.com" in finding.reads
    assert not found.is_in_order


def test_object_tells_who_reads_it_even_when_it_is_not_there() -> None:
    engine = settled(*KNATIVE, domain_mapping("app.example.com", "cart")).engine
    missing = explain_object(engine, Ref("serving.knative.dev", "Service", "shop", "cart"))
    assert missing.read_by == ("domainmapping of DomainMapping shop/app.example.com",)


def test_mapping_that_serves_is_in_order() -> None:
    web = domain_mapping("app.example.com", "web", api_version="v1")
    engine = settled(*KNATIVE, core_service("web"), web, *standing_domain("app.example.com", ("web", 100))).engine
    found = explain_object(engine, MAPPING)
    assert found.is_in_order
    wanted = [(write.verb, str(write.about), write.is_there) for write in found.findings[0].writes]
    assert ("apply", "Ingress shop/app.example.com", True) in wanted


def test_route_tells_the_names_that_it_claims() -> None:
    engine = settled(gateway(), http_route("app", "b.example.com", "a.example.com")).engine
    found = explain_object(engine, find_object(engine, kind_named("httproute"), "app"))
    (claims,) = [finding for finding in found.findings if finding.rule == "dns claims"]
    assert claims.names == ("b.example.com", "a.example.com")


def test_gateway_tells_the_routes_that_rest_on_it() -> None:
    engine = settled(gateway(), http_route("app", "app.example.com")).engine
    found = explain_object(engine, find_object(engine, kind_named("gateway"), "public"))
    assert "dns claims of HTTPRoute shop/app" in found.read_by
