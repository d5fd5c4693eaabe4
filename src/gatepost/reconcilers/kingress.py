"""The KIngress that a DomainMapping or Route owns: how it is written, and what its status says to the owner."""

from __future__ import annotations

from collections.abc import Mapping

from gatepost.objects.conditions import ConditionSet
from gatepost.objects.meta import KubernetesObject, condition_of, is_controlled_by, owner_reference
from gatepost.objects.names import child_name
from gatepost.objects.networking import KIngress, KIngressSpec
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.writes.outcome import Apply, object_fields, raw, subject

INGRESS_READY = "IngressReady"
INGRESS_NOT_CONFIGURED = "IngressNotConfigured"
NOT_OWNED = "NotOwned"

_NOT_OBSERVED = "The KIngress has not been taken up by its implementation yet."


def kingress_ref(owner: KubernetesObject) -> Ref:
    """Where the KIngress of a DomainMapping or Route lies."""
    return KIngress.KIND.ref(owner.metadata.namespace, child_name(owner.metadata.name))


def kingress(
    owner: KubernetesObject, labels: Mapping[str, str], annotations: Mapping[str, str], spec: KIngressSpec
) -> Apply:
    """The owner's KIngress. Spec, labels and annotations are all ours: whatever else stands in them goes."""
    ref = kingress_ref(owner)
    fields = object_fields(
        KIngress,
        ref.namespace,
        ref.name,
        owners=(owner_reference(owner),),
        labels=labels,
        annotations=annotations,
        spec=raw(spec),
    )
    return Apply(fields, announce=subject(owner))


def foreign_kingress(existing: KIngress | None, owner: KubernetesObject) -> Problem | None:
    """The problem of a KIngress under the owner's name that something else controls, or nothing does.

    Knative would rewrite it. It would then outlive its new owner, and the one it was taken from would fight back.
    """
    if existing is None or is_controlled_by(existing, owner):
        return None
    return Problem(
        NOT_OWNED,
        f"found a KIngress that {owner.ref} does not control, wanted one of its own.",
        existing.ref,
        "metadata.ownerReferences",
        f"Delete or rename it, or give {owner.ref} another name.",
    )


def mark_ingress(conditions: ConditionSet, existing: KIngress | None, wanted: KIngressSpec) -> bool:
    """Passes the readiness of a KIngress on to IngressReady.

    Args:
        existing: the KIngress as it is, before `wanted` is written. A spec that will change moves its generation, and
            the status that is there speaks of the older one.
    Returns: whether the status counted and Ready was passed on.
    """
    if existing is None or existing.spec != wanted or _is_status_of_older_generation(existing):
        conditions.mark_unknown(INGRESS_READY, INGRESS_NOT_CONFIGURED, _NOT_OBSERVED)
        return False
    ready = condition_of(existing.status.conditions, "Ready")
    if ready is None:
        conditions.mark_unknown(INGRESS_READY, INGRESS_NOT_CONFIGURED, _NOT_OBSERVED)
        return False
    if ready.status == "True":
        conditions.mark_true(INGRESS_READY)
    elif ready.status == "False":
        conditions.mark_false(INGRESS_READY, ready.reason, ready.message)
    else:
        conditions.mark_unknown(INGRESS_READY, ready.reason, ready.message)
    return True


def mark_not_configured(conditions: ConditionSet, message: str = _NOT_OBSERVED) -> None:
    """IngressReady while the KIngress cannot be made, or does not speak of this generation yet."""
    conditions.mark_unknown(INGRESS_READY, INGRESS_NOT_CONFIGURED, message)


def _is_status_of_older_generation(existing: KIngress) -> bool:
    return existing.metadata.generation != existing.status.observed_generation
