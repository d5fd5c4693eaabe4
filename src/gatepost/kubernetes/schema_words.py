"""The words that structural schemas are written with."""

from __future__ import annotations

from typing import Any

from gatepost.kubernetes.values import Raw

TEXT: Raw = {"type": "string"}
FLAG: Raw = {"type": "boolean"}
INT32: Raw = {"type": "integer", "format": "int32"}
INT64: Raw = {"type": "integer", "format": "int64"}
TIME: Raw = {"type": "string", "format": "date-time", "nullable": True}
BYTES: Raw = {"type": "string", "format": "byte"}
INT_OR_STRING: Raw = {"x-kubernetes-int-or-string": True}
PORT: Raw = {"type": "integer", "format": "int32", "minimum": 1, "maximum": 65535}
OPEN: Raw = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def object_with(required: tuple[str, ...] = (), **properties: Raw) -> Raw:
    schema: Raw = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    return schema


def open_with(**properties: Raw) -> Raw:
    return {"type": "object", "properties": properties, "x-kubernetes-preserve-unknown-fields": True}


def map_of(value: Raw) -> Raw:
    return {"type": "object", "additionalProperties": value}


def atomic_map_of(value: Raw) -> Raw:
    return {"type": "object", "additionalProperties": value, "x-kubernetes-map-type": "atomic"}


def list_of(item: Raw) -> Raw:
    return {"type": "array", "items": item, "x-kubernetes-list-type": "atomic"}


def set_of(item: Raw, *, patch: bool = False) -> Raw:
    schema = {"type": "array", "items": item, "x-kubernetes-list-type": "set"}
    return {**schema, "x-kubernetes-patch-strategy": "merge"} if patch else schema


def keyed(item: Raw, *keys: str, patch_key: str = "") -> Raw:
    """A list whose items are told apart by `keys`; strategic patches tell them apart by `patch_key`."""
    return {
        "type": "array",
        "items": item,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": list(keys),
        "x-kubernetes-patch-strategy": "merge",
        "x-kubernetes-patch-merge-key": patch_key or keys[0],
    }


def with_default(schema: Raw, value: Any) -> Raw:
    return {**schema, "default": value}


def one_of(*values: str) -> Raw:
    return {"type": "string", "enum": list(values)}


def atomic(schema: Raw) -> Raw:
    return {**schema, "x-kubernetes-map-type": "atomic"}
