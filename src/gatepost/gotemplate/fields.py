"""Asking a value for a field or method: of a struct by its name, of a map by its key."""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal

from gatepost.gotemplate.errors import Fault
from gatepost.gotemplate.values import MISSING, Fields, Function, Kind, kind_of, type_name, zero_of_entry

MissingKey = Literal["default", "zero", "error"]
"""What a key gives that a map lacks: no value, the zero value of its entries, or an error."""


class Nothing(Enum):
    """That nothing was piped into a command, which is not the same as a value that is missing."""

    NOTHING = "nothing"


NOTHING = Nothing.NOTHING


def field_of(value: Any, name: str, missing_key: MissingKey) -> Any:
    """The field or entry of that name, or what the method of that name gives.

    Raises: Fault if the value has no fields, if a struct lacks this one, or where a missing key is an error.
    """
    if value is MISSING:
        if missing_key == "error":
            raise Fault(f'nil data; no entry for key "{name}"')
        return MISSING
    match kind_of(value):
        case Kind.INVALID:
            raise Fault(f"nil pointer evaluating interface {{}}.{name}")
        case Kind.STRUCT:
            return _field(value, name)
        case Kind.MAP if name in value:
            return value[name]
        case Kind.MAP if missing_key == "error":
            raise Fault(f'map has no entry for key "{name}"')
        case Kind.MAP:
            return MISSING if missing_key == "default" else zero_of_entry(value)
    raise Fault(f"can't evaluate field {name} in type {type_name(value)}")


def _field(fields: Fields, name: str) -> Any:
    if name in fields.values:
        return fields.values[name]
    if name in fields.promoted:
        return fields.promoted[name]
    if name in fields.methods:
        method = fields.methods[name]
        check_count(name, method, 0)
        return method.call()
    if name in fields.withheld:
        raise Fault(f"field {name} of {fields.type_name} is not available: {fields.withheld[name]}")
    known = ", ".join((*fields.values, *fields.promoted))
    raise Fault(f"can't evaluate field {name} in type {fields.type_name}, which has {known}")


def method_of(value: Any, name: str) -> Function | None:
    """The method of that name, None if the value has none."""
    return value.methods.get(name) if isinstance(value, Fields) else None


def check_count(name: str, function: Function, count: int) -> None:
    """Raises: Fault if a function cannot take that many arguments."""
    least = len(function.takes)
    if count < least or (count > least and not function.more):
        wanted = f"at least {least}" if function.more else str(least)
        raise Fault(f"wrong number of args for {name}: want {wanted} got {count}")
