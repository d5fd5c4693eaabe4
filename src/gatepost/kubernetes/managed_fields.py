"""Who owns which fields of an object: metadata.managedFields, read, changed and written back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gatepost.kubernetes.fields import NO_FIELDS, Fields, difference, fields_of, from_fields_v1, to_fields_v1
from gatepost.kubernetes.values import Raw, list_at, mapping_at

APPLY, UPDATE = "Apply", "Update"

_UNOWNED_METADATA = (
    "name",
    "namespace",
    "generateName",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
)


class Manager(Struct, frozen=True):
    """One writer and what it owns. `operation` is Apply or Update; `time` is when its set last changed."""

    name: str
    operation: str
    subresource: str
    api_version: str
    time: str
    fields: Fields

    def is_same_writer(self, other: Manager) -> bool:
        mine = (self.name, self.operation, self.subresource)
        return mine == (other.name, other.operation, other.subresource)


def managers_of(raw: Raw) -> tuple[Manager, ...]:
    """The managers in an object's managedFields, in their order."""
    return tuple(
        Manager(
            name=str(entry.get("manager") or ""),
            operation=str(entry.get("operation") or UPDATE),
            subresource=str(entry.get("subresource") or ""),
            api_version=str(entry.get("apiVersion") or ""),
            time=str(entry.get("time") or ""),
            fields=from_fields_v1(entry.get("fieldsV1")),
        )
        for entry in list_at(mapping_at(raw, "metadata"), "managedFields")
        if isinstance(entry, dict)
    )


def with_managers(raw: Raw, managers: Iterable[Manager]) -> Raw:
    """The object with these managers; those that own nothing are left out."""
    entries = [_entry(manager) for manager in sorted(managers, key=_order) if manager.fields]
    metadata = {key: value for key, value in raw["metadata"].items() if key != "managedFields"}
    if entries:
        metadata["managedFields"] = entries
    return {**raw, "metadata": metadata}


def owned_part(raw: Raw, subresource: str = "", *, status_apart: bool = False) -> Raw:
    """The part of an object that a writer can own: what the server keeps is taken out.

    With `status_apart`, a write to the object itself never owns status, a write to its status nothing else.
    """
    if subresource == "status":
        return {"status": raw["status"]} if "status" in raw else {}
    part = {key: value for key, value in raw.items() if key not in ("apiVersion", "kind", "metadata")}
    if status_apart:
        part.pop("status", None)
    metadata = {key: value for key, value in mapping_at(raw, "metadata").items() if key not in _UNOWNED_METADATA}
    if metadata:
        part["metadata"] = metadata
    return part


def updated_managers(live: Raw | None, new: Raw, writer: Manager, schema: Raw | None) -> tuple[Manager, ...]:
    """The managers after `writer` put `new` in the place of `live` by create, replace or patch.

    It owns what it changed or added, besides what it owned; the others lose that, and all lose what is gone.

    Args: writer: with the name, operation, subresource, version and time of the write; its fields do not matter.
    """
    before = managers_of(live) if live is not None else ()
    changes = difference(owned_part(live) if live is not None else {}, owned_part(new), schema)
    taken = changes.added | changes.modified
    after: list[Manager] = []
    mine = NO_FIELDS
    known: Manager | None = None
    for manager in before:
        if manager.is_same_writer(writer):
            known, mine = manager, mine | manager.fields
        else:
            after.append(replace(manager, fields=manager.fields - taken - changes.removed))
    after.append(settled(replace(writer, fields=(mine | taken) - changes.removed), known))
    return tuple(after)


def settled(manager: Manager, known: Manager | None) -> Manager:
    """The manager with the time it had, if its fields did not change."""
    if known is not None and known.fields == manager.fields and known.api_version == manager.api_version:
        return replace(manager, time=known.time)
    return manager


def claimed_by(raw: Raw, manager: str, schema: Raw | None, time: str) -> Raw:
    """The object as if `manager` had applied all of it (and its status through the subresource).

    For objects read from files whose history is not known: what that manager no longer applies then goes away.
    """
    version = str(raw.get("apiVersion") or "")
    parts = {"": owned_part(raw, status_apart=True), "status": owned_part(raw, "status")}
    return with_managers(
        raw,
        [
            Manager(manager, APPLY, subresource, version, time, fields_of(part, schema))
            for subresource, part in parts.items()
        ],
    )


def _entry(manager: Manager) -> Raw:
    entry: dict[str, Any] = {
        "manager": manager.name,
        "operation": manager.operation,
        "apiVersion": manager.api_version,
        "time": manager.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": to_fields_v1(manager.fields),
    }
    if manager.subresource:
        entry["subresource"] = manager.subresource
    return entry


def _order(manager: Manager) -> tuple[str, str, str, str]:
    return (manager.operation, manager.time, manager.name, manager.subresource)
