"""TLS of a DomainMapping: the Secret that it names, a Certificate that is issued for it, or none."""

from __future__ import annotations

from msgspec import Struct

from gatepost.configmaps.network import ENABLED, NetworkConfig
from gatepost.objects.names import child_name
from gatepost.objects.networking import Certificate, CertificateSpec, KIngressTLS
from gatepost.objects.serving import DomainMapping
from gatepost.reconcilers import certificates
from gatepost.reconcilers.annotations import is_issuing_disabled
from gatepost.reconcilers.certificates import CERTIFICATE_PROVISIONED, Challenge
from gatepost.reconcilers.domainmapping.conditions import CERTIFICATE_EXTERNALLY_PROVIDED
from gatepost.reconcilers.passes import Pass
from gatepost.state.view import View

UID_LABEL = "serving.knative.dev/domainMappingUID"

_LABEL_VALUE_LIMIT = 63


class TLS(Struct, frozen=True):
    """How the domain is served: its scheme, its TLS entry if there is one, and the challenges to answer meanwhile."""

    scheme: str
    entry: KIngressTLS | None = None
    challenges: tuple[Challenge, ...] = ()


def provide_tls(mapping: DomainMapping, config: NetworkConfig, view: View, run: Pass) -> TLS | None:
    """Marks CertificateProvisioned and wants the Certificate where one is to be issued; stops at a foreign one."""
    if mapping.spec.tls is not None and mapping.spec.tls.secret_name:
        run.conditions.mark_true(
            CERTIFICATE_PROVISIONED, CERTIFICATE_EXTERNALLY_PROVIDED, "spec.tls names the Secret to serve."
        )
        given = CertificateSpec(dns_names=(mapping.metadata.name,), secret_name=mapping.spec.tls.secret_name)
        return TLS("https", certificates.tls_entry(given, mapping.metadata.namespace))
    if not config.external_domain_tls or is_issuing_disabled(mapping):
        run.conditions.mark_true(
            CERTIFICATE_PROVISIONED, certificates.TLS_NOT_ENABLED, "No certificate is asked for this domain."
        )
        return TLS(config.default_external_scheme)
    return _issue(mapping, config, view, run)


def _issue(mapping: DomainMapping, config: NetworkConfig, view: View, run: Pass) -> TLS | None:
    domain = mapping.metadata.name
    spec = certificates.certificate_spec(child_name(domain), (domain,), domain)
    existing = view.named(Certificate, mapping.metadata.namespace, spec.secret_name)
    foreign = certificates.foreign_certificate(existing, mapping)
    if foreign is not None:
        run.fail(CERTIFICATE_PROVISIONED, foreign)
        return None
    wanted = certificates.certificate(mapping, config, spec, {UID_LABEL: _label_value(mapping)})
    certificates.want_certificate(wanted, run)
    ready = certificates.is_ready(existing, spec)
    challenges = certificates.challenges_of(existing, ready=ready)
    if ready:
        run.conditions.mark_true(CERTIFICATE_PROVISIONED)
        return TLS("https", certificates.tls_entry(spec, mapping.metadata.namespace), challenges)
    return TLS(_mark_not_ready(spec, config, run), None, challenges)


def _mark_not_ready(spec: CertificateSpec, config: NetworkConfig, run: Pass) -> str:
    """The scheme until the Certificate is ready. A failed Certificate counts as one that is not ready yet."""
    if config.http_protocol == ENABLED:
        run.conditions.mark_true(
            CERTIFICATE_PROVISIONED,
            certificates.HTTP_DOWNGRADE,
            f"Certificate {spec.secret_name} is not ready; the domain is served over HTTP meanwhile.",
        )
        return "http"
    run.conditions.mark_unknown(
        CERTIFICATE_PROVISIONED,
        certificates.CERTIFICATE_NOT_READY,
        f"Certificate {spec.secret_name} is not ready.",
    )
    return "https"


def _label_value(mapping: DomainMapping) -> str:
    """The domain as Knative has it, or the UID where the domain is too long for the value of a label."""
    name = mapping.metadata.name
    return name if len(name) <= _LABEL_VALUE_LIMIT else mapping.metadata.uid
