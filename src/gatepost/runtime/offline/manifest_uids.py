"""UIDs for objects of manifests, which no cluster has given any."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gatepost.objects.refs import Ref, group_of, ref_of

Raw = dict[str, Any]


def uid_of(ref: Ref) -> str:
    """A UID that depends on the name alone, so that rendering twice gives the same text."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{ref.group}/{ref.kind}/{ref.namespace}/{ref.name}"))


def with_owners_named(objects: Sequence[Mapping[str, Any]]) -> list[Raw]:
    """The objects with UIDs, and with those of their owners where an owner reference has none.

    An object whose UID was taken out, as tools that tidy exports do, has the one by which the others refer to it.
    """
    referred = _uids_in_references(objects)
    uids = {ref: raw["metadata"].get("uid") or _only(referred.get(ref)) or uid_of(ref) for ref, raw in _by_ref(objects)}
    return [_with_owners(_with_uid(raw, uids[ref]), uids) for ref, raw in _by_ref(objects)]


def _by_ref(objects: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Ref, Mapping[str, Any]]]:
    return ((ref_of(raw), raw) for raw in objects)


def _uids_in_references(objects: Sequence[Mapping[str, Any]]) -> dict[Ref, set[str]]:
    """The UIDs that owner references give for each owner."""
    found: dict[Ref, set[str]] = {}
    for raw in objects:
        for owner in raw["metadata"].get("ownerReferences") or ():
            for ref in _refs_of(owner, raw["metadata"].get("namespace") or ""):
                if owner.get("uid"):
                    found.setdefault(ref, set()).add(owner["uid"])
    return found


def _only(uids: set[str] | None) -> str:
    return next(iter(uids)) if uids and len(uids) == 1 else ""


def _with_uid(raw: Mapping[str, Any], uid: str) -> Mapping[str, Any]:
    return raw if raw["metadata"].get("uid") else {**raw, "metadata": {**raw["metadata"], "uid": uid}}


def _with_owners(raw: Mapping[str, Any], uids: Mapping[Ref, str]) -> Raw:
    owners = raw["metadata"].get("ownerReferences") or ()
    if all(owner.get("uid") for owner in owners):
        return dict(raw)
    namespace = raw["metadata"].get("namespace") or ""
    named = [{**owner, "uid": owner.get("uid") or _uid_among(uids, owner, namespace)} for owner in owners]
    return {**raw, "metadata": {**raw["metadata"], "ownerReferences": named}}


def _uid_among(uids: Mapping[Ref, str], owner: Mapping[str, Any], namespace: str) -> str:
    """The UID of an owner; "" if it is not there."""
    return next((uids[ref] for ref in _refs_of(owner, namespace) if ref in uids), "")


def _refs_of(owner: Mapping[str, Any], namespace: str) -> tuple[Ref, Ref]:
    """What an owner reference can stand for: an object of the same namespace, or of none."""
    group, kind, name = group_of(owner.get("apiVersion", "")), owner.get("kind", ""), owner.get("name", "")
    return Ref(group, kind, namespace, name), Ref(group, kind, "", name)
