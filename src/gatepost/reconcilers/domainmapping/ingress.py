"""The KIngress of a DomainMapping: one rule for the domain, challenges first, and rules for challenges elsewhere."""

from __future__ import annotations

from gatepost.objects.networking import EXTERNAL_IP, KIngressHTTP, KIngressPath, KIngressRule, KIngressSpec
from gatepost.objects.serving import DomainMapping
from gatepost.reconcilers.annotations import INGRESS_CLASS, passed_on
from gatepost.reconcilers.domainmapping.certificate import TLS, UID_LABEL
from gatepost.reconcilers.kingress import kingress
from gatepost.writes.outcome import Apply

NAMESPACE_LABEL = "serving.knative.dev/domainMappingNamespace"


def ingress_spec(mapping: DomainMapping, paths: tuple[KIngressPath, ...], tls: TLS, http_option: str) -> KIngressSpec:
    """The spec that serves the domain with these paths.

    Challenges of the domain itself are put in front one by one, so their sorted order turns round, as in Knative. The
    visibility is always external, also for a private source: naming a domain for it publishes it.
    """
    domain = mapping.metadata.name
    elsewhere: list[KIngressRule] = []
    for challenge in tls.challenges:
        if challenge.host == domain:
            paths = (challenge.path, *paths)
        else:
            elsewhere.append(_public_rule(challenge.host, (challenge.path,)))
    return KIngressSpec(
        http_option=http_option,
        tls=(tls.entry,) if tls.entry is not None else (),
        rules=(_public_rule(domain, paths), *elsewhere),
    )


def ingress_for(mapping: DomainMapping, ingress_class: str, spec: KIngressSpec) -> Apply:
    """The KIngress with the mapping's labels and annotations; ours win over labels of the same key."""
    labels = {
        **mapping.metadata.labels,
        UID_LABEL: mapping.metadata.uid,
        NAMESPACE_LABEL: mapping.metadata.namespace,
    }
    annotations = {INGRESS_CLASS: ingress_class, **passed_on(mapping.metadata.annotations)}
    return kingress(mapping, labels, annotations, spec)


def _public_rule(host: str, paths: tuple[KIngressPath, ...]) -> KIngressRule:
    return KIngressRule(hosts=(host,), visibility=EXTERNAL_IP, http=KIngressHTTP(paths=paths))
