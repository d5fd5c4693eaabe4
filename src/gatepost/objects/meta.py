"""What every Kubernetes object has: its kind, metadata, owners and conditions."""

from __future__ import annotations

from sys import intern
from typing import ClassVar

from msgspec import Struct, field
from msgspec.structs import force_setattr

from gatepost.objects.refs import GroupKind, Ref, api_version_of
from gatepost.objects.times import is_in_canonical_form, whole_seconds_utc


class Shape(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Base of every part of an object: frozen, lean, with the API's spelling outside. Unknown fields are not kept."""


class Kind(Struct, frozen=True, gc=False):
    """What the API calls a kind of object. `versions` are those that gatepost can read, the written one first."""

    group: str
    kind: str
    plural: str
    versions: tuple[str, ...]
    namespaced: bool = True

    @property
    def group_kind(self) -> GroupKind:
        return GroupKind(self.group, self.kind)

    @property
    def api_version(self) -> str:
        return api_version_of(self.group, self.versions[0])

    def ref(self, namespace: str, name: str) -> Ref:
        return Ref(self.group, self.kind, namespace if self.namespaced else "", name)


class OwnerReference(Shape, frozen=True):
    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False
    block_owner_deletion: bool = False


class ObjectMeta(Shape, frozen=True):
    """The metadata that rules read. Timestamps are in whole seconds of UTC, so they compare as text; "" is absent.

    Manifests may write them otherwise; an API server never does. A text that is no moment stays as it is.

    `resourceVersion` is left out on purpose: it moves with every write, and rules that saw it would rerun for nothing.
    """

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        force_setattr(self, "namespace", intern(self.namespace))
        created, deleted = self.creation_timestamp, self.deletion_timestamp
        if created and not is_in_canonical_form(created):
            force_setattr(self, "creation_timestamp", whole_seconds_utc(created) or created)
        if deleted and not is_in_canonical_form(deleted):
            force_setattr(self, "deletion_timestamp", whole_seconds_utc(deleted) or deleted)


class Condition(Shape, frozen=True):
    """One condition. `last_transition_time` is None while it changes in this very pass: the writer puts the time in.

    A cluster has many conditions with few different texts, so each text is kept once.
    """

    type: str
    status: str = "Unknown"
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    observed_generation: int = 0
    severity: str = ""

    def __post_init__(self) -> None:
        force_setattr(self, "type", intern(self.type))
        force_setattr(self, "status", intern(self.status))
        force_setattr(self, "reason", intern(self.reason))
        force_setattr(self, "message", intern(self.message))


class KubernetesObject(Shape, frozen=True, kw_only=True):
    """Base of the typed kinds: `KIND` says what the API calls them."""

    KIND: ClassVar[Kind]

    api_version: str = ""
    metadata: ObjectMeta

    def __post_init__(self) -> None:
        force_setattr(self, "api_version", intern(self.api_version))

    @property
    def ref(self) -> Ref:
        kind = self.KIND
        metadata = self.metadata
        return Ref(kind.group, kind.kind, metadata.namespace if kind.namespaced else "", metadata.name)


def condition_of(conditions: tuple[Condition, ...], type_: str) -> Condition | None:
    """The first condition of that type, None if there is none (which counts as Unknown)."""
    return next((condition for condition in conditions if condition.type == type_), None)


def is_true(conditions: tuple[Condition, ...], type_: str) -> bool:
    condition = condition_of(conditions, type_)
    return condition is not None and condition.status == "True"


def controller_of(obj: KubernetesObject) -> OwnerReference | None:
    """The one owner reference with `controller: true`, None if nothing controls the object."""
    return next((owner for owner in obj.metadata.owner_references if owner.controller), None)


def is_controlled_by(obj: KubernetesObject, owner: KubernetesObject) -> bool:
    """Whether `owner` controls `obj`. UIDs alone decide: a new object of the same name owns nothing of the old one.

    An owner without UID (in a manifest that never saw a cluster) is compared by kind and name instead.
    Source: Kubernetes metav1.IsControlledBy; spec of ownership in knative.dev/pkg.
    """
    controller = controller_of(obj)
    if controller is None:
        return False
    if owner.metadata.uid or controller.uid:
        return controller.uid == owner.metadata.uid
    return controller.kind == owner.KIND.kind and controller.name == owner.metadata.name


def owner_reference(owner: KubernetesObject) -> dict[str, object]:
    """The owner reference that a child of `owner` carries, in its raw form."""
    return {
        "apiVersion": owner.KIND.api_version,
        "kind": owner.KIND.kind,
        "name": owner.metadata.name,
        "uid": owner.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


class LabelSelectorRequirement(Shape, frozen=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Shape, frozen=True):
    match_labels: dict[str, str] = field(default_factory=dict)
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()
