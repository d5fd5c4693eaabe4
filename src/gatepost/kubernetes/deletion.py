"""Deleting: finalizers, what follows its owner, namespaces with all that is in them, kinds with all their objects.

`delete` is the request: the object goes at once, or is marked and waits. `collect` is what the controllers of a cluster
do afterwards in their own time: it goes on until nothing more follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from gatepost.kubernetes.crds import CRD
from gatepost.kubernetes.defaults import NAMESPACE
from gatepost.kubernetes.resources import Resources
from gatepost.kubernetes.store import ObjectStore
from gatepost.kubernetes.values import Raw, list_at, mapping_at
from gatepost.kubernetes.writing import with_generation
from gatepost.objects.refs import GroupKind, Ref, ref_of

Propagation: TypeAlias = Literal["Background", "Foreground", "Orphan"]

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"


class Deletions:
    """Takes objects out of a store as a cluster does."""

    def __init__(self, store: ObjectStore, resources: Resources, now: Callable[[], str]) -> None:
        self._store = store
        self._resources = resources
        self._now = now
        self._gone: set[str] = set()

    def marked(self, live: Raw, propagation: Propagation) -> Raw | None:
        """The object as a deletion leaves it, None if it is gone at once."""
        finalizers = [one for one in list_at(live["metadata"], "finalizers") if one not in (FOREGROUND, ORPHAN)]
        if propagation == "Foreground":
            finalizers.append(FOREGROUND)
        elif propagation == "Orphan":
            finalizers.append(ORPHAN)
        waits = finalizers or ref_of(live).group_kind in (NAMESPACE, CRD)
        return self._terminating(live, finalizers) if waits else None

    def delete(self, ref: Ref, propagation: Propagation) -> Raw | None:
        """Deletes a stored object; gives what is left of it, None if it is gone."""
        live = self._store.find(ref)
        if live is None:
            return None
        marked = self.marked(live, propagation)
        if marked is None:
            self.remove(ref)
            return None
        return live if marked == live else self._store.put(ref, marked)

    def remove(self, ref: Ref) -> None:
        """Takes the object out, whatever finalizers it has; with a CRD goes its kind."""
        gone = self._store.remove(ref)
        if ref.group_kind == CRD:
            self._resources.remove(_kind_of_crd(gone))

    def collect(self, *, unknown_owners_are_gone: bool = False) -> None:
        """Removes what must follow, until nothing more does.

        An object goes when none of its owners is left. An owner that never was in the store counts as left, unless
        `unknown_owners_are_gone`: manifests rarely hold all owners.
        """
        if unknown_owners_are_gone:
            unknown = [uid for uid in self._store.owner_uids() if self._store.ref_of_uid(uid) is None]
            self._gone.update(unknown)
            self._collect_dependents(unknown)
        while True:
            version = self._store.version
            gone = self._store.take_gone_uids()
            self._gone.update(gone)
            self._collect_dependents(gone)
            for ref in self._store.terminating():
                self._advance(ref)
            if self._store.version == version:
                # A uid that nobody refers to any more need not be remembered.
                self._gone.intersection_update(self._store.owner_uids())
                return

    def _collect_dependents(self, uids: Iterable[str]) -> None:
        for uid in sorted(uids):
            for ref in self._store.dependents_of(uid):
                dependent = self._store.find(ref)
                if dependent is None:
                    continue
                if any(not self._is_gone(owner) for owner in list_at(dependent["metadata"], "ownerReferences")):
                    self._store.put(ref, _disowned(dependent, uid))
                elif not dependent["metadata"].get("deletionTimestamp"):
                    self.delete(ref, "Background")

    def _is_gone(self, owner: Raw) -> bool:
        uid = str(owner.get("uid") or "")
        return uid in self._gone and self._store.ref_of_uid(uid) is None

    def _advance(self, ref: Ref) -> None:
        """The next steps of a deletion that waits for others."""
        live = self._store.find(ref)
        if live is None:
            return
        finalizers = list_at(live["metadata"], "finalizers")
        if ORPHAN in finalizers:
            self._orphan_dependents(live)
            self._drop_finalizer(ref, ORPHAN)
        elif FOREGROUND in finalizers:
            if not self._delete_dependents(live):
                self._drop_finalizer(ref, FOREGROUND)
        elif ref.group_kind in (NAMESPACE, CRD):
            content = self._content(live)
            for inner in content:
                if not (self._store.find(inner) or {"metadata": {}})["metadata"].get("deletionTimestamp"):
                    self.delete(inner, "Background")
            if not finalizers and not self._content(live):
                self.remove(ref)
        elif not finalizers and not live["metadata"].get("deletionGracePeriodSeconds"):
            self.remove(ref)  # nothing holds it: only manifests have such an object, a server has removed it by then

    def _content(self, holder: Raw) -> list[Ref]:
        """What must be gone before a namespace or a CRD is."""
        if ref_of(holder).group_kind == CRD:
            return [ref_of(raw) for raw in self._store.of_kind(_kind_of_crd(holder))]
        name = holder["metadata"]["name"]
        return sorted(ref for ref in self._store.refs() if ref.namespace == name)

    def _orphan_dependents(self, owner: Raw) -> None:
        uid = owner["metadata"].get("uid", "")
        for ref in self._store.dependents_of(uid):
            dependent = self._store.find(ref)
            if dependent is not None:
                self._store.put(ref, _disowned(dependent, uid))

    def _delete_dependents(self, owner: Raw) -> bool:
        """Starts the deletion of all dependents; tells whether one that blocks the owner is still there."""
        uid = owner["metadata"].get("uid", "")
        for ref in self._store.dependents_of(uid):
            dependent = self._store.find(ref)
            if dependent is None or dependent["metadata"].get("deletionTimestamp"):
                continue
            owners = list_at(dependent["metadata"], "ownerReferences")
            if any(other.get("uid") != uid and not self._is_gone(other) for other in owners):
                self._store.put(ref, _disowned(dependent, uid))
            else:
                self.delete(ref, "Foreground")
        return any(_blocks(self._store.find(ref), uid) for ref in self._store.dependents_of(uid))

    def _drop_finalizer(self, ref: Ref, finalizer: str) -> None:
        live = self._store.find(ref)
        if live is None:
            return
        left = [one for one in list_at(live["metadata"], "finalizers") if one != finalizer]
        if left or ref.group_kind in (NAMESPACE, CRD):
            self._store.put(ref, _with_metadata(live, finalizers=left))
        else:
            self.remove(ref)

    def _terminating(self, live: Raw, finalizers: list[str]) -> Raw:
        """Marked as being deleted; the first mark raises the generation, as the server does."""
        if live["metadata"].get("deletionTimestamp"):
            return _with_metadata(live, finalizers=finalizers)
        marked = _with_metadata(
            live, deletionTimestamp=self._now(), deletionGracePeriodSeconds=0, finalizers=finalizers
        )
        generation = live["metadata"].get("generation")
        if generation:
            marked = with_generation(marked, generation + 1)
        if ref_of(live).group_kind == NAMESPACE:
            marked["status"] = {**mapping_at(live, "status"), "phase": "Terminating"}
        return marked


def _kind_of_crd(raw: Raw) -> GroupKind:
    spec = mapping_at(raw, "spec")
    return GroupKind(str(spec.get("group", "")), str(mapping_at(spec, "names").get("kind", "")))


def _blocks(dependent: Raw | None, uid: str) -> bool:
    if dependent is None:
        return False
    owners = list_at(dependent["metadata"], "ownerReferences")
    return any(owner.get("uid") == uid and owner.get("blockOwnerDeletion") is True for owner in owners)


def _disowned(dependent: Raw, uid: str) -> Raw:
    owners = list_at(dependent["metadata"], "ownerReferences")
    return _with_metadata(dependent, ownerReferences=[owner for owner in owners if owner.get("uid") != uid])


def _with_metadata(raw: Raw, **fields: object) -> Raw:
    """The object with these fields in its metadata; empty lists leave the field out."""
    metadata = {**raw["metadata"], **fields}
    return {**raw, "metadata": {key: value for key, value in metadata.items() if value != []}}
