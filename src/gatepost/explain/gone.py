"""Objects that were given and are gone: nothing serves by them any more, though people see them in their files."""

from __future__ import annotations

from collections.abc import Sequence

from gatepost.explain.names import Asked, names_written_in
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref

BEING_DELETED = "BeingDeleted"
NOT_KEPT = "NotKept"


def why_gone(obj: KubernetesObject, says: str = "") -> Skipped:
    """Why an object that was given is not there. `says` is put before it."""
    if obj.metadata.deletion_timestamp is not None:
        message = "is being deleted and nothing keeps it, so it counts as gone"
        return Skipped(BEING_DELETED, says + message, obj.ref, "metadata.deletionTimestamp")
    return Skipped(NOT_KEPT, f"{says}goes as soon as the controllers are at work", obj.ref, "metadata.ownerReferences")


def gone_with(asked: Asked, gone: Sequence[KubernetesObject], namespace: str = "") -> tuple[Skipped, ...]:
    """Why those are gone that took a name in; first those that are being deleted, which the others mostly follow.

    Args: namespace: only objects of this one; "" for all.
    """
    found = [
        why_gone(obj, f"mentions {asked.name}, but ")
        for obj in gone
        if namespace in ("", obj.ref.namespace)
        and any(asked.is_taken_in_by(host.name) for host in names_written_in(obj))
    ]
    return tuple(sorted(found, key=lambda why: (why.reason != BEING_DELETED, why.at)))


def gone_object(ref: Ref, gone: Sequence[KubernetesObject]) -> Skipped | None:
    """Why this object is gone, None if it was not given."""
    return next((why_gone(obj) for obj in gone if obj.ref == ref), None)
