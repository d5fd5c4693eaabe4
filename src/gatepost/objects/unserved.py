"""Kinds that the cluster does not serve, held in the store like objects so that looking for one is recorded."""

from __future__ import annotations

from typing import ClassVar

from gatepost.objects.meta import Kind, KubernetesObject, ObjectMeta
from gatepost.objects.problems import UNREADABLE, Skipped
from gatepost.objects.refs import GroupKind, Ref


class UnservedKind(KubernetesObject, frozen=True, kw_only=True):
    """There while the cluster does not serve a kind, whose objects are then neither known nor certainly absent."""

    KIND: ClassVar = Kind("gatepost", "UnservedKind", "unservedkinds", ("v1",), namespaced=False)


def unserved(group_kind: GroupKind) -> UnservedKind:
    return UnservedKind(metadata=ObjectMeta(name=str(group_kind)))


def unserved_ref(group_kind: GroupKind) -> Ref:
    return UnservedKind.KIND.ref("", str(group_kind))


def skipped_as_unserved(ref: Ref) -> Skipped:
    """What is said of an object that cannot be looked for."""
    return Skipped(UNREADABLE, f"cannot be read: the cluster does not serve {ref.group_kind}", ref)
