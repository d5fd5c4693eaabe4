"""Certificates that DomainMappings and Routes ask for, and the HTTP-01 challenges that prove the domain is theirs."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from gatepost.configmaps.network import NetworkConfig
from gatepost.objects.meta import KubernetesObject, is_controlled_by, is_true, owner_reference
from gatepost.objects.networking import (
    Certificate,
    CertificateSpec,
    HTTP01Challenge,
    KIngressPath,
    KIngressSplit,
    KIngressTLS,
)
from gatepost.objects.problems import Problem
from gatepost.reconcilers.annotations import CERTIFICATE_CLASS, CERTIFICATE_TYPE_LABEL, certificate_class, passed_on
from gatepost.reconcilers.passes import Pass
from gatepost.writes.outcome import Apply, object_fields, raw, subject

CERTIFICATE_PROVISIONED = "CertificateProvisioned"
TLS_NOT_ENABLED = "TLSNotEnabled"
HTTP_DOWNGRADE = "HTTPDowngrade"
CERTIFICATE_NOT_READY = "CertificateNotReady"
CERTIFICATE_NOT_OWNED = "CertificateNotOwned"
CERTIFICATE_PROVISION_FAILED = "CertificateProvisionFailed"

EXTERNAL_DOMAIN = "external-domain"
CLUSTER_LOCAL_DOMAIN = "cluster-local-domain"


class Challenge(Struct, frozen=True, order=True):
    """An HTTP-01 challenge: the host it proves, and the path that must answer for it."""

    url: str
    host: str
    path: KIngressPath


def certificate_spec(name: str, dns_names: tuple[str, ...], domain: str) -> CertificateSpec:
    """The Certificate's spec; its Secret bears its own name."""
    return CertificateSpec(dns_names=dns_names, domain=domain, secret_name=name)


def certificate(
    owner: KubernetesObject,
    config: NetworkConfig,
    spec: CertificateSpec,
    labels: Mapping[str, str],
    certificate_type: str = EXTERNAL_DOMAIN,
) -> Apply:
    """The Certificate of that spec, owned by `owner`: its annotations with the class, and exactly these labels."""
    fields = object_fields(
        Certificate,
        owner.metadata.namespace,
        spec.secret_name,
        owners=(owner_reference(owner),),
        labels={**labels, CERTIFICATE_TYPE_LABEL: certificate_type},
        annotations={CERTIFICATE_CLASS: certificate_class(owner, config), **passed_on(owner.metadata.annotations)},
        spec=raw(spec),
    )
    return Apply(fields, announce=subject(owner), announce_updates=True)


def foreign_certificate(existing: Certificate | None, owner: KubernetesObject) -> Problem | None:
    """The problem of a Certificate under a wanted name that the owner does not control: its key may be another's."""
    if existing is None or is_controlled_by(existing, owner):
        return None
    return Problem(
        CERTIFICATE_NOT_OWNED,
        f"found a Certificate that {owner.ref} does not control, wanted one of its own.",
        existing.ref,
        "metadata.ownerReferences",
        f"Delete the Certificate, or turn issuing off for {owner.ref}.",
    )


def want_certificate(apply: Apply, run: Pass) -> None:
    """Wants the Certificate; while the server refuses it, CertificateProvisioned says so."""
    run.out.want(apply)
    problem = Problem(
        CERTIFICATE_PROVISION_FAILED,
        "the API server refuses it as it is wanted.",
        apply.ref,
        "",
        "The event of the failed write says why.",
    )
    run.if_refused(apply, CERTIFICATE_PROVISIONED, problem)


def is_ready(existing: Certificate | None, spec: CertificateSpec) -> bool:
    """Whether the Certificate holds what `spec` asks for. A spec that will change makes its present status old."""
    return (
        existing is not None
        and existing.spec == spec
        and existing.metadata.generation == existing.status.observed_generation
        and is_true(existing.status.conditions, "Ready")
    )


def challenges_of(existing: Certificate | None, *, ready: bool) -> tuple[Challenge, ...]:
    """The challenges to answer now, sorted by URL: all while not ready, and those of a renewal while one runs."""
    if existing is None or (ready and not is_true(existing.status.conditions, "Renewing")):
        return ()
    ordered = sorted(existing.status.http01_challenges, key=lambda challenge: challenge.url)
    found = (_challenge(challenge) for challenge in ordered)
    return tuple(challenge for challenge in found if challenge is not None)


def tls_entry(spec: CertificateSpec, namespace: str) -> KIngressTLS:
    """The TLS entry of a KIngress that serves a Certificate."""
    return KIngressTLS(hosts=spec.dns_names, secret_name=spec.secret_name, secret_namespace=namespace)


def _challenge(challenge: HTTP01Challenge) -> Challenge | None:
    """The challenge as host and path, None if its URL has no host that a rule could be made for."""
    try:
        parts = urlsplit(challenge.url)
    except ValueError:
        return None
    if not parts.netloc:
        return None
    split = KIngressSplit(
        service_namespace=challenge.service_namespace,
        service_name=challenge.service_name,
        service_port=challenge.service_port,
        percent=100,
    )
    return Challenge(challenge.url, parts.netloc, KIngressPath(path=parts.path, splits=(split,)))
