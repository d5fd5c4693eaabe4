"""Merge patches (RFC 7386), the patch between two objects, and JSON patches (RFC 6902)."""

from __future__ import annotations

from typing import Any

import jsonpatch
import jsonpointer

from gatepost.kubernetes.values import Raw, copy_of, same_value


class BadPatch(ValueError):
    """A patch that does not fit: its form is wrong, or it names something that is not in the object."""


def merge_patched(value: Any, patch: Any) -> Any:
    """What a merge patch makes of `value`: null removes a key, mappings merge, anything else replaces.

    Source: RFC 7386 section 2.
    """
    if not isinstance(patch, dict):
        return copy_of(patch)
    merged = copy_of(value) if isinstance(value, dict) else {}
    for key, change in patch.items():
        if change is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patched(merged.get(key), change)
    return merged


def merge_patch_between(old: Raw, new: Raw) -> Raw:
    """The smallest merge patch that makes `old` into `new`; empty if they are the same.

    A merge patch cannot say that a key shall hold null: nulls in `new` are taken as "the key is not there".
    Lists are replaced as a whole.
    """
    patch: Raw = {key: None for key in old if new.get(key) is None and old[key] is not None}
    for key, wanted in new.items():
        found = old.get(key)
        if wanted is None or same_value(found, wanted):
            continue
        if isinstance(wanted, dict):
            # What is no mapping yet is replaced by one: the patch then is the mapping itself, nulls left out.
            inner = merge_patch_between(found if isinstance(found, dict) else {}, wanted)
            if inner or not isinstance(found, dict):
                patch[key] = inner
        else:
            patch[key] = copy_of(wanted)
    return patch


def json_patched(value: Any, operations: Any) -> Any:
    """What a JSON patch makes of `value`.

    Raises: BadPatch if an operation is malformed, points to what is not there, or its `test` fails.
    """
    if not isinstance(operations, list):
        raise BadPatch("a JSON patch is a list of operations")
    try:
        return jsonpatch.JsonPatch(copy_of(operations)).apply(copy_of(value))
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as error:
        raise BadPatch(f"the JSON patch does not apply: {error}") from error
    except (TypeError, KeyError, IndexError, AttributeError) as error:
        # The library trips over operations that are no mappings, or pointers into scalars, in these ways.
        raise BadPatch(f"the JSON patch is malformed: {error!r}") from error
