"""Server-side apply: a manager states its fields of an object; what it no longer states goes, unless others own it.

| field                        | result                                                              |
| ---------------------------- | ------------------------------------------------------------------- |
| stated, same value           | owned by this manager too                                           |
| stated, other value, unowned | changed                                                             |
| stated, other value, owned   | conflict, or with force changed and taken from the other owners     |
| stated before, not now       | removed if no other manager owns it or something in it              |
| never stated                 | as it was                                                           |

Source: Kubernetes documentation, "Server-Side Apply".
"""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec.structs import replace

from gatepost.kubernetes.fields import (
    NO_FIELDS,
    FieldPath,
    Fields,
    difference,
    field_text,
    fields_of,
    is_granular,
    item_step,
    with_prefixes,
    without_fields,
)
from gatepost.kubernetes.managed_fields import (
    UPDATE,
    Manager,
    managers_of,
    owned_part,
    settled,
    with_managers,
)
from gatepost.kubernetes.schema import item_schema, property_schema
from gatepost.kubernetes.values import Raw, copy_of

BEFORE_FIRST_APPLY = "before-first-apply"


class FieldConflict(NamedTuple):
    """A field that another manager owns and that the applied object would change."""

    manager: Manager
    path: FieldPath

    @property
    def field(self) -> str:
        return field_text(self.path)

    @property
    def who(self) -> str:
        """As in `conflict with "kubectl" using v1`."""
        through = f' with subresource "{self.manager.subresource}"' if self.manager.subresource else ""
        return f'conflict with "{self.manager.name}"{through} using {self.manager.api_version}'


class ApplyConflict(Exception):
    """What was applied would change fields of other managers; `conflicts` lists them, by manager and field."""

    def __init__(self, conflicts: tuple[FieldConflict, ...]) -> None:
        self.conflicts = conflicts
        plural = "" if len(conflicts) == 1 else "s"
        told = ", ".join(f"{conflict.who}: {conflict.field}" for conflict in conflicts)
        super().__init__(f"Apply failed with {len(conflicts)} conflict{plural}: {told}")


def merged(live: Any, stated: Any, schema: Raw | None) -> Any:
    """`live` with `stated` merged in: granular mappings and lists item by item, everything else replaced.

    Items of a list come in the order of `stated`; those that only `live` has keep their place among them.
    """
    if not (is_granular(live, schema) and is_granular(stated, schema) and type(live) is type(stated)):
        return copy_of(stated)
    if isinstance(stated, list):
        return _merged_lists(live, stated, schema)
    result = copy_of(live)
    for key, value in stated.items():
        if key in live:
            result[key] = merged(live[key], value, property_schema(schema, key))
        else:
            result[key] = copy_of(value)
    return result


def merged_over(live: Raw, stated: Raw, previously: Fields, kept: Fields, schema: Raw | None) -> Raw:
    """One apply without any record in the object: `stated` merged in, what was stated `previously` only taken out.

    Args:
        previously: the fields of the last apply, as `fields_of` gives them; empty if unknown: nothing is taken out.
        kept: fields that stay even so, because others own them.
    """
    still = with_prefixes(fields_of(stated, schema) | kept)
    # What goes goes first: an emptied mapping or list is taken out, one that is stated empty comes back.
    result: Raw = merged(without_fields(live, previously - still, schema), stated, schema)
    return result


def applied(
    live: Raw | None, stated: Raw, applier: Manager, schema: Raw | None, *, force: bool, status_apart: bool
) -> Raw:
    """The object after a server-side apply, with managedFields; nothing is filled in or checked yet.

    Args:
        live: what is stored, None if the object is new.
        stated: the applied object, of which only what `applier.subresource` can own is looked at.
        applier: with name, operation Apply, subresource, version and time; its fields do not matter.
        force: take over fields that others own.
    Raises: ApplyConflict
    """
    stated_part = owned_part(stated, applier.subresource, status_apart=status_apart)
    claim = fields_of(stated_part, schema)
    base = live if live is not None else {key: stated[key] for key in ("apiVersion", "kind")} | _identity(stated)
    # Nobody knows who wrote an object without managers: what is stated must not change it unasked.
    unrecorded = bool(claim) and live is not None and not managers_of(live)
    managers = (_before_first_apply(base, applier, schema),) if unrecorded else managers_of(base)
    known = next((manager for manager in managers if manager.is_same_writer(applier)), None)
    others = [manager for manager in managers if not manager.is_same_writer(applier)]
    owned_by_others: Fields = frozenset().union(*(other.fields for other in others))
    result = merged_over(base, stated_part, known.fields if known else NO_FIELDS, owned_by_others, schema)
    # Taking out the last label takes out the mapping; metadata itself always stays, it holds the name.
    changes = difference(owned_part(base), owned_part(result), schema)
    changed = changes.added | changes.modified
    conflicts = _conflicts(others, changed)
    if conflicts and not force:
        raise ApplyConflict(conflicts)
    others = [replace(other, fields=other.fields - changed - changes.removed) for other in others]
    return with_managers(result, [*others, settled(replace(applier, fields=claim), known)])


def _before_first_apply(live: Raw, applier: Manager, schema: Raw | None) -> Manager:
    """A placeholder that owns all of an object."""
    since = str(live["metadata"].get("creationTimestamp") or applier.time)
    version = str(live.get("apiVersion") or "")
    return Manager(BEFORE_FIRST_APPLY, UPDATE, "", version, since, fields_of(owned_part(live), schema))


def _conflicts(others: list[Manager], changed: Fields) -> tuple[FieldConflict, ...]:
    found = [FieldConflict(other, path) for other in others for path in other.fields & changed]
    return tuple(sorted(found, key=lambda conflict: (conflict.manager.name, conflict.field)))


def _identity(stated: Raw) -> Raw:
    metadata = stated["metadata"]
    return {"metadata": {key: metadata[key] for key in ("name", "namespace") if metadata.get(key)}}


def _merged_lists(live: list[Any], stated: list[Any], schema: Raw | None) -> list[Any]:
    items = item_schema(schema)
    lives = {item_step(item, schema): item for item in live}
    stateds = {item_step(item, schema): item for item in stated}
    if len(stateds) < len(stated):
        return copy_of(stated)  # type: ignore[no-any-return]  # items occur twice: validation tells it
    result: list[Any] = []
    waiting = list(lives)
    for step, item in stateds.items():
        # What only `live` has comes first, up to the place of this item or of one that is stated as well.
        while waiting and (step in waiting or waiting[0] not in stateds):
            passed = waiting.pop(0)
            if passed not in stateds:
                result.append(copy_of(lives[passed]))
            elif passed == step:
                break
        result.append(merged(lives[step], item, items) if step in lives else copy_of(item))
    result.extend(copy_of(lives[step]) for step in waiting if step not in stateds)
    return result
