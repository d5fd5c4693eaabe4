"""Sets of fields, as managedFields keep them: which fields an object has, and in which two objects differ.

A field is a path of steps in the notation of FieldsV1: `f:NAME` a key of a mapping, `k:{KEYS}` an item of a keyed
list, `v:VALUE` an item of a set. What is atomic (scalars, lists and mappings declared so, lists without a type) is
one field as a whole.

Source: Kubernetes reference, metav1.FieldsV1 and "Server-Side Apply", merge strategy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple, TypeAlias

import msgspec

from gatepost.kubernetes.schema import item_schema, property_schema
from gatepost.kubernetes.values import Raw, canonical, same_value

FieldPath: TypeAlias = tuple[str, ...]
Fields: TypeAlias = frozenset[FieldPath]

NO_FIELDS: Fields = frozenset()


class Difference(NamedTuple):
    """The fields in which a new object differs from an old one."""

    added: Fields
    modified: Fields
    removed: Fields


def is_granular(value: Any, schema: Raw | None) -> bool:
    """Whether parts of this mapping or list may have different owners."""
    if isinstance(value, dict):
        return bool((schema or {}).get("x-kubernetes-map-type", "granular") != "atomic")
    if isinstance(value, list):
        list_type = (schema or {}).get("x-kubernetes-list-type", "atomic")
        if list_type == "map":
            return all(isinstance(item, dict) for item in value)
        return bool(list_type == "set")
    return False


def item_step(item: Any, schema: Raw | None) -> str:
    """The step to an item of a granular list: by its keys, a missing key at its default, or by its value."""
    list_schema = schema or {}
    if list_schema.get("x-kubernetes-list-type") != "map":
        return "v:" + canonical(item)
    of_item = item_schema(schema)
    keys: Raw = {}
    for key in list_schema.get("x-kubernetes-list-map-keys") or ():
        if key in item:
            keys[key] = item[key]
        else:
            keys[key] = (property_schema(of_item, key) or {}).get("default")
    return "k:" + canonical({key: value for key, value in keys.items() if value is not None})


def fields_of(value: Any, schema: Raw | None, at: FieldPath = ()) -> Fields:
    """All fields of a value; an object as a whole is no field."""
    found: set[FieldPath] = set()
    _collect(value, schema, at, found)
    return frozenset(found - {()})


def difference(old: Any, new: Any, schema: Raw | None) -> Difference:
    """How `new` differs from `old`, field by field."""
    added: set[FieldPath] = set()
    modified: set[FieldPath] = set()
    removed: set[FieldPath] = set()
    _compare(old, new, schema, (), (added, modified, removed))
    return Difference(frozenset(added), frozenset(modified), frozenset(removed))


def without_fields(value: Any, gone: Collection[FieldPath], schema: Raw | None) -> Any:
    """The value without these fields, and without the mappings and lists that this leaves empty."""
    by_step: dict[str, set[FieldPath]] = {}
    for path in gone:
        if path:
            by_step.setdefault(path[0], set()).add(path[1:])
    if not by_step:
        return value
    if isinstance(value, dict):
        kept = {
            key: _without(item, by_step.get(f"f:{key}"), property_schema(schema, key)) for key, item in value.items()
        }
        return {key: item for key, item in kept.items() if item is not _GONE}
    if isinstance(value, list) and is_granular(value, schema):
        items = item_schema(schema)
        left = [_without(item, by_step.get(item_step(item, schema)), items) for item in value]
        return [item for item in left if item is not _GONE]
    return value


def to_fields_v1(fields: Iterable[FieldPath]) -> Raw:
    """The nested form that managedFields hold."""
    root: Raw = {}
    ordered = sorted(fields)
    for path in ordered:
        node = root
        for step in path:
            node = node.setdefault(step, {})
        node["."] = {}
    return _without_dots_in_leaves(root)


def from_fields_v1(raw: Any) -> Fields:
    """The set of fields in the nested form; what is not understood is left out."""
    found: set[FieldPath] = set()

    def walk(node: Any, at: FieldPath) -> None:
        if not isinstance(node, dict):
            return
        if at and (not node or "." in node):
            found.add(at)
        for step, inner in node.items():
            if step != ".":
                walk(inner, (*at, _normal_step(step)))

    walk(raw, ())
    return frozenset(found)


def field_text(path: FieldPath) -> str:
    """As conflicts name it: `.spec.ports[port=80,protocol="TCP"].targetPort`."""
    text = ""
    for step in path:
        kind, _, rest = step.partition(":")
        if kind == "k":
            keys = msgspec.json.decode(rest)
            text += "[" + ",".join(f"{key}={canonical(value)}" for key, value in sorted(keys.items())) + "]"
        elif kind == "v":
            text += f"[={rest}]"
        else:
            text += f".{rest}"
    return text


def with_prefixes(fields: Iterable[FieldPath]) -> set[FieldPath]:
    """The fields and everything that holds them."""
    return {path[:length] for path in fields for length in range(1, len(path) + 1)}


_GONE = object()


def _without(value: Any, gone: set[FieldPath] | None, schema: Raw | None) -> Any:
    if gone is None:
        return value
    if () in gone:
        return _GONE
    left = without_fields(value, gone, schema)
    return _GONE if left in ({}, []) and value not in ({}, []) else left


def _collect(value: Any, schema: Raw | None, at: FieldPath, found: set[FieldPath]) -> None:
    if not is_granular(value, schema) or not value:
        found.add(at)
    else:
        for step, (item, inner) in _children(value, schema).items():
            found |= _child_fields(item, inner, schema, (*at, step))


def _child_fields(value: Any, schema: Raw | None, parent: Raw | None, at: FieldPath) -> set[FieldPath]:
    """The fields of a value inside another: a field that the parent's schema names is owned only through its parts.

    Keys of maps and items of lists are owned as such too: they go when nobody owns them any more.
    """
    found: set[FieldPath] = set()
    _collect(value, schema, at, found)
    if at[-1].partition(":")[2] not in ((parent or {}).get("properties") or {}) or not at[-1].startswith("f:"):
        found.add(at)
    return found


def _compare(
    old: Any, new: Any, schema: Raw | None, at: FieldPath, out: tuple[set[FieldPath], set[FieldPath], set[FieldPath]]
) -> None:
    if is_granular(old, schema) and is_granular(new, schema) and type(old) is type(new):
        olds, news = _children(old, schema), _children(new, schema)
        for step in {**olds, **news}:
            path = (*at, step)
            if step not in olds:
                out[0].update(_child_fields(*news[step], schema, path))
            elif step not in news:
                out[2].update(_child_fields(*olds[step], schema, path))
            else:
                _compare(olds[step][0], news[step][0], news[step][1], path, out)
    elif not same_value(old, new):
        out[1].add(at)
        # What was a mapping and is none any more takes the fields in it along.
        out[2].update(fields_of(old, schema, at) - {at})
        out[0].update(fields_of(new, schema, at) - {at})


def _children(value: Any, schema: Raw | None) -> dict[str, tuple[Any, Raw | None]]:
    if isinstance(value, dict):
        return {f"f:{key}": (item, property_schema(schema, key)) for key, item in value.items()}
    items = item_schema(schema)
    return {item_step(item, schema): (item, items) for item in value}


def _without_dots_in_leaves(node: Raw) -> Raw:
    if set(node) == {"."}:
        return {}
    return {step: inner if step == "." else _without_dots_in_leaves(inner) for step, inner in node.items()}


def _normal_step(step: str) -> str:
    """Other writers may order the keys in a step differently or leave blanks in it."""
    kind, _, rest = step.partition(":")
    if kind not in ("k", "v"):
        return step
    try:
        return f"{kind}:{canonical(msgspec.json.decode(rest))}"
    except msgspec.DecodeError:
        return step
