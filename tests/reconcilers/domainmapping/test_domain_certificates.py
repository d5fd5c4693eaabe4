"""TLS of a DomainMapping: whose Secret is served, when, and which challenges are answered meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from domain_world import CORE_SERVICE, DOMAIN, certificate, claim, domain_world, mapping
from knative_objects import (
    NETWORKING,
    Raw,
    applied,
    conditions,
    core_service,
    event_reasons,
    network,
    the,
    told_if_refused,
)

WEB = core_service("web")
ISSUING = network(external_domain_tls="Enabled")
MAPPING = mapping(CORE_SERVICE)
READY: Raw = {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]}
TLS_ENTRY = {"hosts": [DOMAIN], "secretName": DOMAIN, "secretNamespace": "shop"}


def challenge(host: str, token: str) -> Raw:
    url = f"http://{host}/.well-known/acme-challenge/{token}"
    return {"url": url, "serviceName": "solver", "serviceNamespace": "shop", "servicePort": 8089}


def solver_path(token: str) -> Raw:
    backend = {"serviceNamespace": "shop", "serviceName": "solver", "servicePort": 8089, "percent": 100}
    return {"path": f"/.well-known/acme-challenge/{token}", "splits": [backend]}


def test_certificate_is_asked_for_in_the_form_that_knative_gives_it() -> None:
    seen = mapping(
        CORE_SERVICE,
        metadata={
            "labels": {"tier": "gold"},
            "annotations": {"example.com/ticket": "T-1", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
        },
    )
    outcome = domain_world(ISSUING, WEB, claim(), seen).outcome(seen)
    assert the(outcome, "Certificate") == {
        "apiVersion": NETWORKING,
        "kind": "Certificate",
        "metadata": {
            "name": DOMAIN,
            "namespace": "shop",
            "labels": {
                "networking.knative.dev/certificate-type": "external-domain",
                "serving.knative.dev/domainMappingUID": DOMAIN,
            },
            "annotations": {
                "example.com/ticket": "T-1",
                "networking.knative.dev/certificate.class": "cert-manager.certificate.networking.knative.dev",
            },
            "ownerReferences": [
                {
                    "apiVersion": "serving.knative.dev/v1beta1",
                    "kind": "DomainMapping",
                    "name": DOMAIN,
                    "uid": f"uid-shop-{DOMAIN}",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": {"dnsNames": [DOMAIN], "domain": DOMAIN, "secretName": DOMAIN},
    }


@pytest.mark.parametrize("key", ["certificate.class", "certificate-class"])
def test_either_spelling_of_the_certificate_class_is_obeyed(key: str) -> None:
    seen = mapping(CORE_SERVICE, metadata={"annotations": {f"networking.knative.dev/{key}": "other"}})
    outcome = domain_world(ISSUING, WEB, claim(), seen).outcome(seen)
    assert the(outcome, "Certificate")["metadata"]["annotations"] == {
        "networking.knative.dev/certificate.class": "other"
    }


def test_domain_too_long_for_a_label_is_labelled_by_uid() -> None:
    name = f"{'a' * 52}.example.com"
    fits, long = mapping(CORE_SERVICE, name[1:]), mapping(CORE_SERVICE, name)
    world = domain_world(ISSUING, WEB, claim(name), claim(name[1:]), fits, long)
    label = "serving.knative.dev/domainMappingUID"
    assert len(name) == 64
    assert the(world.outcome(fits), "Certificate")["metadata"]["labels"][label] == name[1:]
    assert the(world.outcome(long), "Certificate")["metadata"]["labels"][label] == f"uid-shop-{name}"


def test_ready_certificate_is_served() -> None:
    outcome = domain_world(ISSUING, WEB, claim(), MAPPING, certificate(MAPPING, **READY)).outcome(MAPPING)
    assert the(outcome, "Ingress")["spec"]["tls"] == [TLS_ENTRY]
    assert conditions(outcome)["CertificateProvisioned"] == ("True", "")
    assert outcome.status["url"] == f"https://{DOMAIN}"


def moved(found: Raw, **spec: Any) -> Raw:
    return {**found, "spec": {**found["spec"], **spec}}


@pytest.mark.parametrize(
    "found",
    [
        certificate(MAPPING, observedGeneration=0, conditions=READY["conditions"]),
        certificate(MAPPING, observedGeneration=1, conditions=[{"type": "Ready", "status": "False"}]),
        certificate(MAPPING, observedGeneration=1),
        moved(certificate(MAPPING, **READY), dnsNames=["old.example.com"]),
    ],
    ids=["older generation", "failed", "no condition", "of a spec that changes now"],
)
@pytest.mark.parametrize(
    ("http_protocol", "condition", "url"),
    [
        ("Enabled", ("True", "HTTPDowngrade"), f"http://{DOMAIN}"),
        ("Redirected", ("Unknown", "CertificateNotReady"), f"https://{DOMAIN}"),
        ("Disabled", ("Unknown", "CertificateNotReady"), f"https://{DOMAIN}"),
    ],
)
def test_certificate_that_is_not_ready_is_not_served(
    found: Raw, http_protocol: str, condition: tuple[str, str], url: str
) -> None:
    settings = network(external_domain_tls="Enabled", http_protocol=http_protocol, default_external_scheme="https")
    outcome = domain_world(settings, WEB, claim(), MAPPING, found).outcome(MAPPING)
    assert "tls" not in the(outcome, "Ingress")["spec"]
    assert conditions(outcome)["CertificateProvisioned"] == condition
    assert outcome.status["url"] == url
    assert outcome.status["address"] == {"url": url}


def test_annotation_of_the_mapping_plays_no_part_in_the_downgrade() -> None:
    settings = network(external_domain_tls="Enabled", http_protocol="Redirected")
    seen = mapping(CORE_SERVICE, metadata={"annotations": {"networking.knative.dev/http-protocol": "enabled"}})
    outcome = domain_world(settings, WEB, claim(), seen).outcome(seen)
    assert conditions(outcome)["CertificateProvisioned"] == ("Unknown", "CertificateNotReady")
    assert the(outcome, "Ingress")["spec"]["httpOption"] == "Enabled"


def test_challenges_stand_before_the_traffic_and_those_of_other_hosts_in_rules_of_their_own() -> None:
    found = certificate(
        MAPPING,
        http01Challenges=[challenge(DOMAIN, "b"), challenge("www.example.com", "w"), challenge(DOMAIN, "a")],
    )
    outcome = domain_world(ISSUING, WEB, claim(), MAPPING, found).outcome(MAPPING)
    own, other = the(outcome, "Ingress")["spec"]["rules"]
    assert own["http"]["paths"][:2] == [solver_path("b"), solver_path("a")]
    assert own["http"]["paths"][2]["rewriteHost"] == "web.shop.svc.cluster.local"
    assert other == {
        "hosts": ["www.example.com"],
        "visibility": "ExternalIP",
        "http": {"paths": [solver_path("w")]},
    }


@pytest.mark.parametrize(("renewing", "served"), [("True", True), ("False", False)])
def test_ready_certificate_publishes_challenges_only_while_it_renews(renewing: str, served: bool) -> None:
    status = {"type": "Renewing", "status": renewing}
    found = certificate(
        MAPPING,
        observedGeneration=1,
        conditions=[*READY["conditions"], status],
        http01Challenges=[challenge(DOMAIN, "r")],
    )
    outcome = domain_world(ISSUING, WEB, claim(), MAPPING, found).outcome(MAPPING)
    paths = the(outcome, "Ingress")["spec"]["rules"][0]["http"]["paths"]
    assert (solver_path("r") in paths) is served
    assert the(outcome, "Ingress")["spec"]["tls"] == [TLS_ENTRY]


def test_certificate_that_the_server_refuses_fails_the_mapping_and_leaves_later_conditions() -> None:
    outcome = domain_world(ISSUING, WEB, claim(), MAPPING).outcome(MAPPING)
    assert told_if_refused(outcome, "Certificate") == {
        "CertificateProvisioned": ("False", "CertificateProvisionFailed"),
        "DomainClaimed": ("True", ""),
        "IngressReady": ("Unknown", "IngressNotConfigured"),
        "Ready": ("False", "CertificateProvisionFailed"),
        "ReferenceResolved": ("Unknown", ""),
    }
    assert conditions(outcome)["ReferenceResolved"] == ("True", "")


def test_foreign_certificate_stops_before_the_reference_is_resolved() -> None:
    found = certificate(MAPPING, owned=False, **READY)
    outcome = domain_world(ISSUING, WEB, claim(), MAPPING, found).outcome(MAPPING)
    assert outcome.applies == []
    assert conditions(outcome)["CertificateProvisioned"] == ("False", "CertificateNotOwned")
    assert conditions(outcome)["ReferenceResolved"] == ("Unknown", "")
    assert event_reasons(outcome) == ["InternalError"]


def test_secret_that_the_mapping_names_is_served_and_no_certificate_asked_for() -> None:
    seen = mapping(CORE_SERVICE, tls={"secretName": "own"})
    outcome = domain_world(ISSUING, WEB, claim(), seen).outcome(seen)
    assert applied(outcome, "Certificate") is None
    assert the(outcome, "Ingress")["spec"]["tls"] == [{**TLS_ENTRY, "secretName": "own"}]
    assert conditions(outcome)["CertificateProvisioned"] == ("True", "CertificateExternallyProvided")
    assert outcome.status["url"] == f"https://{DOMAIN}"


@pytest.mark.parametrize(
    ("annotations", "issued"),
    [
        ({"networking.knative.dev/disableAutoTLS": "true"}, False),
        ({"networking.knative.dev/disable-auto-tls": "1"}, False),
        ({"networking.knative.dev/disable-external-domain-tls": "T"}, False),
        ({"networking.knative.dev/disable-external-domain-tls": "yes"}, True),
        (
            {
                "networking.knative.dev/disableAutoTLS": "false",
                "networking.knative.dev/disable-external-domain-tls": "true",
            },
            True,
        ),
    ],
)
def test_first_key_that_is_present_decides_whether_issuing_is_off(annotations: dict[str, str], issued: bool) -> None:
    seen = mapping(CORE_SERVICE, metadata={"annotations": annotations})
    outcome = domain_world(ISSUING, WEB, claim(), seen).outcome(seen)
    assert (applied(outcome, "Certificate") is not None) is issued
    assert (conditions(outcome)["CertificateProvisioned"] == ("True", "TLSNotEnabled")) is not issued
