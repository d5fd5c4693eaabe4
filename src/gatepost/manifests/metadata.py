"""Which types the fields of `metadata` must have. Everything that reads objects rests on them.

Source: meta/v1 ObjectMeta and OwnerReference. Fields that are not in the tables play no part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from gatepost.manifests.problems import Miss, Path, described
from gatepost.objects.times import whole_seconds_utc

Check: TypeAlias = Callable[[Any, Path], Iterator[Miss]]
"""Gives all that is wrong with a value at a path."""


def metadata_misses(metadata: Any) -> Iterator[Miss]:
    """All fields that have another type than the API gives them, and a name that is missing."""
    path: Path = ("metadata",)
    if not isinstance(metadata, dict):
        yield Miss(path, described(metadata), "a mapping with the object's name")
        return
    if "name" not in metadata:
        yield Miss((*path, "name"), described(None), "the object's name, a string")
    yield from _fields(metadata, path, _FIELDS)


def _fields(value: dict[str, Any], path: Path, checks: Mapping[str, Check]) -> Iterator[Miss]:
    for field, check in checks.items():
        if field in value:
            yield from check(value[field], (*path, field))


def _text(wanted: str) -> Check:
    def check(value: Any, path: Path) -> Iterator[Miss]:
        if not isinstance(value, str):
            yield Miss(path, described(value), wanted)

    return check


def _filled_text(wanted: str) -> Check:
    def check(value: Any, path: Path) -> Iterator[Miss]:
        if not isinstance(value, str) or not value:
            yield Miss(path, described(value), wanted)

    return check


def _whole_number(value: Any, path: Path) -> Iterator[Miss]:
    if not isinstance(value, int) or isinstance(value, bool):
        yield Miss(path, described(value), "a whole number")


def _boolean(value: Any, path: Path) -> Iterator[Miss]:
    if not isinstance(value, bool):
        yield Miss(path, described(value), "true or false")


def _texts_by_name(value: Any, path: Path) -> Iterator[Miss]:
    if not isinstance(value, dict):
        yield Miss(path, described(value), "a mapping of strings to strings")
        return
    for key, text in value.items():
        if not isinstance(text, str):
            wanted = "a string; write it in quotes" if isinstance(text, bool | int | float) else "a string"
            yield Miss((*path, key), described(text), wanted)


def _list_of(check_item: Check, wanted: str) -> Check:
    def check(value: Any, path: Path) -> Iterator[Miss]:
        if not isinstance(value, list):
            yield Miss(path, described(value), wanted)
            return
        for position, item in enumerate(value):
            yield from check_item(item, (*path, position))

    return check


def _owner(value: Any, path: Path) -> Iterator[Miss]:
    if not isinstance(value, dict):
        yield Miss(path, described(value), "a mapping with apiVersion, kind, name and uid")
        return
    for field in ("apiVersion", "kind", "name"):
        if field not in value:
            yield Miss((*path, field), described(None), "a string")
    yield from _fields(value, path, _OWNER_FIELDS)


def _mapping(value: Any, path: Path) -> Iterator[Miss]:
    if not isinstance(value, dict):
        yield Miss(path, described(value), "a mapping")


_STRING = _text("a string")


def _time(value: Any, path: Path) -> Iterator[Miss]:
    if not isinstance(value, str) or (value and whole_seconds_utc(value) is None):
        yield Miss(path, described(value), 'a time such as "2026-03-01T00:00:00Z", a string')


_OWNER_FIELDS: Mapping[str, Check] = {
    "apiVersion": _filled_text("a string"),
    "kind": _filled_text("a string"),
    "name": _filled_text("a string"),
    "uid": _STRING,
    "controller": _boolean,
    "blockOwnerDeletion": _boolean,
}

_FIELDS: Mapping[str, Check] = {
    "name": _filled_text("the object's name, a string"),
    "generateName": _STRING,
    "namespace": _STRING,
    "labels": _texts_by_name,
    "annotations": _texts_by_name,
    "uid": _STRING,
    "resourceVersion": _text("a string; write it in quotes"),
    "generation": _whole_number,
    "creationTimestamp": _time,
    "deletionTimestamp": _time,
    "deletionGracePeriodSeconds": _whole_number,
    "finalizers": _list_of(_STRING, "a list of strings"),
    "ownerReferences": _list_of(_owner, "a list of references"),
    "managedFields": _list_of(_mapping, "a list of mappings"),
}
