"""From a wish and what is there to the calls that fulfil it, as values. No call at all when nothing differs.

| wish                         | calls                                                                     |
| ---                          | ---                                                                       |
| object that does not exist   | create; the server refuses it if somebody was faster                      |
| object that differs          | server-side apply of our fields; before it the whole change as a merge    |
|                              | patch, bound to the resourceVersion, if others own something that must go |
| our entries in a shared list | merge patch of the whole list, bound to the resourceVersion               |
| status, finalizers           | merge patch of what differs, bound to the resourceVersion                 |
| deletion                     | delete, bound to the UID                                                  |

Source: Kubernetes API concepts, "Server-Side Apply" and "Resource versions".
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from gatepost.kubernetes.fields import FieldPath, Fields
from gatepost.kubernetes.managed_fields import APPLY, managers_of
from gatepost.kubernetes.merge import merge_patch_between
from gatepost.objects.refs import Ref
from gatepost.writes.compare import wanted_object, wanted_status
from gatepost.writes.outcome import Apply, Delete, Event

MANAGER = "gatepost"

Raw = dict[str, Any]

_LONGEST_NAME_IN_EVENT = 253 - 17
_LONGEST_EVENT_MESSAGE = 1024  # bytes of a note in events.k8s.io/v1, in which the same events are read


class Request(Struct, frozen=True):
    """One writing call.

    Attributes:
        kind: what is done; `apply` and `merge` are the two kinds of patch.
        ref: the object.
        body: for `create` and `apply` an object whose apiVersion the edge sets to the one that the cluster serves.
    """

    kind: Literal["create", "apply", "merge", "delete"]
    ref: Ref
    body: Raw
    subresource: str = ""


def apply_requests(apply: Apply, current: Raw | None) -> tuple[Request, ...]:
    """The calls after which the object is as wished; empty if it is, or is not ours to create."""
    if current is None:
        wanted = wanted_object(apply, None)
        return (Request("create", apply.ref, wanted),) if wanted is not None else ()
    fields = replace(apply, entries=())
    return _update_requests(fields, current) + _entry_requests(apply, current)


def _update_requests(apply: Apply, current: Raw) -> tuple[Request, ...]:
    wanted = wanted_object(apply, current)
    if wanted is None or wanted == current:
        return ()
    body = _applied_fields(apply, current)
    if not _left_overs(current, wanted):
        return (Request("apply", apply.ref, body),)
    # Applying takes fields away from nobody but ourselves: what others own must be removed by name. The whole change
    # goes with it: what goes and what comes may be valid only together, as in a Service that ceases to be an
    # ExternalName. The apply after it changes nothing but who owns the fields.
    change = merge_patch_between(current, wanted)
    return (Request("merge", apply.ref, _bound(change, current)), Request("apply", apply.ref, body))


def _applied_fields(apply: Apply, current: Raw) -> Raw:
    body = {key: value for key, value in apply.fields.items() if key != "metadata"}
    # The UID keeps an apply from making the object anew if it was deleted meanwhile.
    metadata = {**apply.fields["metadata"], "uid": current.get("metadata", {}).get("uid")}
    body["metadata"] = {key: value for key, value in metadata.items() if value}
    for path in apply.at_creation:
        body = _without(body, path.split("."))
    return body


def _entry_requests(apply: Apply, current: Raw) -> tuple[Request, ...]:
    """One merge patch for all shared lists.

    Not server-side apply: several wishes put entries into one list under one manager, and applying some of them would
    remove the others.
    """
    if not apply.entries:
        return ()
    with_entries = wanted_object(Apply(_identity(apply.fields), whole=(), entries=apply.entries), current)
    assert with_entries is not None
    patch = merge_patch_between(current, with_entries)
    return (Request("merge", apply.ref, _bound(patch, current)),) if patch else ()


def status_request(ref: Ref, wish: Mapping[str, Any], current: Raw, now: str) -> Request | None:
    """The write of a status; None if it is as wished. `now` is RFC 3339 in UTC."""
    before = current.get("status") or {}
    patch = merge_patch_between(before, wanted_status(wish, before, now))
    return Request("merge", ref, _bound({"status": patch}, current), "status") if patch else None


def finalizers_request(ref: Ref, finalizers: Sequence[str], current: Raw) -> Request | None:
    """The write of the finalizers; None if they are as wished."""
    before = current.get("metadata", {}).get("finalizers") or []
    if list(finalizers) == before:
        return None
    return Request("merge", ref, _bound({"metadata": {"finalizers": list(finalizers)}}, current))


def delete_request(delete: Delete, current: Raw | None) -> Request | None:
    """The deletion; None if the object is gone, is on its way out, or is another one under the same name."""
    if current is None:
        return None
    metadata = current.get("metadata", {})
    uid = metadata.get("uid", "")
    if metadata.get("deletionTimestamp") or (delete.uid and delete.uid != uid):
        return None
    options: Raw = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
    if uid:
        options["preconditions"] = {"uid": uid}
    return Request("delete", delete.ref, options)


def event_request(event: Event, now: str) -> Request:
    """A new event, in the namespace of its object ("default" for one that has none).

    Its name follows from what it says: one that is there already, from an earlier start, is refused and not doubled.
    Source: core/v1 Event, as Knative's recorder writes it.
    """
    about = event.about.ref
    namespace = about.namespace or "default"
    name = _event_name(event)
    involved = {  # as `regarding` in events.k8s.io/v1
        "apiVersion": event.about.api_version,
        "kind": about.kind,
        "namespace": about.namespace,
        "name": about.name,
        "uid": event.about.uid,
    }
    body = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": {key: value for key, value in involved.items() if value},
        "type": event.type,
        "reason": event.reason,
        "message": event.message.encode()[:_LONGEST_EVENT_MESSAGE].decode(errors="ignore"),
        "source": {"component": MANAGER},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
        "reportingComponent": MANAGER,  # as `reportingController` in events.k8s.io/v1
        "reportingInstance": MANAGER,
    }
    if event.action:
        body["action"] = event.action
    return Request("create", Ref("", "Event", namespace, name), body)


def _event_name(event: Event) -> str:
    said = (event.about.ref.kind, event.about.uid, event.type, event.reason, event.message)
    digest = hashlib.sha256("\n".join(said).encode()).hexdigest()[:16]
    # An object's name may have 253 characters, and so may an event's; what is cut must not end in a dot or dash.
    return f"{event.about.ref.name[:_LONGEST_NAME_IN_EVENT].rstrip('.-')}.{digest}"


def repeated_event_request(namespace: str, name: str, count: int, now: str) -> Request:
    """Counts an event that came again, instead of writing it a second time."""
    return Request("merge", Ref("", "Event", namespace, name), {"count": count, "lastTimestamp": now})


# What an apply cannot remove


def _left_overs(current: Raw, wanted: Raw) -> Raw:
    """The merge patch for what must go and is owned by another manager than our own applies."""
    managers = managers_of(current)
    if not managers:
        return _removals(current, wanted, (), None)
    ours = (MANAGER, APPLY, "")
    others = [manager.fields for manager in managers if (manager.name, manager.operation, manager.subresource) != ours]
    return _removals(current, wanted, (), frozenset().union(*others))


def _removals(current: Raw, wanted: Raw, at: FieldPath, others: Fields | None) -> Raw:
    patch: Raw = {}
    for key, value in current.items():
        here = (*at, f"f:{key}")
        if key not in wanted:
            if _is_owned(here, others):
                patch[key] = None
        elif isinstance(value, dict) and isinstance(wanted[key], dict):
            inner = _removals(value, wanted[key], here, others)
            if inner:
                patch[key] = inner
        elif isinstance(value, list) and value != wanted[key] and _has_owned_items(here, others):
            patch[key] = wanted[key]
    return patch


def _is_owned(path: FieldPath, others: Fields | None) -> bool:
    """Whether one of the others owns the field, a part of it, or what holds it; with None (not known) yes."""
    return others is None or any(_is_within(path, other) or _is_within(other, path) for other in others)


def _has_owned_items(path: FieldPath, others: Fields | None) -> bool:
    """Whether one of the others owns single items of the list: a list that is owned as a whole is simply replaced."""
    return others is None or any(len(other) > len(path) and _is_within(path, other) for other in others)


def _is_within(path: FieldPath, other: FieldPath) -> bool:
    return other[: len(path)] == path


# Parts of bodies


def _bound(patch: Raw, current: Raw) -> Raw:
    """The patch, refused by the server unless the object is still as it was read."""
    revision = current.get("metadata", {}).get("resourceVersion")
    if not revision:
        return patch
    return {**patch, "metadata": {**patch.get("metadata", {}), "resourceVersion": revision}}


def _identity(fields: Raw) -> Raw:
    metadata = {key: value for key, value in fields["metadata"].items() if key in ("name", "namespace")}
    return {"apiVersion": fields["apiVersion"], "kind": fields["kind"], "metadata": metadata}


def _without(fields: Raw, path: list[str]) -> Raw:
    key, *rest = path
    if key not in fields:
        return fields
    if not rest:
        return {name: value for name, value in fields.items() if name != key}
    return {**fields, key: _without(fields[key], rest)} if isinstance(fields[key], dict) else fields
