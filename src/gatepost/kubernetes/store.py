"""The objects of a model, the one counter of versions, and the changes in the order they were made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gatepost.kubernetes.values import Raw, copy_of, list_at, mapping_at
from gatepost.objects.refs import GroupKind, Ref

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"


class Change(NamedTuple):
    """One change, as a watch tells it.

    `old` is None for ADDED, `new` is None for DELETED; both are copies that nobody changes later.
    `resource_version` is the version that the change made, for DELETED too.
    """

    type: str
    old: Raw | None
    new: Raw | None
    resource_version: int


class ObjectStore:
    """Objects by kind, namespace and name. What is stored is never changed in place, only replaced."""

    def __init__(self) -> None:
        self._objects: dict[GroupKind, dict[tuple[str, str], Raw]] = {}
        self._ref_by_uid: dict[str, Ref] = {}
        self._dependents: dict[str, dict[Ref, None]] = {}
        self._terminating: dict[Ref, None] = {}
        self._gone_uids: dict[str, None] = {}
        self._changes: list[Change] = []
        self._version = 0

    @property
    def version(self) -> int:
        """The version of the latest change."""
        return self._version

    def reach_version(self, version: int) -> None:
        """Lets the counter go on from there, if it is not beyond already."""
        self._version = max(self._version, version)

    def find(self, ref: Ref) -> Raw | None:
        """The stored object itself: the caller must not change it."""
        return self._objects.get(ref.group_kind, {}).get((ref.namespace, ref.name))

    def of_kind(self, group_kind: GroupKind) -> list[Raw]:
        """The stored objects of a kind, by namespace and name."""
        objects = self._objects.get(group_kind, {})
        return [objects[key] for key in sorted(objects)]

    def refs(self) -> Iterator[Ref]:
        for group_kind, objects in self._objects.items():
            for namespace, name in objects:
                yield Ref(group_kind.group, group_kind.kind, namespace, name)

    def ref_of_uid(self, uid: str) -> Ref | None:
        return self._ref_by_uid.get(uid)

    def dependents_of(self, uid: str) -> list[Ref]:
        """The objects with an owner reference of that uid."""
        return sorted(self._dependents.get(uid, {}))

    def owner_uids(self) -> list[str]:
        """Every uid that some owner reference names."""
        return list(self._dependents)

    def terminating(self) -> list[Ref]:
        """The objects with a deletionTimestamp that are still there."""
        return list(self._terminating)

    def take_gone_uids(self) -> list[str]:
        """The uids of objects that were removed since this was last asked."""
        gone = list(self._gone_uids)
        self._gone_uids.clear()
        return gone

    def load(self, ref: Ref, raw: Raw) -> None:
        """Stores without a change and without a new version."""
        version = mapping_at(raw, "metadata").get("resourceVersion")
        if isinstance(version, str) and version.isdigit():
            self.reach_version(int(version))
        self._forget(ref)
        self._keep(ref, raw)

    def put(self, ref: Ref, raw: Raw) -> Raw:
        """Stores a new state under the next version; gives the object as stored, with that version in it."""
        self._version += 1
        stored = {**raw, "metadata": {**raw["metadata"], "resourceVersion": str(self._version)}}
        old = self.find(ref)
        self._forget(ref)
        self._keep(ref, stored)
        kind = ADDED if old is None else MODIFIED
        self._changes.append(Change(kind, old, stored, self._version))
        return stored

    def remove(self, ref: Ref) -> Raw:
        """Takes the object out under the next version; gives its last state.

        Raises: KeyError if it is not there.
        """
        old = self._objects[ref.group_kind][(ref.namespace, ref.name)]
        self._version += 1
        self._forget(ref)
        uid = old["metadata"].get("uid")
        if uid:
            self._gone_uids[uid] = None
        self._changes.append(Change(DELETED, old, None, self._version))
        return old

    def take_changes(self, *, shared: bool = False) -> list[Change]:
        """The changes since this was last asked, in order, as copies; `shared` gives the stored objects themselves."""
        taken, self._changes = self._changes, []
        if shared:
            return taken
        return [change._replace(old=copy_of(change.old), new=copy_of(change.new)) for change in taken]

    def _keep(self, ref: Ref, raw: Raw) -> None:
        self._objects.setdefault(ref.group_kind, {})[(ref.namespace, ref.name)] = raw
        metadata = raw["metadata"]
        if metadata.get("uid"):
            self._ref_by_uid[metadata["uid"]] = ref
        if metadata.get("deletionTimestamp"):
            self._terminating[ref] = None
        for uid in owner_uids_of(raw):
            self._dependents.setdefault(uid, {})[ref] = None

    def _forget(self, ref: Ref) -> None:
        old = self._objects.get(ref.group_kind, {}).pop((ref.namespace, ref.name), None)
        if old is None:
            return
        metadata = old["metadata"]
        if self._ref_by_uid.get(metadata.get("uid", "")) == ref:
            del self._ref_by_uid[metadata["uid"]]
        self._terminating.pop(ref, None)
        for uid in owner_uids_of(old):
            dependents = self._dependents.get(uid, {})
            dependents.pop(ref, None)
            if not dependents:
                self._dependents.pop(uid, None)


def owner_uids_of(raw: Raw) -> list[str]:
    """The uids in the owner references; a reference without one (only in manifests) counts as none."""
    owners = list_at(mapping_at(raw, "metadata"), "ownerReferences")
    return [owner["uid"] for owner in owners if isinstance(owner, dict) and owner.get("uid")]
