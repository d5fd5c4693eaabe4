"""The table of situations of a DomainMapping to a Knative Service or Route, row by row, each no beside its yes."""

from __future__ import annotations

import pytest
from domain_world import DOMAIN, claim, domain_world, knative_ref, mapping, ready_before
from knative_objects import (
    Raw,
    applied,
    conditions,
    event_reasons,
    kingress,
    knative_service,
    local_hosts,
    meta,
    network,
    route,
    rule,
    split,
    the,
)

SERVICE = knative_service("cart")
ROUTE = route("cart", SERVICE)
LOCAL = rule(local_hosts("cart"), {"splits": [split("cart-00001", Knative_Serving_Revision="cart-00001")]})
SOURCE = kingress("cart", ROUTE, LOCAL)
MAPPING = mapping(knative_ref("cart"), status=ready_before())
REST = (network(), claim())

LEFT = ("Unknown", "IngressNotConfigured")


def test_paths_of_the_local_rule_are_copied_with_the_domain_as_original_host() -> None:
    outcome = domain_world(*REST, SERVICE, ROUTE, SOURCE, MAPPING).outcome(MAPPING)
    assert the(outcome, "Ingress")["spec"] == {
        "httpOption": "Enabled",
        "rules": [
            rule(
                [DOMAIN],
                {
                    "splits": [
                        split(
                            "cart-00001",
                            Knative_Serving_Revision="cart-00001",
                            K_Original_Host=DOMAIN,
                        )
                    ]
                },
                visibility="ExternalIP",
            )
        ],
    }
    assert conditions(outcome)["ReferenceResolved"] == ("True", "")
    assert outcome.problems == []
    assert event_reasons(outcome) == []


def test_everything_but_rewrite_host_and_original_host_is_copied_as_it_is() -> None:
    tagged = {
        "path": "/v2",
        "rewriteHost": "other.shop.svc.cluster.local",
        "headers": {"Knative-Serving-Tag": {"exact": "blue"}},
        "appendHeaders": {"Knative-Serving-Default-Route": "true"},
        "splits": [split("cart-00002", 100, 443, K_Original_Host="someone.else"), split("cart-00001", 0)],
    }
    source = kingress("cart", ROUTE, rule(local_hosts("cart"), tagged))
    outcome = domain_world(*REST, SERVICE, ROUTE, source, MAPPING).outcome(MAPPING)
    [copied] = the(outcome, "Ingress")["spec"]["rules"][0]["http"]["paths"]
    assert copied == {
        "path": "/v2",
        "headers": {"Knative-Serving-Tag": {"exact": "blue"}},
        "appendHeaders": {"Knative-Serving-Default-Route": "true"},
        "splits": [
            split("cart-00002", 100, 443, K_Original_Host=DOMAIN),
            split("cart-00001", 0, K_Original_Host=DOMAIN),
        ],
    }


@pytest.mark.parametrize("ref", [knative_ref("cart"), knative_ref("cart", "Route")])
def test_reference_that_does_not_resolve_leaves_the_ingress_and_tells_an_error(ref: Raw) -> None:
    seen = mapping(ref, status=ready_before())
    outcome = domain_world(*REST, seen).outcome(seen)
    assert applied(outcome, "Ingress") is None
    assert conditions(outcome) == {
        "CertificateProvisioned": ("True", "TLSNotEnabled"),
        "DomainClaimed": ("True", ""),
        "IngressReady": LEFT,
        "Ready": ("False", "ResolveFailed"),
        "ReferenceResolved": ("False", "ResolveFailed"),
    }
    assert event_reasons(outcome) == ["InternalError"]


def test_service_without_address_does_not_resolve() -> None:
    outcome = domain_world(*REST, knative_service("cart", ""), ROUTE, SOURCE, MAPPING).outcome(MAPPING)
    assert conditions(outcome)["ReferenceResolved"] == ("False", "ResolveFailed")
    assert conditions(outcome)["IngressReady"] == LEFT
    [problem] = outcome.problems
    assert str(problem.about) == "Service shop/cart"
    assert problem.field == "status.address"


def test_reference_of_another_kind_that_does_not_resolve_keeps_ingress_ready() -> None:
    other = mapping({"apiVersion": "v1", "kind": "Service", "name": "absent"}, status=ready_before())
    outcome = domain_world(*REST, other).outcome(other)
    assert conditions(outcome)["ReferenceResolved"] == ("False", "ResolveFailed")
    assert conditions(outcome)["IngressReady"] == ("True", "")


@pytest.mark.parametrize("seen", [(), (ROUTE,)], ids=["no Route", "no KIngress of the Route"])
def test_route_or_its_ingress_that_is_not_there_yet_is_waited_for_without_an_error(seen: tuple[Raw, ...]) -> None:
    outcome = domain_world(*REST, SERVICE, MAPPING, *seen).outcome(MAPPING)
    assert applied(outcome, "Ingress") is None
    assert conditions(outcome)["ReferenceResolved"] == ("True", "")
    assert conditions(outcome)["IngressReady"] == LEFT
    assert conditions(outcome)["Ready"] == LEFT
    assert event_reasons(outcome) == []
    assert [problem.reason for problem in outcome.problems] == ["IngressNotConfigured"]


def test_route_and_its_ingress_wake_the_mapping_when_they_appear() -> None:
    world = domain_world(*REST, SERVICE, MAPPING)
    world.put(ROUTE)
    assert applied(world.outcome(MAPPING), "Ingress") is None
    world.put(SOURCE)
    assert applied(world.outcome(MAPPING), "Ingress") is not None


@pytest.mark.parametrize(
    ("found_route", "found_ingress"),
    [
        (route("cart"), SOURCE),
        (route("cart", knative_service("other")), SOURCE),
        (ROUTE, kingress("cart", None, LOCAL)),
        (ROUTE, kingress("cart", SERVICE, LOCAL)),
    ],
    ids=["Route of nobody", "Route of another Service", "KIngress of nobody", "KIngress of the Service"],
)
def test_chain_of_control_that_is_broken_is_not_followed(found_route: Raw, found_ingress: Raw) -> None:
    outcome = domain_world(*REST, SERVICE, found_route, found_ingress, MAPPING).outcome(MAPPING)
    assert applied(outcome, "Ingress") is None
    assert conditions(outcome)["ReferenceResolved"] == ("True", "")
    assert conditions(outcome)["IngressReady"] == ("False", "NotOwned")
    assert conditions(outcome)["Ready"] == ("False", "NotOwned")
    assert [problem.field for problem in outcome.problems] == ["metadata.ownerReferences"]


def test_route_named_by_the_mapping_itself_needs_no_owner() -> None:
    alone = route("cart")
    direct = mapping(knative_ref("cart", "Route"))
    outcome = domain_world(*REST, alone, kingress("cart", alone, LOCAL), direct).outcome(direct)
    assert applied(outcome, "Ingress") is not None


@pytest.mark.parametrize(
    "other",
    [
        rule(local_hosts("basket"), {"splits": [split("cart-00001")]}),
        rule(local_hosts("cart"), {"splits": [split("cart-00001")]}, visibility="ExternalIP"),
        {"hosts": local_hosts("basket"), "visibility": "ClusterLocal"},
    ],
    ids=["other hosts", "other visibility", "other hosts and no http"],
)
def test_without_a_local_rule_for_the_host_nothing_is_written_and_nothing_is_wrong(other: Raw) -> None:
    outcome = domain_world(*REST, SERVICE, ROUTE, kingress("cart", ROUTE, other), MAPPING).outcome(MAPPING)
    assert applied(outcome, "Ingress") is None
    assert conditions(outcome)["ReferenceResolved"] == ("True", "")
    assert conditions(outcome)["IngressReady"] == LEFT
    assert event_reasons(outcome) == []


BROKEN = {"hosts": local_hosts("cart"), "visibility": "ClusterLocal"}


def test_chosen_rule_without_http_is_an_error_that_leaves_ingress_ready_as_it_was() -> None:
    source = kingress("cart", ROUTE, BROKEN, LOCAL)
    outcome = domain_world(*REST, SERVICE, ROUTE, source, MAPPING).outcome(MAPPING)
    assert applied(outcome, "Ingress") is None
    assert conditions(outcome)["ReferenceResolved"] == ("True", "")
    assert conditions(outcome)["IngressReady"] == ("True", "")
    assert event_reasons(outcome) == ["InternalError"]
    assert "spec.rules[0].http" in outcome.events[0].message


def test_chosen_rule_without_http_is_unknown_on_a_new_generation() -> None:
    changed = mapping(knative_ref("cart"), status=ready_before(), metadata={"generation": 2})
    outcome = domain_world(*REST, SERVICE, ROUTE, kingress("cart", ROUTE, BROKEN), changed).outcome(changed)
    assert conditions(outcome)["IngressReady"] == LEFT
    assert conditions(outcome)["Ready"] == LEFT


def test_first_of_several_matching_rules_is_copied() -> None:
    later = rule(local_hosts("cart"), {"splits": [split("cart-00002")]})
    outcome = domain_world(*REST, SERVICE, ROUTE, kingress("cart", ROUTE, LOCAL, later), MAPPING).outcome(MAPPING)
    [path] = the(outcome, "Ingress")["spec"]["rules"][0]["http"]["paths"]
    assert path["splits"][0]["serviceName"] == "cart-00001"


def test_core_service_that_is_the_placeholder_of_a_route_is_reached_by_rewrite() -> None:
    placeholder = {"apiVersion": "v1", "kind": "Service", "metadata": meta("cart", uid="uid-placeholder"), "spec": {}}
    core = mapping({"apiVersion": "v1", "kind": "Service", "name": "cart"})
    outcome = domain_world(*REST, placeholder, SERVICE, ROUTE, SOURCE, core).outcome(core)
    [path] = the(outcome, "Ingress")["spec"]["rules"][0]["http"]["paths"]
    assert path == {"rewriteHost": "cart.shop.svc.cluster.local", "splits": [split("cart", K_Original_Host=DOMAIN)]}
