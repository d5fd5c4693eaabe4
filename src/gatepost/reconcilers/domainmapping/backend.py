"""The paths that serve a domain: a rewrite to the Service behind the reference, or the paths of the Route itself."""

from __future__ import annotations

from gatepost.objects.networking import KIngressPath, KIngressSplit
from gatepost.objects.serving import DomainMapping, KnativeService, Route
from gatepost.reconcilers.domainmapping.conditions import REFERENCE_RESOLVED
from gatepost.reconcilers.domainmapping.reference import Resolved, resolve, target_ref
from gatepost.reconcilers.domainmapping.route_paths import ORIGINAL_HOST, copied_paths
from gatepost.reconcilers.kingress import mark_not_configured
from gatepost.reconcilers.passes import Pass
from gatepost.state.view import View

_SERVICE_PORT = 80


def resolve_reference(mapping: DomainMapping, view: View, run: Pass) -> Resolved | None:
    """What `spec.ref` stands for. Marks ReferenceResolved; stops if it leads nowhere."""
    resolved = resolve(mapping, view)
    if isinstance(resolved, Resolved):
        run.conditions.mark_true(REFERENCE_RESOLVED)
        return resolved
    run.fail(REFERENCE_RESOLVED, resolved)
    if target_ref(mapping).group_kind in (KnativeService.KIND.group_kind, Route.KIND.group_kind):
        mark_not_configured(run.conditions)  # also for a generation that was seen before: the backends are unknown
    return None


def paths_to_serve(
    mapping: DomainMapping, resolved: Resolved, view: View, run: Pass
) -> tuple[KIngressPath, ...] | None:
    """The paths of the domain's rule before challenges; None if they are not known, and the KIngress must stay."""
    if isinstance(resolved.target, KnativeService | Route):
        return copied_paths(mapping, resolved.target, resolved.host, view, run)
    return (_rewriting_path(mapping, resolved),)


def _rewriting_path(mapping: DomainMapping, resolved: Resolved) -> KIngressPath:
    """Everything to the Service, under the host that it expects, on port 80 whatever ports it has."""
    split = KIngressSplit(
        service_namespace=mapping.metadata.namespace,
        service_name=resolved.service_name,
        service_port=_SERVICE_PORT,
        percent=100,
        append_headers={ORIGINAL_HOST: mapping.metadata.name},
    )
    return KIngressPath(rewrite_host=resolved.host, splits=(split,))
