"""The KIngress of a DomainMapping: how the reference resolves, what is written, and what its status says."""

from __future__ import annotations

from typing import Any

import pytest
from domain_world import CORE_SERVICE, DOMAIN, claim, domain_world, mapping, ready_before
from knative_objects import (
    GATEWAY_CLASS,
    Raw,
    applied,
    conditions,
    core_service,
    event_reasons,
    kingress,
    meta,
    network,
    ready_status,
    rule,
    split,
    the,
)

WEB = core_service("web")
REST = (network(), claim())
MAPPING = mapping(CORE_SERVICE)
RULE = rule(
    [DOMAIN],
    {"rewriteHost": "web.shop.svc.cluster.local", "splits": [split("web", K_Original_Host=DOMAIN)]},
    visibility="ExternalIP",
)


def own_ingress(owner: Raw = MAPPING, *rules: Raw, http_option: str = "Enabled", **status: Any) -> Raw:
    found = kingress(DOMAIN, owner, *(rules or (RULE,)), **status)
    found["spec"]["httpOption"] = http_option
    return found


def test_ingress_carries_labels_annotations_class_and_owner() -> None:
    seen = mapping(
        CORE_SERVICE,
        metadata={
            "labels": {"tier": "gold", "serving.knative.dev/domainMappingUID": "mine"},
            "annotations": {
                "example.com/ticket": "T-1",
                "kubectl.kubernetes.io/last-applied-configuration": "{}",
                "networking.knative.dev/certificate-class": "c",
            },
        },
    )
    ingress = the(domain_world(*REST, WEB, seen).outcome(seen), "Ingress")
    assert ingress["metadata"]["labels"] == {
        "tier": "gold",
        "serving.knative.dev/domainMappingUID": f"uid-shop-{DOMAIN}",
        "serving.knative.dev/domainMappingNamespace": "shop",
    }
    assert ingress["metadata"]["annotations"] == {
        "example.com/ticket": "T-1",
        "networking.knative.dev/ingress.class": GATEWAY_CLASS,
    }
    assert ingress["spec"] == {"httpOption": "Enabled", "rules": [RULE]}


@pytest.mark.parametrize("key", ["ingress.class", "ingress-class"])
def test_either_spelling_of_the_ingress_class_is_obeyed(key: str) -> None:
    seen = mapping(CORE_SERVICE, metadata={"annotations": {f"networking.knative.dev/{key}": "other"}})
    ingress = the(domain_world(*REST, WEB, seen).outcome(seen), "Ingress")
    assert ingress["metadata"]["annotations"] == {"networking.knative.dev/ingress.class": "other"}


@pytest.mark.parametrize(
    ("annotations", "configured", "option"),
    [
        ({}, "Enabled", "Enabled"),
        ({}, "redirected", "Redirected"),
        ({}, "DISABLED", None),
        ({"httpOption": "REDIRECTED"}, "Enabled", "Redirected"),
        ({"http-protocol": "enabled"}, "Redirected", "Enabled"),
        ({"httpOption": "", "http-protocol": "redirected"}, "Enabled", "Enabled"),
    ],
)
def test_http_option_comes_from_the_first_annotation_or_the_config(
    annotations: dict[str, str], configured: str, option: str | None
) -> None:
    named = {f"networking.knative.dev/{key}": value for key, value in annotations.items()}
    seen = mapping(CORE_SERVICE, metadata={"annotations": named})
    outcome = domain_world(network(http_protocol=configured), claim(), WEB, seen).outcome(seen)
    assert the(outcome, "Ingress")["spec"].get("httpOption") == option


@pytest.mark.parametrize("value", ["disabled", "maybe"])
def test_http_option_that_is_neither_of_the_two_stops_after_the_reference_is_resolved(value: str) -> None:
    seen = mapping(
        CORE_SERVICE,
        status=ready_before(),
        metadata={"annotations": {"networking.knative.dev/http-protocol": value}},
    )
    outcome = domain_world(*REST, WEB, seen).outcome(seen)
    assert applied(outcome, "Ingress") is None
    assert conditions(outcome)["ReferenceResolved"] == ("True", "")
    assert conditions(outcome)["IngressReady"] == ("True", "")
    assert event_reasons(outcome) == ["InternalError"]


def addressable(**status: Any) -> Raw:
    return {"apiVersion": "gadgets.example.com/v1", "kind": "Gadget", "metadata": meta("hub"), "status": status}


def gadget_ref(**more: str) -> Raw:
    return {"apiVersion": "gadgets.example.com/v1", "kind": "Gadget", "name": "hub", **more}


IN_CLUSTER = "http://hub-7.shop.svc.cluster.local"
ELSEWHERE = "http://other.shop.svc.cluster.local"


@pytest.mark.parametrize(
    ("ref", "status"),
    [
        (gadget_ref(), {"address": {"url": IN_CLUSTER}}),
        (gadget_ref(), {"address": {"url": IN_CLUSTER + "/"}}),
        (gadget_ref(), {"address": {"url": "https://hub-7.shop.svc.cluster.local"}}),
        (gadget_ref(), {"address": {"url": ELSEWHERE}, "addresses": [{"url": IN_CLUSTER}, {"url": ELSEWHERE}]}),
        (
            gadget_ref(address="in"),
            {"addresses": [{"name": "out", "url": ELSEWHERE}, {"name": "in", "url": IN_CLUSTER}]},
        ),
        (gadget_ref(namespace="shop"), {"address": {"url": IN_CLUSTER}}),
    ],
    ids=["single", "trailing slash", "any scheme", "first of several", "by name", "own namespace"],
)
def test_other_addressable_is_reached_through_the_service_in_its_url(ref: Raw, status: Raw) -> None:
    seen = mapping(ref)
    outcome = domain_world(*REST, addressable(**status), seen).outcome(seen)
    [path] = the(outcome, "Ingress")["spec"]["rules"][0]["http"]["paths"]
    assert path["rewriteHost"] == "hub-7.shop.svc.cluster.local"
    assert path["splits"][0]["serviceName"] == "hub-7"
    assert conditions(outcome)["ReferenceResolved"] == ("True", "")


@pytest.mark.parametrize(
    ("api_version", "kind", "status", "field"),
    [
        (
            "gateway.networking.k8s.io/v1",
            "Gateway",
            {"addresses": [{"type": "IPAddress", "value": "192.0.2.1"}]},
            "status.addresses.url",
        ),
        ("machines.example.com/v1", "Machine", {"address": "192.0.2.7", "addresses": ["192.0.2.7"]}, "status.address"),
        ("batch.example.com/v1", "Rollout", {"address": {"url": 7}, "observedGeneration": "2"}, "status.address"),
    ],
)
def test_object_that_means_something_else_by_its_addresses_does_not_resolve(
    api_version: str, kind: str, status: Raw, field: str
) -> None:
    target = {"apiVersion": api_version, "kind": kind, "metadata": meta("hub"), "status": status}
    seen = mapping({"apiVersion": api_version, "kind": kind, "name": "hub"})
    outcome = domain_world(*REST, target, seen).outcome(seen)
    assert conditions(outcome)["ReferenceResolved"] == ("False", "ResolveFailed")
    assert [problem.field for problem in outcome.problems] == [field]


@pytest.mark.parametrize(
    ("ref", "status", "field"),
    [
        (gadget_ref(), {}, "status.address"),
        (gadget_ref(), {"address": {}}, "status.address.url"),
        (gadget_ref(), {"address": {"url": "http:///x"}}, "status.address.url"),
        (gadget_ref(), {"address": {"url": "http://[bad"}}, "status.address.url"),
        (gadget_ref(), {"address": {"url": IN_CLUSTER + "/api"}}, "status.address.url"),
        (gadget_ref(), {"address": {"url": IN_CLUSTER + "//"}}, "status.address.url"),
        (gadget_ref(), {"address": {"url": "http://hub-7.rival.svc.cluster.local"}}, "status.address.url"),
        (gadget_ref(), {"address": {"url": "http://a.hub-7.shop.svc.cluster.local"}}, "status.address.url"),
        (gadget_ref(), {"address": {"url": "http://hub-7.shop.svc"}}, "status.address.url"),
        (gadget_ref(), {"address": {"url": "http://hub.example.com"}}, "status.address.url"),
        (gadget_ref(address="in"), {"address": {"url": IN_CLUSTER}}, "status.addresses"),
        (gadget_ref(address="in"), {"addresses": [{"name": "out", "url": IN_CLUSTER}]}, "status.addresses"),
        (gadget_ref(namespace="rival"), {"address": {"url": IN_CLUSTER}}, "spec.ref.namespace"),
        ({"kind": "Gadget", "name": "hub", "group": "gadgets.example.com"}, {}, "spec.ref.apiVersion"),
        ({"apiVersion": "v1", "kind": "Service"}, {}, "spec.ref.name"),
    ],
)
def test_reference_that_leads_to_no_service_of_the_namespace_names_the_field(ref: Raw, status: Raw, field: str) -> None:
    seen = mapping(ref)
    outcome = domain_world(*REST, addressable(**status), seen).outcome(seen)
    assert applied(outcome, "Ingress") is None
    assert conditions(outcome)["ReferenceResolved"] == ("False", "ResolveFailed")
    assert conditions(outcome)["Ready"] == ("False", "ResolveFailed")
    assert [problem.field for problem in outcome.problems] == [field]


def test_ready_ingress_makes_the_mapping_ready() -> None:
    world = domain_world(*REST, WEB, MAPPING, own_ingress(**ready_status()))
    outcome = world.outcome(MAPPING)
    assert conditions(outcome)["IngressReady"] == ("True", "")
    assert conditions(outcome)["Ready"] == ("True", "")
    assert outcome.status["observedGeneration"] == 1


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_reason_of_an_ingress_that_is_not_ready_is_passed_on(status: str) -> None:
    ready = {"type": "Ready", "status": status, "reason": "NoGateway", "message": "there is none"}
    found = own_ingress(observedGeneration=1, conditions=[ready])
    outcome = domain_world(*REST, WEB, MAPPING, found).outcome(MAPPING)
    assert conditions(outcome)["IngressReady"] == (status, "NoGateway")
    assert conditions(outcome)["Ready"] == (status, "NoGateway")
    assert [c["message"] for c in outcome.status["conditions"] if c["type"] == "IngressReady"] == ["there is none"]


@pytest.mark.parametrize(
    "found",
    [
        own_ingress(**ready_status(generation=2)),
        own_ingress(observedGeneration=1),
        own_ingress(MAPPING, rule([DOMAIN], {"splits": [split("old")]}, visibility="ExternalIP"), **ready_status()),
        own_ingress(http_option="Redirected", **ready_status()),
    ],
    ids=["another generation", "no Ready", "rules that change now", "HTTP option that changes now"],
)
def test_status_that_does_not_speak_of_the_wanted_spec_does_not_count(found: Raw) -> None:
    seen = mapping(CORE_SERVICE, status=ready_before())
    outcome = domain_world(*REST, WEB, seen, found).outcome(seen)
    assert conditions(outcome)["IngressReady"] == ("Unknown", "IngressNotConfigured")
    assert conditions(outcome)["Ready"] == ("Unknown", "IngressNotConfigured")


def test_changed_label_alone_keeps_ready() -> None:
    seen = mapping(CORE_SERVICE, status=ready_before(), metadata={"labels": {"tier": "gold"}})
    outcome = domain_world(*REST, WEB, seen, own_ingress(**ready_status())).outcome(seen)
    assert the(outcome, "Ingress")["metadata"]["labels"]["tier"] == "gold"
    assert conditions(outcome)["Ready"] == ("True", "")


def test_ingress_of_somebody_else_is_refused() -> None:
    seen = mapping(CORE_SERVICE, status=ready_before())
    foreign = own_ingress(core_service("other"), **ready_status())
    outcome = domain_world(*REST, WEB, seen, foreign).outcome(seen)
    assert applied(outcome, "Ingress") is None
    assert conditions(outcome)["IngressReady"] == ("False", "NotOwned")
    assert event_reasons(outcome) == ["InternalError"]


def test_lost_claim_keeps_ingress_ready_in_the_same_generation_and_resets_it_in_a_new_one() -> None:
    lost = claim(namespace="rival")
    same = mapping(CORE_SERVICE, status=ready_before())
    outcome = domain_world(network(), lost, WEB, same).outcome(same)
    assert conditions(outcome)["IngressReady"] == ("True", "")
    assert conditions(outcome)["Ready"] == ("False", "DomainAlreadyClaimed")
    new = mapping(CORE_SERVICE, status=ready_before(), metadata={"generation": 2})
    outcome = domain_world(network(), lost, WEB, new).outcome(new)
    assert conditions(outcome)["IngressReady"] == ("Unknown", "IngressNotConfigured")
    assert outcome.status["observedGeneration"] == 2


def test_carrying_out_the_wish_and_looking_again_wants_nothing_more() -> None:
    seen = mapping(CORE_SERVICE)
    world = domain_world(network(autocreate_cluster_domain_claims="true"), WEB, seen)
    world.carry_out(seen)  # the claim
    world.carry_out(seen)
    written = dict(world.raws)
    world.carry_out(seen)
    assert world.raws == written
