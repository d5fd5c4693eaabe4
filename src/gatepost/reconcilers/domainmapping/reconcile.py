"""The story of a DomainMapping: name, claim, certificate, backend, KIngress, readiness."""

from __future__ import annotations

from gatepost.configmaps.network import NetworkConfig, current_network_config
from gatepost.objects.networking import KIngress, KIngressSpec
from gatepost.objects.problems import Problem, UnreadableObject
from gatepost.objects.refs import Ref
from gatepost.objects.serving import DomainMapping
from gatepost.reconcilers.annotations import http_option, ingress_class
from gatepost.reconcilers.domainmapping.admission import refused_name
from gatepost.reconcilers.domainmapping.backend import paths_to_serve, resolve_reference
from gatepost.reconcilers.domainmapping.certificate import provide_tls
from gatepost.reconcilers.domainmapping.claim import claim_domain
from gatepost.reconcilers.domainmapping.conditions import DEPENDENTS, DOMAIN_CLAIMED
from gatepost.reconcilers.domainmapping.finalizer import ensure_finalizer, finalize
from gatepost.reconcilers.domainmapping.ingress import ingress_for, ingress_spec
from gatepost.reconcilers.kingress import (
    INGRESS_READY,
    foreign_kingress,
    kingress_ref,
    mark_ingress,
    mark_not_configured,
)
from gatepost.reconcilers.passes import Pass, unchanged
from gatepost.state.rule import Rule
from gatepost.state.view import View
from gatepost.writes.outcome import Outcome


def reconcile(ref: Ref, view: View) -> Outcome:
    """The whole wish for one DomainMapping.

    The order of the steps decides which conditions a stop leaves as they were.
    Source: knative/serving pkg/reconciler/domainmapping, with the change of pull request 16685.
    """
    mapping = view.get(DomainMapping, ref)
    if mapping is None:
        return Outcome.none("gone; its owned objects follow")
    config = current_network_config(view)
    if isinstance(config, Problem):
        return unchanged(mapping, config)
    if mapping.metadata.deletion_timestamp is not None:
        return finalize(mapping, config, view)
    run = Pass(mapping, DEPENDENTS)
    ensure_finalizer(mapping, run)
    if run.is_new_generation:
        mark_not_configured(run.conditions)
    try:
        _serve(mapping, config, view, run)
    except UnreadableObject as stop:
        run.stop(stop.problem)
    return run.finish()


def _serve(mapping: DomainMapping, config: NetworkConfig, view: View, run: Pass) -> None:
    refused = refused_name(mapping, view)
    if refused is not None:
        return run.fail(DOMAIN_CLAIMED, refused)
    report_url(mapping, config.default_external_scheme, run)
    if not claim_domain(mapping, config, view, run):  # DomainClaimed
        return None
    tls = provide_tls(mapping, config, view, run)  # CertificateProvisioned
    if tls is None:
        return None
    report_url(mapping, tls.scheme, run)
    resolved = resolve_reference(mapping, view, run)  # ReferenceResolved
    if resolved is None:
        return None
    option = http_option(mapping, config)
    if isinstance(option, Problem):
        return run.stop(option)
    paths = paths_to_serve(mapping, resolved, view, run)
    if paths is None:
        return None
    return _follow_ingress(mapping, config, ingress_spec(mapping, paths, tls, option), view, run)  # IngressReady


def _follow_ingress(mapping: DomainMapping, config: NetworkConfig, spec: KIngressSpec, view: View, run: Pass) -> None:
    existing = view.get(KIngress, kingress_ref(mapping))
    foreign = foreign_kingress(existing, mapping)
    if foreign is not None:
        return run.fail(INGRESS_READY, foreign)
    run.out.want(ingress_for(mapping, ingress_class(mapping, config), spec))
    mark_ingress(run.conditions, existing, spec)
    return None


def report_url(mapping: DomainMapping, scheme: str, run: Pass) -> None:
    """Reports the URL, twice: as the mapping's own and as its address for others to refer to."""
    url = f"{scheme}://{mapping.metadata.name}"
    run.status["url"] = url
    run.status["address"] = {"url": url}


DOMAINMAPPING: Rule[Outcome] = Rule("domainmapping", reconcile, rank=10, over=DomainMapping)
