"""The functions that every template has. `and`, `or` and `call` are in evaluate.py: they see more than values.

Source: documentation of Go's text/template, functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gatepost.gotemplate.errors import FunctionError
from gatepost.gotemplate.formatting import Printer
from gatepost.gotemplate.limits import Limits
from gatepost.gotemplate.quoting import html, javascript, url_query
from gatepost.gotemplate.values import (
    Function,
    Kind,
    from_bytes,
    is_true,
    kind_of,
    to_bytes,
    type_name,
    zero_of_entry,
)

SPECIAL = ("and", "or", "call")

_BASIC = (Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.STRING)
_ORDERED = (Kind.INT, Kind.FLOAT, Kind.STRING)
_NO_VALUE = "<no value>"


def builtins(limits: Limits) -> Mapping[str, Function]:
    """Go's functions by name, except for the special ones."""
    printer = Printer(limits)
    return {
        "eq": Function(_equals_any, ("any",), more="any"),
        "ge": Function(lambda a, b: not _less(a, b), ("any", "any")),
        "gt": Function(lambda a, b: not (_less(a, b) or _equals(a, b)), ("any", "any")),
        "html": Function(_escaping(printer, html), more="any"),
        "index": Function(_index, ("any",), more="any"),
        "js": Function(_escaping(printer, javascript), more="any"),
        "le": Function(lambda a, b: _less(a, b) or _equals(a, b), ("any", "any")),
        "len": Function(_length, ("any",)),
        "lt": Function(_less, ("any", "any")),
        "ne": Function(lambda a, b: not _equals(a, b), ("any", "any")),
        "not": Function(lambda value: not is_true(value), ("any",)),
        "print": Function(printer.print, more="any"),
        "printf": Function(printer.printf, ("string",), more="any"),
        "println": Function(printer.println, more="any"),
        "slice": Function(_slice, ("any",), more="any"),
        "urlquery": Function(_escaping(printer, url_query), more="any"),
    }


def _escaping(printer: Printer, escape: Callable[[str], str]) -> Callable[..., str]:
    def escaped(*values: Any) -> str:
        return escape(printer.print(*(_NO_VALUE if value is None else value for value in values)))

    return escaped


def _equals_any(value: Any, *others: Any) -> bool:
    if not others:
        raise FunctionError("found one argument, wanted at least two to compare")
    return any(_equals(value, other) for other in others)


def _equals(a: Any, b: Any) -> bool:
    kind_a, kind_b = kind_of(a), kind_of(b)
    if Kind.INVALID in (kind_a, kind_b):
        return kind_a is kind_b
    if kind_a in _BASIC or kind_b in _BASIC:
        if kind_a is not kind_b:
            raise FunctionError(f"incompatible types for comparison: {type_name(a)} and {type_name(b)}")
        return bool(a == b)
    raise FunctionError(f"non-comparable types: {type_name(a)} and {type_name(b)}")


def _less(a: Any, b: Any) -> bool:
    kind_a, kind_b = kind_of(a), kind_of(b)
    for value, kind in ((a, kind_a), (b, kind_b)):
        if kind not in _BASIC:
            raise FunctionError(f"invalid type for comparison: {type_name(value)}")
    if kind_a is not kind_b:
        raise FunctionError(f"incompatible types for comparison: {type_name(a)} and {type_name(b)}")
    if kind_a not in _ORDERED:
        raise FunctionError(f"invalid type for comparison: {type_name(a)}")
    return to_bytes(a) < to_bytes(b) if kind_a is Kind.STRING else bool(a < b)


def _length(value: Any) -> int:
    kind = kind_of(value)
    if kind is Kind.STRING:
        return len(to_bytes(value))
    if kind in (Kind.LIST, Kind.MAP):
        return len(value)
    raise FunctionError(f"len of type {type_name(value)}")


def _index(item: Any, *indexes: Any) -> Any:
    if item is None:
        raise FunctionError("index of untyped nil")
    for index in indexes:
        if item is None:
            raise FunctionError("index of nil pointer")
        item = _entry(item, index)
    return item


def _entry(item: Any, index: Any) -> Any:
    match kind_of(item):
        case Kind.STRING:
            raw = to_bytes(item)
            return raw[_position(index, len(raw) - 1)]
        case Kind.LIST:
            return item[_position(index, len(item) - 1)]
        case Kind.MAP if index is None:
            raise FunctionError("value is nil; should be of type string")
        case Kind.MAP if not isinstance(index, str):
            raise FunctionError(f"value has type {type_name(index)}; should be string")
        case Kind.MAP:
            return item.get(index, zero_of_entry(item))
    raise FunctionError(f"can't index item of type {type_name(item)}")


def _position(index: Any, last: int) -> int:
    if index is None:
        raise FunctionError("cannot index slice/array with nil")
    if kind_of(index) is not Kind.INT:
        raise FunctionError(f"cannot index slice/array with type {type_name(index)}")
    if not 0 <= index <= last:
        raise FunctionError(f"index out of range: {index}")
    return int(index)


def _slice(item: Any, *indexes: Any) -> Any:
    if item is None:
        raise FunctionError("slice of untyped nil")
    if len(indexes) > 3:
        raise FunctionError(f"too many slice indexes: {len(indexes)}")
    kind = kind_of(item)
    if kind not in (Kind.STRING, Kind.LIST):
        raise FunctionError(f"can't slice item of type {type_name(item)}")
    if kind is Kind.STRING and len(indexes) == 3:
        raise FunctionError("cannot 3-index slice a string")
    whole = to_bytes(item) if kind is Kind.STRING else item
    bounds = [_position(index, len(whole)) for index in indexes]
    start, stop, *capacity = bounds + [0, len(whole)][len(bounds) :]
    for low, high in ((start, stop), (stop, *capacity)) if capacity else ((start, stop),):
        if low > high:
            raise FunctionError(f"invalid slice index: {low} > {high}")
    return from_bytes(whole[start:stop]) if kind is Kind.STRING else whole[start:stop]
