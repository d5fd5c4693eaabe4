"""Strategic merge patches: merge patches that know which lists are keyed. Only the built-in kinds take them.

The schema says how: `x-kubernetes-patch-strategy: merge` with `x-kubernetes-patch-merge-key` for lists of mappings,
without a key for lists of scalars; any other list is replaced.

Directives: `$patch: delete|replace|merge`, `$retainKeys`, `$deleteFromPrimitiveList/NAME`, `$setElementOrder/NAME`.
"""

from __future__ import annotations

from typing import Any

from gatepost.kubernetes.merge import BadPatch
from gatepost.kubernetes.schema import item_schema, property_schema
from gatepost.kubernetes.values import Raw, copy_of, same_value

_PATCH = "$patch"
_RETAIN_KEYS = "$retainKeys"
_DELETE_PRIMITIVES = "$deleteFromPrimitiveList/"
_ORDER = "$setElementOrder/"


def strategic_patched(value: Any, patch: Any, schema: Raw | None) -> Any:
    """What a strategic merge patch makes of `value`.

    Args: schema: the structural schema of `value`; None merges mappings and replaces lists.
    Raises: BadPatch if the patch is no mapping, an item of a keyed list lacks its key, or a directive is unknown.
    """
    if not isinstance(patch, dict):
        raise BadPatch("a strategic merge patch is a mapping")
    return _mapping(value, patch, schema)


def _mapping(value: Any, patch: Raw, schema: Raw | None) -> Raw:
    directive = patch.get(_PATCH)
    if directive == "replace":
        return {key: copy_of(item) for key, item in patch.items() if key != _PATCH}
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise BadPatch(f"$patch: found {directive!r}, wanted delete, replace or merge")
    merged = copy_of(value) if isinstance(value, dict) else {}
    _retain_keys(merged, patch)
    _delete_primitives(merged, patch)
    for key, change in patch.items():
        if key.startswith("$"):
            continue
        if change is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key), change, property_schema(schema, key))
            if patch.get(_ORDER + key) is not None and isinstance(merged[key], list):
                merged[key] = _ordered(merged[key], patch[_ORDER + key], property_schema(schema, key))
    return merged


def _merged(value: Any, change: Any, schema: Raw | None) -> Any:
    if isinstance(change, dict):
        return _mapping(value, change, schema)
    if not isinstance(change, list):
        return change
    strategy = str((schema or {}).get("x-kubernetes-patch-strategy", ""))
    if "merge" not in strategy.split(","):
        return copy_of(change)
    current = value if isinstance(value, list) else []
    key = (schema or {}).get("x-kubernetes-patch-merge-key")
    if key is None:
        missing = [item for item in change if not any(same_value(item, other) for other in current)]
        return copy_of([*current, *missing])
    return _keyed_list(current, change, str(key), item_schema(schema))


def _keyed_list(current: list[Any], changes: list[Any], key: str, schema: Raw | None) -> list[Any]:
    if any(isinstance(change, dict) and change == {_PATCH: "replace"} for change in changes):
        return copy_of([change for change in changes if change != {_PATCH: "replace"}])  # type: ignore[no-any-return]
    items = copy_of(current)
    for change in changes:
        if not isinstance(change, dict) or key not in change:
            raise BadPatch(f"an item of a list keyed by {key!r} lacks that key: {change!r}")
        at = _position(items, key, change[key])
        if change.get(_PATCH) == "delete":
            # The key may be there more than once (Service ports share a number between protocols): all go.
            items = [item for item in items if not (isinstance(item, dict) and item.get(key) == change[key])]
        elif at is None:
            items.append(_mapping({}, change, schema))
        else:
            items[at] = _mapping(items[at], change, schema)
    return items  # type: ignore[no-any-return]


def _position(items: list[Any], key: str, wanted: Any) -> int | None:
    for index, item in enumerate(items):
        if isinstance(item, dict) and item.get(key) == wanted:
            return index
    return None


def _retain_keys(merged: Raw, patch: Raw) -> None:
    retained = patch.get(_RETAIN_KEYS)
    if isinstance(retained, list):
        for key in [key for key in merged if key not in retained]:
            del merged[key]


def _delete_primitives(merged: Raw, patch: Raw) -> None:
    for directive, gone in patch.items():
        if not directive.startswith(_DELETE_PRIMITIVES) or not isinstance(gone, list):
            continue
        key = directive.removeprefix(_DELETE_PRIMITIVES)
        if isinstance(merged.get(key), list):
            merged[key] = [item for item in merged[key] if not any(same_value(item, one) for one in gone)]


def _ordered(items: list[Any], order: list[Any], schema: Raw | None) -> list[Any]:
    """The items that `order` names in its order; the others stay behind the item that they stood behind."""
    key = (schema or {}).get("x-kubernetes-patch-merge-key")
    places: dict[int, int] = {}
    for rank, wanted in enumerate(order):
        for index, item in enumerate(items):
            same = (
                isinstance(item, dict) and isinstance(wanted, dict) and item.get(key) == wanted.get(key)
                if key
                else same_value(item, wanted)
            )
            if same and index not in places:
                places[index] = rank
                break
    ranks: list[tuple[int, int]] = []
    last = -1
    for index in range(len(items)):
        last = places.get(index, last)
        ranks.append((last, index))
    return [items[index] for _, index in sorted(ranks)]
