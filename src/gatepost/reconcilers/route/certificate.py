"""Certificates of a Route: one for each public host, and one for the names of each target inside the cluster."""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from gatepost.configmaps.network import ENABLED
from gatepost.objects.meta import ObjectMeta, condition_of, is_controlled_by
from gatepost.objects.networking import Certificate, CertificateSpec, KIngressTLS
from gatepost.objects.serving import ROUTE_LABEL, Route
from gatepost.reconcilers import certificates
from gatepost.reconcilers.annotations import CERTIFICATE_TYPE_LABEL, is_issuing_disabled
from gatepost.reconcilers.certificates import CERTIFICATE_PROVISIONED, CLUSTER_LOCAL_DOMAIN, EXTERNAL_DOMAIN, Challenge
from gatepost.reconcilers.passes import Pass
from gatepost.reconcilers.route.names import RouteSettings, TargetNames
from gatepost.reconcilers.route.traffic import MAIN
from gatepost.state.store import Index
from gatepost.state.view import View
from gatepost.writes.outcome import Delete, subject

WILDCARD_DOMAIN_LABEL = "networking.knative.dev/wildcardDomain"


class TLS(Struct, frozen=True):
    """How the hosts of a Route are served.

    Attributes:
        schemes: host -> scheme, for hosts whose scheme a Certificate decides.
    """

    entries: tuple[KIngressTLS, ...] = ()
    challenges: tuple[Challenge, ...] = ()
    schemes: Mapping[str, str] = {}

    def joined(self, other: TLS) -> TLS:
        challenges = tuple(sorted(self.challenges + other.challenges, key=lambda challenge: challenge.url))
        return TLS(self.entries + other.entries, challenges, {**self.schemes, **other.schemes})


def _by_route(certificate: Certificate) -> Iterable[tuple[Hashable, Any]]:
    labels, metadata = certificate.metadata.labels, certificate.metadata
    name, type_ = labels.get(ROUTE_LABEL), labels.get(CERTIFICATE_TYPE_LABEL)
    if name and type_:
        kept = ObjectMeta(
            name=metadata.name,
            namespace=metadata.namespace,
            uid=metadata.uid,
            owner_references=metadata.owner_references,
        )
        yield (
            (metadata.namespace, name, type_),
            Certificate(metadata=kept, spec=CertificateSpec(dns_names=certificate.spec.dns_names)),
        )


def _by_wildcard_domain(certificate: Certificate) -> Iterable[tuple[Hashable, Any]]:
    domain = certificate.metadata.labels.get(WILDCARD_DOMAIN_LABEL)
    if domain:
        yield (certificate.metadata.namespace, domain), (certificate.metadata.name, certificate.spec.dns_names)


ROUTE_CERTIFICATES = Index("certificates-by-route", Certificate, _by_route)
WILDCARD_CERTIFICATES = Index("certificates-by-wildcard-domain", Certificate, _by_wildcard_domain)


def provide_tls(
    route: Route, names: Mapping[str, TargetNames], settings: RouteSettings, view: View, run: Pass
) -> TLS | None:
    """Marks CertificateProvisioned and wants the Certificates of all hosts; None if a foreign one stops the Route.

    The last Certificate decides the condition, as in Knative.
    """
    is_issuing = settings.network.external_domain_tls and not is_issuing_disabled(route)
    public = sorted((one for one in names.values() if one.public), key=lambda one: one.public)
    tls = TLS()
    if is_issuing:
        for one in public:
            step = _public(route, one, settings, view, run)
            if step is None:
                return None
            tls = tls.joined(step)
        _drop_unused(route, {one.public for one in public}, EXTERNAL_DOMAIN, view, run)
    if settings.network.cluster_local_domain_tls:
        for one in names.values():
            step = _local(route, one, settings, view, run)
            if step is None:
                return None
            tls = tls.joined(step)
        used = {host for one in names.values() for host in one.local_hosts}
        _drop_unused(route, used, CLUSTER_LOCAL_DOMAIN, view, run)
    elif not is_issuing or not public:
        run.conditions.mark_true(
            CERTIFICATE_PROVISIONED, certificates.TLS_NOT_ENABLED, "No certificate is asked for this Route."
        )
    return tls


def _public(route: Route, names: TargetNames, settings: RouteSettings, view: View, run: Pass) -> TLS | None:
    spec = certificates.certificate_spec(_certificate_name(route, names.tag), (names.public,), settings.domain)
    existing = _wildcard_certificate(route, names.public, settings.domain, view)
    if existing is not None:
        spec = existing.spec  # one that serves all names of the namespace saves issuing another
    else:
        existing = view.named(Certificate, route.metadata.namespace, spec.secret_name)
        if not _want(route, existing, spec, EXTERNAL_DOMAIN, settings, run):
            return None
    ready = certificates.is_ready(existing, spec)
    challenges = certificates.challenges_of(existing, ready=ready)
    if ready:
        run.conditions.mark_true(CERTIFICATE_PROVISIONED)
        entry = KIngressTLS((names.public,), spec.secret_name, route.metadata.namespace)
        return TLS((entry,), challenges, {names.public: "https"})
    _mark_not_ready(existing, spec, run)
    if settings.network.http_protocol != ENABLED:
        return TLS((), challenges, {names.public: "https"})
    run.conditions.mark_true(
        CERTIFICATE_PROVISIONED,
        certificates.HTTP_DOWNGRADE,
        f"Certificate {spec.secret_name} is not ready; its host is served over HTTP meanwhile.",
    )
    return TLS((), challenges, {names.public: "http"})


def _local(route: Route, names: TargetNames, settings: RouteSettings, view: View, run: Pass) -> TLS | None:
    name = _certificate_name(route, names.tag) + "-local"
    spec = certificates.certificate_spec(name, names.local_hosts, f"svc.{settings.cluster_domain}")
    existing = view.named(Certificate, route.metadata.namespace, name)
    if not _want(route, existing, spec, CLUSTER_LOCAL_DOMAIN, settings, run):
        return None
    if not certificates.is_ready(existing, spec):
        _mark_not_ready(existing, spec, run)
        return TLS()
    run.conditions.mark_true(CERTIFICATE_PROVISIONED)
    return TLS((certificates.tls_entry(spec, route.metadata.namespace),), (), {names.cluster: "https"})


def _want(
    route: Route, existing: Certificate | None, spec: CertificateSpec, type_: str, settings: RouteSettings, run: Pass
) -> bool:
    foreign = certificates.foreign_certificate(existing, route)
    if foreign is not None:
        run.fail(CERTIFICATE_PROVISIONED, foreign)
        return False
    labels = {ROUTE_LABEL: route.metadata.name}
    certificates.want_certificate(certificates.certificate(route, settings.network, spec, labels, type_), run)
    return True


def _mark_not_ready(existing: Certificate | None, spec: CertificateSpec, run: Pass) -> None:
    """A Certificate that failed fails the Route; one that changes now, or is under way, does not yet."""
    ready = condition_of(existing.status.conditions, "Ready") if existing is not None else None
    if existing is not None and ready is not None and ready.status == "False" and existing.spec == spec:
        run.conditions.mark_false(
            CERTIFICATE_PROVISIONED,
            certificates.CERTIFICATE_PROVISION_FAILED,
            f"Certificate {existing.metadata.name} failed: {ready.reason} {ready.message}".rstrip(),
        )
        return
    run.conditions.mark_unknown(
        CERTIFICATE_PROVISIONED,
        certificates.CERTIFICATE_NOT_READY,
        f"Certificate {spec.secret_name} is not ready.",
    )


def _certificate_name(route: Route, tag: str) -> str:
    name = f"route-{route.metadata.uid}"
    return name if tag == MAIN else f"{name}-{zlib.adler32(tag.encode())}"


def _wildcard_certificate(route: Route, host: str, domain: str, view: View) -> Certificate | None:
    """The namespace's wildcard Certificate for the host: one name of it equals the host but for the first label."""
    namespace = route.metadata.namespace
    behind_first = host.partition(".")[2]
    for name, dns_names in view.select(WILDCARD_CERTIFICATES, (namespace, domain)):
        if any(dns_name.partition(".")[2] == behind_first for dns_name in dns_names):
            return view.named(Certificate, namespace, name)
    return None


def _drop_unused(route: Route, used: set[str], type_: str, view: View, run: Pass) -> None:
    """Deletes Certificates of the Route for hosts that are gone; only its own, whoever copied the label."""
    key = (route.metadata.namespace, route.metadata.name, type_)
    for certificate in view.select(ROUTE_CERTIFICATES, key):
        if used.isdisjoint(certificate.spec.dns_names) and is_controlled_by(certificate, route):
            cause = f"none of its names is a host of {route.ref} any more"
            run.out.deletes.append(Delete(certificate.ref, certificate.metadata.uid, cause, subject(certificate)))
