"""The whole wish of a reconciler for one object, as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field, to_builtins

from gatepost.objects.meta import Condition, KubernetesObject
from gatepost.objects.problems import Problem, Skipped
from gatepost.objects.refs import Ref, ref_of

REPLACED_WHOLE = ("spec", "metadata.labels", "metadata.annotations")


class Subject(Struct, frozen=True, gc=False):
    """The object that an event is about."""

    ref: Ref
    api_version: str
    uid: str = ""


class Event(Struct, frozen=True, gc=False):
    """An event to record. `type` is "Normal" or "Warning"; `action` is what was done, such as "Created", or ""."""

    about: Subject
    type: str
    reason: str
    message: str
    action: str = ""


class OwnEntries(Struct, frozen=True):
    """Entries that are ours in a list that we share with others, such as the listeners of a Gateway.

    Entries whose `key` starts with `prefix` are ours: those that are not in `entries` are removed, no other is touched.
    """

    path: str
    key: str
    prefix: str
    entries: tuple[dict[str, Any], ...]


class Apply(Struct, frozen=True):
    """An object as it should be, as far as we have a say.

    Attributes:
        fields: the object in its raw form, with only the fields that are ours.
        whole: dotted paths of which we own everything: what is there and not in `fields` is removed. Elsewhere mappings
            are merged, and lists replaced.
        at_creation: dotted paths that count only while the object does not exist yet; later they are left as found.
        entries: our part of shared lists. They are written only while the object exists.
        may_create: False for objects that others make and we only add to.
        announce: the object whose events tell of a creation, and of an update with `announce_updates`.
    """

    fields: dict[str, Any]
    whole: tuple[str, ...] = REPLACED_WHOLE
    at_creation: tuple[str, ...] = ("metadata.ownerReferences",)
    entries: tuple[OwnEntries, ...] = ()
    may_create: bool = True
    announce: Subject | None = None
    announce_updates: bool = False

    @property
    def ref(self) -> Ref:
        return ref_of(self.fields)


class Delete(Struct, frozen=True):
    """An object to delete, if it still has this UID ("" in manifests that never saw a cluster), and why."""

    ref: Ref
    uid: str
    cause: str
    announce: Subject | None = None


class Outcome(Struct):
    """What a reconciler wants for one object, and every "no" on the way. Equal wishes are equal values.

    Attributes:
        about: the object that was reconciled, None while it does not exist.
        note: one line for `explain` when nothing is wanted.
        status: top-level keys of its status as they should be; None as a value removes the key; {} leaves all as it is.
        status_if_refused: an object to apply -> the status in place of `status` while the server refuses that object.
        finalizers: the finalizers that it should have, None leaves them as they are.
        problems, skipped: shown by status, events, logs, `explain` and tests alike.
        blocked: a later step would act on half a truth.
    """

    about: Subject | None = None
    note: str = ""
    applies: list[Apply] = field(default_factory=list)
    deletes: list[Delete] = field(default_factory=list)
    status: dict[str, Any] = field(default_factory=dict)
    status_if_refused: dict[Ref, dict[str, Any]] = field(default_factory=dict)
    finalizers: tuple[str, ...] | None = None
    events: list[Event] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    blocked: bool = False

    @classmethod
    def none(cls, note: str) -> Outcome:
        """Nothing is wanted; `note` says why."""
        return cls(note=note)

    @classmethod
    def of(cls, obj: KubernetesObject) -> Outcome:
        """An empty wish for an object."""
        return cls(about=subject(obj))

    def want(self, apply: Apply) -> None:
        self.applies.append(apply)

    def remove(self, obj: KubernetesObject, cause: str) -> None:
        """Wants an object deleted; events tell it on the object that is reconciled."""
        self.deletes.append(Delete(obj.ref, obj.metadata.uid, cause, self.about))

    def block(self, problem: Problem) -> None:
        """Takes note of a problem that stops the later steps."""
        self.problems.append(problem)
        self.blocked = True

    def warn(self, reason: str, message: str) -> None:
        self._record("Warning", reason, message)

    def tell(self, reason: str, message: str) -> None:
        self._record("Normal", reason, message)

    def _record(self, type_: str, reason: str, message: str) -> None:
        if self.about is None:
            raise ValueError("an event needs an object that it is about")
        self.events.append(Event(self.about, type_, reason, message))


def subject(obj: KubernetesObject) -> Subject:
    return Subject(obj.ref, obj.api_version or obj.KIND.api_version, obj.metadata.uid)


def object_fields(
    type_: type[KubernetesObject],
    namespace: str,
    name: str,
    *,
    owners: Sequence[Mapping[str, Any]] = (),
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **body: Any,
) -> dict[str, Any]:
    """The raw form of an object to apply, in the version that gatepost writes. `body` holds `spec` and the like."""
    metadata: dict[str, Any] = {"name": name}
    if type_.KIND.namespaced:
        metadata["namespace"] = namespace
    if labels:
        metadata["labels"] = dict(sorted(labels.items()))
    if annotations:
        metadata["annotations"] = dict(sorted(annotations.items()))
    if owners:
        metadata["ownerReferences"] = [dict(owner) for owner in owners]
    return {"apiVersion": type_.KIND.api_version, "kind": type_.KIND.kind, "metadata": metadata, **body}


def raw(value: Any) -> Any:
    """A struct (or a tuple of them) in its raw form, without fields that have their default."""
    return to_builtins(value)


def condition_fields(conditions: Sequence[Condition]) -> list[dict[str, Any]]:
    """Conditions for a status. Those that changed in this pass have no `lastTransitionTime`: the writer puts it in."""
    return [{"type": c.type, "status": c.status, **_without_type_and_status(c)} for c in conditions]


def _without_type_and_status(condition: Condition) -> dict[str, Any]:
    fields: dict[str, Any] = to_builtins(condition)
    return {key: value for key, value in fields.items() if key not in ("type", "status")}


__all__ = [
    "REPLACED_WHOLE",
    "Apply",
    "Delete",
    "Event",
    "Outcome",
    "OwnEntries",
    "Subject",
    "condition_fields",
    "object_fields",
    "raw",
    "subject",
]
