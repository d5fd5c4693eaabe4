"""Objects against their structural schema, told in the words of the API: field, what was found, what is wanted.

CEL rules (`x-kubernetes-validations`) are not run.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import ipaddress
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, cast

import jsonschema
from jsonschema.exceptions import ValidationError

from gatepost.kubernetes.errors import Cause
from gatepost.kubernetes.values import Path, Raw, canonical, path_text

_INT_OR_STRING = "x-kubernetes-int-or-string"


class Validator:
    """Checks values against one structural schema."""

    def __init__(self, schema: Raw) -> None:
        self._validator = _Validator(_json_schema(schema), format_checker=_formats)

    def problems(self, value: Any) -> list[Cause]:
        """What is wrong, in the order of the paths; nothing is told twice."""
        causes: dict[Cause, None] = {}
        for error in self._validator.iter_errors(value):
            for cause in _causes(error):
                causes[cause] = None
        return sorted(causes)


def duplicate_items(value: Any, schema: Raw) -> list[Cause]:
    """Items that occur twice in a list of type `set`, or with the same keys in a list of type `map`."""
    return list(_duplicates(value, schema, ()))


def _json_schema(schema: Raw) -> Raw:
    """The structural schema as JSON Schema (draft 4, as OpenAPI v3 understands `exclusiveMinimum`)."""
    made = {key: value for key, value in schema.items() if key in _KEYWORDS}
    if schema.get(_INT_OR_STRING):
        made["type"] = ["integer", "string"]
        made.pop("anyOf", None)  # published schemas say the same again by anyOf
    if "properties" in made:
        made["properties"] = {name: _json_schema(inner) for name, inner in made["properties"].items()}
    for key in ("items", "additionalProperties", "not"):
        if isinstance(made.get(key), dict):
            made[key] = _json_schema(made[key])
    for key in ("allOf", "anyOf", "oneOf"):
        if key in made:
            made[key] = [_json_schema(inner) for inner in made[key]]
    if schema.get("nullable") is True:
        _allow_null(made)
    return made


_VALUE_KEYWORDS = ("type", "required", "enum", "format", "pattern", "multipleOf", "uniqueItems")
_BOUND_KEYWORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength")
_COUNT_KEYWORDS = ("minItems", "maxItems", "minProperties", "maxProperties")
_NESTING_KEYWORDS = ("properties", "items", "additionalProperties", "not", "allOf", "anyOf", "oneOf")
_KEYWORDS = frozenset((*_VALUE_KEYWORDS, *_BOUND_KEYWORDS, *_COUNT_KEYWORDS, *_NESTING_KEYWORDS))


def _allow_null(made: Raw) -> None:
    types = made.get("type")
    if types is not None:
        made["type"] = [*(types if isinstance(types, list) else [types]), "null"]
    if "enum" in made and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]


def _pattern(validator: Any, pattern: str, instance: Any, schema: Raw) -> Iterator[ValidationError]:
    expression = _compiled(pattern)
    if isinstance(instance, str) and expression is not None and not expression.search(instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


@lru_cache(maxsize=2048)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """A pattern in the syntax of Go as one of Python; None if Python has no such syntax: it is not checked then."""
    # In Go `$` is the end of the text; in Python a newline may follow.
    python = re.sub(r"(\\.|\[(?:\\.|[^\]\\])+\])|\$", lambda found: found.group(1) or r"\Z", pattern)
    try:
        return re.compile(python.replace(r"\z", r"\Z"))
    except re.error:
        return None


_Validator: Any = cast("Any", jsonschema.validators).extend(jsonschema.Draft4Validator, {"pattern": _pattern})


def _causes(error: Any) -> Iterator[Cause]:
    """The causes in one error of the library (its own types do not say what is in it)."""
    path = tuple(error.absolute_path)
    field = path_text(path)
    where = field or "the object"
    found, wanted = error.instance, error.validator_value
    match error.validator:
        case "required":
            # One error for each missing name: the library tells which only in its text.
            for name in wanted:
                if isinstance(found, dict) and name not in found:
                    yield Cause(path_text((*path, name)), "FieldValueRequired", "Required value")
        case "enum":
            choices = ", ".join(f'"{choice}"' for choice in wanted if choice is not None)
            message = f"Unsupported value: {_shown(found)}: supported values: {choices}"
            yield Cause(field, "FieldValueNotSupported", message)
        case "maxItems" | "maxProperties":
            thing = "items" if error.validator == "maxItems" else "properties"
            yield Cause(field, "FieldValueTooMany", f"Too many: {len(found)}: must have at most {wanted} {thing}")
        case "maxLength":
            yield Cause(field, "FieldValueTooLong", f"Too long: may not be more than {wanted} bytes")
        case "type":
            names = wanted if isinstance(wanted, list) else [wanted]
            types = " or ".join(name for name in names if name != "null")
            found_type = _type_name(found)
            message = f'Invalid value: "{found_type}": {where} in body must be of type {types}: "{found_type}"'
            yield Cause(field, "FieldValueTypeInvalid", message)
        case _:
            message = f"Invalid value: {_shown(found)}: {where} in body {_wanted(error.validator, wanted, error)}"
            yield Cause(field, "FieldValueInvalid", message)


def _wanted(keyword: str, wanted: Any, error: Any) -> str:
    schema: Raw = error.schema
    match keyword:
        case "minimum":
            bound = "greater than" if schema.get("exclusiveMinimum") else "greater than or equal to"
            return f"should be {bound} {wanted}"
        case "maximum":
            bound = "less than" if schema.get("exclusiveMaximum") else "less than or equal to"
            return f"should be {bound} {wanted}"
        case "multipleOf":
            return f"should be a multiple of {wanted}"
        case "minLength":
            return f"should be at least {wanted} chars long"
        case "pattern":
            return f"should match '{wanted}'"
        case "format":
            return f"must be of type {wanted}"
        case "minItems":
            return f"should have at least {wanted} items"
        case "minProperties":
            return f"should have at least {wanted} properties"
        case "uniqueItems":
            return "shouldn't contain duplicates"
        case "oneOf":
            return "must validate one and only one schema (oneOf)"
        case "anyOf":
            return "must validate at least one schema (anyOf)"
        case "not":
            return "must not validate the schema (not)"
    return str(error.message)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    text = canonical(value)
    return text if len(text) <= 200 else text[:197] + "..."


def _type_name(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
    return "object"


def _duplicates(value: Any, schema: Raw, path: Path) -> Iterator[Cause]:
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        additional = schema.get("additionalProperties")
        for key, inner in value.items():
            inner_schema = properties.get(key, additional)
            if isinstance(inner_schema, dict):
                yield from _duplicates(inner, inner_schema, (*path, key))
    elif isinstance(value, list):
        items = schema.get("items")
        yield from _equal_items(value, schema, path)
        if isinstance(items, dict):
            for index, item in enumerate(value):
                yield from _duplicates(item, items, (*path, index))


def _equal_items(value: list[Any], schema: Raw, path: Path) -> Iterator[Cause]:
    list_type = schema.get("x-kubernetes-list-type")
    if list_type not in ("set", "map"):
        return
    keys = schema.get("x-kubernetes-list-map-keys") or []
    seen: set[str] = set()
    for index, item in enumerate(value):
        if list_type == "map":
            if not isinstance(item, dict):
                continue
            item = {key: item[key] for key in keys if key in item}
        text = canonical(item)
        if text in seen:
            yield Cause(path_text((*path, index)), "FieldValueDuplicate", f"Duplicate value: {_shown(item)}")
        seen.add(text)


def _integer_within(bits: int) -> Callable[[object], bool]:
    def is_within(value: object) -> bool:
        return not isinstance(value, int) or -(1 << (bits - 1)) <= value < 1 << (bits - 1)

    return is_within


def _text_read_by(read: Callable[[str], object]) -> Callable[[object], bool]:
    def is_readable(value: object) -> bool:
        if isinstance(value, str):
            read(value)
        return True

    return is_readable


def _read_time(text: str) -> None:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})", text):
        raise ValueError("not as in RFC 3339")
    datetime.datetime.fromisoformat(re.sub(r"\.\d+", "", text.upper()))


def _read_uuid(text: str) -> None:
    if not re.fullmatch(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", text):
        raise ValueError("not a UUID")


def _read_base64(text: str) -> None:
    # A server reads over line breaks.
    base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)


def _format_checker() -> jsonschema.FormatChecker:
    """The formats that a server checks; others are for readers."""
    checker = jsonschema.FormatChecker(formats=())
    checker.checks("int32")(_integer_within(32))
    checker.checks("int64")(_integer_within(64))
    readers: dict[str, Callable[[str], object]] = {
        "date-time": _read_time,
        "date": datetime.date.fromisoformat,
        "byte": _read_base64,
        "ipv4": ipaddress.IPv4Address,
        "ipv6": ipaddress.IPv6Address,
        "cidr": lambda text: ipaddress.ip_network(text, strict=False),
        "uuid": _read_uuid,
    }
    for name, read in readers.items():
        checker.checks(name, raises=(ValueError, binascii.Error))(_text_read_by(read))
    return checker


_formats = _format_checker()
