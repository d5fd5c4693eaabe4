"""From a wish and what is there to the object as it should be. Equal to what is there means: nothing to write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatepost.writes.outcome import Apply, OwnEntries

Raw = dict[str, Any]


def wanted_object(apply: Apply, current: Mapping[str, Any] | None) -> Raw | None:
    """The whole raw object that fulfils a wish, with everything that is not ours as it was.

    Args:
        current: the object as the cluster has it, None if it does not exist.
    Returns: a new mapping; it equals `current` exactly when there is nothing to write. None if the object does not
        exist and is not ours to create.
    """
    if current is None:
        return dict(_copy(apply.fields)) if apply.may_create else None
    result: Raw = _copy(current)
    fields: Raw = _copy(apply.fields)
    fields.pop("apiVersion", None)  # an object may be read in another version than it is written in
    for path in apply.at_creation:
        _remove(fields, path.split("."))
    _merge(result, fields, (), frozenset(tuple(path.split(".")) for path in apply.whole))
    for path in apply.whole:
        if not _has(fields, path.split(".")):
            _remove(result, path.split("."))
    for entries in apply.entries:
        _put_entries(result, entries)
    return result


def wanted_status(wish: Mapping[str, Any], current: Mapping[str, Any], now: str) -> Raw:
    """The status that fulfils a wish: each key of the wish replaces that key whole, None removes it.

    Conditions that equal the present one but for the time keep its time; the others get `now` (RFC 3339, UTC).
    """
    status: Raw = _copy(current)
    for key, value in wish.items():
        if value is None:
            status.pop(key, None)
        elif key == "conditions":
            status[key] = _timed(value, status.get(key) or [], now)
        else:
            status[key] = _copy(value)
    return status


def _timed(conditions: list[Raw], current: list[Raw], now: str) -> list[Raw]:
    times = {_identity(c): c.get("lastTransitionTime") for c in current}
    return [
        {**c, "lastTransitionTime": times.get(_identity(c)) or c.get("lastTransitionTime") or now} for c in conditions
    ]


def _identity(condition: Raw) -> tuple[Any, ...]:
    return tuple(condition.get(key) or "" for key in ("type", "status", "reason", "message", "severity"))


def _merge(target: Raw, fields: Raw, path: tuple[str, ...], whole: frozenset[tuple[str, ...]]) -> None:
    for key, value in fields.items():
        here = (*path, key)
        present = target.get(key)
        if isinstance(value, dict) and isinstance(present, dict) and here not in whole:
            _merge(present, value, here, whole)
        else:
            target[key] = value


def _put_entries(target: Raw, own: OwnEntries) -> None:
    *parents, last = own.path.split(".")
    for key in parents:
        target = target.setdefault(key, {})
    wanted = {entry[own.key]: _copy(entry) for entry in own.entries}
    kept: list[Raw] = []
    for entry in target.get(last) or []:
        name = entry.get(own.key, "")
        if not name.startswith(own.prefix):
            kept.append(entry)
        elif name in wanted:
            kept.append(wanted.pop(name))  # it stays where it stands: order is not ours to change
    result = kept + list(wanted.values())
    if result or last in target:
        target[last] = result


def _has(fields: Raw, path: list[str]) -> bool:
    at: Any = fields
    for key in path:
        if not isinstance(at, dict) or key not in at:
            return False
        at = at[key]
    return True


def _remove(fields: Raw, path: list[str]) -> None:
    *parents, last = path
    at: Any = fields
    for key in parents:
        at = at.get(key)
        if not isinstance(at, dict):
            return
    at.pop(last, None)


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(item) for item in value]
    return value
