"""JSON-like values: copies, comparison, and the way messages write the path to one of them."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

Raw: TypeAlias = dict[str, Any]
"""An object, or a part of one, as JSON or YAML give it."""

Path: TypeAlias = tuple[str | int, ...]
"""The way to a value: keys of mappings and indices of lists."""

_encoder = msgspec.json.Encoder(order="sorted")


def copy_of(value: Any) -> Any:
    """A copy that shares no mapping and no list with `value`."""
    if isinstance(value, dict):
        return {key: copy_of(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [copy_of(item) for item in value]
    return value


def without_nulls(value: Any) -> Any:
    """A copy without the keys that hold null; nulls in lists stay."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def same_value(one: Any, other: Any) -> bool:
    """Whether both are the same JSON, whatever the order of keys; `true` is not 1, as it is in Python."""
    return bool(one == other) and _encoder.encode(one) == _encoder.encode(other)


def canonical(value: Any) -> str:
    """The compact JSON text with sorted keys: equal values give equal text."""
    return _encoder.encode(value).decode()


def path_text(path: Path) -> str:
    """As messages of the API server write it: `spec.rules[0].backendRefs[1].port`.

    A key that holds a dot is put in brackets, `metadata.labels[app.example.com/name]`, so that it stays one step.
    """
    text = ""
    for step in path:
        if isinstance(step, int) or "." in step or "/" in step:
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def mapping_at(raw: Raw, key: str) -> Raw:
    """The mapping under `key`, or an empty one if it is missing or no mapping."""
    found = raw.get(key)
    return found if isinstance(found, dict) else {}


def list_at(raw: Raw, key: str) -> list[Any]:
    """The list under `key`, or an empty one if it is missing or no list."""
    found = raw.get(key)
    return found if isinstance(found, list) else []
