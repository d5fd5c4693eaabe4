"""The functions of --fqdn-template beside those of Go. Source: external-dns, template functions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from gatepost.dns.choices import SOURCES, SOURCES_OF_EXTERNAL_DNS
from gatepost.dns.targets import record_type
from gatepost.gotemplate import Function, FunctionError, Limits

_LONGEST = Limits().text

KNOWN_SOURCES = SOURCES_OF_EXTERNAL_DNS | frozenset(SOURCES)
"""The sources that `isSource` may be asked for: those of external-dns, whose templates also serve here, and ours."""


def functions_for(source: str) -> Mapping[str, Function]:
    """The functions by name, for a template that is executed for that source.

    Those that cut or look take the text first, so a value from a pipe is the prefix; `replace` takes it last.
    """
    return {
        "contains": Function(lambda text, part: part in text, ("string", "string")),
        "fromJson": Function(_from_json, ("string",)),
        "hasKey": Function(lambda entries, key: key in entries, ("map[string]string", "string")),
        "isIPv4": Function(lambda text: record_type(text) == "A", ("string",)),
        "isIPv6": Function(lambda text: record_type(text) == "AAAA", ("string",)),
        "isSource": Function(lambda name: _known(name) == source, ("string",), check=_check_source),
        "replace": Function(_replace, ("string", "string", "string")),
        "toLower": Function(str.lower, ("string",)),
        "trim": Function(str.strip, ("string",)),
        "trimPrefix": Function(str.removeprefix, ("string", "string")),
        "trimSuffix": Function(str.removesuffix, ("string", "string")),
    }


def _known(name: str) -> str:
    """The name of a source in lower case. Raises: FunctionError if there is no such source."""
    if name.lower() not in KNOWN_SOURCES:
        raise FunctionError(f"found {name!r}, wanted {_any_source()}")
    return name.lower()


def _check_source(*constants: Any) -> None:
    """A source that there is not would only be noticed by the first Route that gets as far."""
    if len(constants) == 1 and isinstance(constants[0], str) and constants[0].lower() not in KNOWN_SOURCES:
        raise FunctionError(_any_source())


def _any_source() -> str:
    return f"one of the sources {', '.join(sorted(KNOWN_SOURCES))}"


def _replace(old: str, new: str, text: str) -> str:
    length = len(text) + text.count(old) * (len(new) - len(old))
    if length > _LONGEST:
        raise FunctionError(f"makes a text of {length} characters, the limit is {_LONGEST}")
    return text.replace(old, new)


def _from_json(text: str) -> Any:
    """What the text holds, with floats for all numbers as in Go; nil if it is no JSON."""
    try:
        return json.loads(text, parse_int=_number, parse_float=_number, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _number(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(digits)
    return value


def _refuse(constant: str) -> Any:
    raise ValueError(constant)  # NaN and Infinity, which Python would take
