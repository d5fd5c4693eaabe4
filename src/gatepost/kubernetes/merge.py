"""Merge patches (RFC 7386), the patch between two objects, and JSON patches (RFC 6902)."""

from __future__ import annotations

from typing import Any

import jsonpatch
import jsonpointer

from gatepost.kubernetes.values import Raw, copy_of, same_value


class BadPatch(ValueError):
    """A patch whose form is wrong."""


class UnfittingPatch(BadPatch):
    """A patch that names what is not in the object, or tests for another value."""


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

    The library's own texts quote what it finds, which may be a Secret's, so they are not passed on.
    Raises: BadPatch if an operation is malformed, UnfittingPatch if it points to what is not there or its `test` fails.
    """
    if not isinstance(operations, list):
        raise BadPatch("a JSON patch is a list of operations")
    result = copy_of(value)
    for index, operation in enumerate(copy_of(operations)):
        result = _after(operation, result, f"the JSON patch, operation {index}")
    return result


def _after(operation: Any, value: Any, where: str) -> Any:
    if not isinstance(operation, dict):
        raise BadPatch(f"{where}: found {type(operation).__name__}, wanted a mapping with op and path")
    told = f"{where} ({operation.get('op')} {operation.get('path')})"
    try:
        return jsonpatch.JsonPatch([operation]).apply(value, in_place=True)
    except jsonpatch.InvalidJsonPatch as error:
        raise BadPatch(f"{told} is malformed: {error}") from error
    except jsonpatch.JsonPatchTestFailed as error:
        raise UnfittingPatch(f"{told}: the value there is not the one that is tested for") from error
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as error:
        raise UnfittingPatch(f"{told}: there is no such place in the object") from error
    except (TypeError, KeyError, IndexError, AttributeError) as error:
        # The library trips over pointers into scalars in these ways.
        raise UnfittingPatch(f"{told}: there is no such place in the object") from error
