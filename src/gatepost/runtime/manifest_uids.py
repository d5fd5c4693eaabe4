"""UIDs for objects of manifests, which no cluster has given any."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from gatepost.objects.refs import Ref, group_of, ref_of

Raw = dict[str, Any]


def uid_of(ref: Ref) -> str:
    """A UID that depends on the name alone, so that rendering twice gives the same text."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{ref.group}/{ref.kind}/{ref.namespace}/{ref.name}"))


def with_owners_named(objects: Sequence[Mapping[str, Any]]) -> list[Raw]:
    """The objects with the UIDs that their owners get, where an owner reference has none since no cluster gave one."""
    uids = {ref: raw["metadata"].get("uid") or uid_of(ref) for raw in objects for ref in (ref_of(raw),)}
    return [_with_owners(raw, uids) for raw in objects]


def _with_owners(raw: Mapping[str, Any], uids: Mapping[Ref, str]) -> Raw:
    owners = raw["metadata"].get("ownerReferences") or ()
    if all(owner.get("uid") for owner in owners):
        return dict(raw)
    namespace = raw["metadata"].get("namespace") or ""
    named = [{**owner, "uid": owner.get("uid") or _uid_among(uids, owner, namespace)} for owner in owners]
    return {**raw, "metadata": {**raw["metadata"], "ownerReferences": named}}


def _uid_among(uids: Mapping[Ref, str], owner: Mapping[str, Any], namespace: str) -> str:
    """The UID of an owner in the same namespace or in none; "" if it is not there."""
    group, kind, name = group_of(owner["apiVersion"]), owner["kind"], owner["name"]
    refs = (Ref(group, kind, namespace, name), Ref(group, kind, "", name))
    return next((uids[ref] for ref in refs if ref in uids), "")
