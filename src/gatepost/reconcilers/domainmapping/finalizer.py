"""The finalizer of a DomainMapping: a claim is cluster-scoped, so garbage collection cannot release it."""

from __future__ import annotations

from gatepost.configmaps.network import NetworkConfig
from gatepost.objects.serving import DomainMapping
from gatepost.reconcilers.domainmapping.claim import release_claim
from gatepost.reconcilers.passes import Pass
from gatepost.state.view import View
from gatepost.writes.outcome import Outcome

FINALIZER = "domainmappings.serving.knative.dev"
FINALIZER_UPDATE = "FinalizerUpdate"


def ensure_finalizer(mapping: DomainMapping, run: Pass) -> None:
    """Adds the finalizer behind those of others."""
    if FINALIZER not in mapping.metadata.finalizers:
        run.out.finalizers = (*mapping.metadata.finalizers, FINALIZER)
        run.out.tell(FINALIZER_UPDATE, f"Added finalizer {FINALIZER}.")


def finalize(mapping: DomainMapping, config: NetworkConfig, view: View) -> Outcome:
    """The last step of a DomainMapping that is being deleted; its status, Certificate and KIngress are left alone."""
    out = Outcome.of(mapping)
    if FINALIZER not in mapping.metadata.finalizers:
        out.note = "being deleted; its finalizer step is done"
        return out
    release_claim(mapping, config, view, out)
    out.finalizers = tuple(sorted(name for name in mapping.metadata.finalizers if name != FINALIZER))
    out.tell(FINALIZER_UPDATE, f"Removed finalizer {FINALIZER}.")
    return out
