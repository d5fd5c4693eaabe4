"""Label and field selectors: their text or structure, compiled into a question about one object."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

import msgspec

from gatepost.kubernetes.metadata import label_key_problem, label_value_problem
from gatepost.kubernetes.values import Raw, list_at, mapping_at
from gatepost.objects.meta import LabelSelector

LabelMatcher: TypeAlias = Callable[[Mapping[str, str]], bool]
FieldMatcher: TypeAlias = Callable[[Raw], bool]

_TOKEN = re.compile(r"\s*(==|!=|=|!|\(|\)|,|>|<|[^\s=!(),<>]+)")


class BadSelector(ValueError):
    """A selector that cannot be understood; the text says where and what was wanted."""


class Requirement:
    """One requirement on labels: `key`, an operator (In, NotIn, Exists, DoesNotExist, Gt, Lt) and its values."""

    __slots__ = ("key", "operator", "values")

    def __init__(self, key: str, operator: str, values: tuple[str, ...] = ()) -> None:
        self.key = key
        self.operator = operator
        self.values = values

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
        # Gt and Lt compare integers; a label that is none does not match.
        if value is None or not re.fullmatch(r"-?[0-9]+", value):
            return False
        bound = int(self.values[0])
        return int(value) > bound if self.operator == "Gt" else int(value) < bound


def parse_labels(text: str) -> tuple[Requirement, ...]:
    """The requirements in the text of a label selector, all of which must hold: `app=a,tier in (x, y),!old`.

    Raises: BadSelector
    """
    tokens = _tokens(text)
    requirements: list[Requirement] = []
    while tokens:
        requirements.append(_requirement(tokens, text))
        if not tokens:
            break
        if tokens.pop(0) != "," or not tokens:
            raise BadSelector(f"label selector {text!r}: wanted a requirement after each comma and a comma between two")
    return tuple(requirements)


def label_matcher(text: str) -> LabelMatcher:
    """Whether labels meet the text of a label selector; the empty text is met by all.

    Raises: BadSelector
    """
    return _all_of(parse_labels(text))


def matcher_of(selector: LabelSelector | None) -> LabelMatcher:
    """As `structured_matcher`, for a selector in its typed form. Raises: BadSelector"""
    # By way of JSON, which has lists where the typed form has tuples.
    return structured_matcher(msgspec.json.decode(msgspec.json.encode(selector)))


def structured_matcher(selector: Raw | None) -> LabelMatcher:
    """Whether labels meet a LabelSelector with `matchLabels` and `matchExpressions`.

    None is met by nothing, an empty selector by everything.
    Raises: BadSelector, with the path of the field in it.
    """
    if selector is None:
        return lambda labels: False
    requirements = [_exact(key, value) for key, value in mapping_at(selector, "matchLabels").items()]
    for index, raw in enumerate(list_at(selector, "matchExpressions")):
        requirements.append(_expression(raw, f"matchExpressions[{index}]"))
    return _all_of(tuple(requirements))


def field_matcher(text: str, selectable: Collection[str]) -> FieldMatcher:
    """Whether an object meets a field selector: `metadata.name=a,type!=Opaque`.

    A selectable field that is not there counts as empty.
    Args:
        selectable: the fields that may be asked of the kind. A misspelt one must not count as empty: with `!=` it
            would be met by everything, and a deletion would take everything.
    Raises: BadSelector
    """
    wanted: list[tuple[tuple[str, ...], bool, str]] = []
    for part in _split_fields(text):
        path, operator, value = _field_requirement(part, text)
        if path not in selectable:
            listed = ", ".join(sorted(selectable))
            raise BadSelector(f"field selector {text!r}: field label not supported: {path}; wanted one of {listed}")
        wanted.append((tuple(path.split(".")), operator != "!=", value))
    return lambda raw: all((_scalar_at(raw, path) == value) is equal for path, equal, value in wanted)


def _all_of(requirements: tuple[Requirement, ...]) -> LabelMatcher:
    return lambda labels: all(requirement.matches(labels) for requirement in requirements)


def _exact(key: str, value: Any) -> Requirement:
    if not isinstance(value, str):
        raise BadSelector(f"matchLabels[{key}]: found {value!r}, wanted a text")
    return Requirement(_key(key, f"matchLabels[{key}]"), "In", (_value(value, f"matchLabels[{key}]"),))


def _expression(raw: Any, at: str) -> Requirement:
    if not isinstance(raw, dict) or not isinstance(raw.get("key"), str):
        raise BadSelector(f"{at}.key: is required")
    key, operator = _key(raw["key"], f"{at}.key"), raw.get("operator")
    values = list_at(raw, "values")
    if operator in ("In", "NotIn"):
        if not values:
            raise BadSelector(f"{at}.values: must not be empty with operator {operator}")
        return Requirement(key, operator, tuple(_value(value, f"{at}.values") for value in values))
    if operator in ("Exists", "DoesNotExist"):
        if values:
            raise BadSelector(f"{at}.values: must be empty with operator {operator}")
        return Requirement(key, operator)
    raise BadSelector(f"{at}.operator: found {operator!r}, wanted In, NotIn, Exists or DoesNotExist")


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:
            raise BadSelector(f"label selector {text!r}: cannot read {text[at:]!r}")
        tokens.append(found.group(1))
        at = found.end()
    return tokens


def _requirement(tokens: list[str], text: str) -> Requirement:
    at = f"label selector {text!r}"
    token = tokens.pop(0)
    if token == "!":
        if not tokens:
            raise BadSelector(f"{at}: wanted a label key after '!'")
        return Requirement(_key(tokens.pop(0), at), "DoesNotExist")
    key = _key(token, at)
    if not tokens or tokens[0] == ",":
        return Requirement(key, "Exists")
    operator = tokens.pop(0)
    if operator in ("in", "notin"):
        return Requirement(key, "In" if operator == "in" else "NotIn", _value_set(tokens, at))
    if operator not in ("=", "==", "!=", ">", "<"):
        raise BadSelector(f"{at}: found {operator!r} after {key!r}, wanted =, ==, !=, in, notin, > or <")
    value = tokens.pop(0) if tokens and tokens[0] != "," else ""
    if operator in (">", "<"):
        if not re.fullmatch(r"-?[0-9]+", value):
            raise BadSelector(f"{at}: found {value!r} after {operator!r}, wanted an integer")
        return Requirement(key, "Gt" if operator == ">" else "Lt", (value,))
    return Requirement(key, "NotIn" if operator == "!=" else "In", (_value(value, at),))


def _value_set(tokens: list[str], at: str) -> tuple[str, ...]:
    if not tokens or tokens.pop(0) != "(":
        raise BadSelector(f"{at}: wanted '(' and a list of values after in or notin")
    values: list[str] = []
    expect_value = True
    while tokens:
        token = tokens.pop(0)
        if token == ")":
            # "(a,)" and "()" hold the empty value, as with the API server.
            return tuple([*values, ""] if expect_value else values)
        if token == ",":
            if expect_value:
                values.append("")
            expect_value = True
        elif expect_value:
            values.append(_value(token, at))
            expect_value = False
        else:
            raise BadSelector(f"{at}: wanted a comma or ')' before {token!r}")
    raise BadSelector(f"{at}: the list of values is not closed by ')'")


def _key(key: str, at: str) -> str:
    why = label_key_problem(key)
    if why:
        raise BadSelector(f"{at}: label key {key!r}: {why}")
    return key


def _value(value: Any, at: str) -> str:
    why = label_value_problem(value)
    if why:
        raise BadSelector(f"{at}: label value {value!r}: {why}")
    return str(value)


def _split_fields(text: str) -> list[str]:
    """Parts between commas; a backslash takes the meaning from a comma, an equals sign or a backslash."""
    parts = re.findall(r"(?:\\.|[^,\\])+", text)
    return [part.strip() for part in parts if part.strip()]


def _field_requirement(part: str, text: str) -> tuple[str, str, str]:
    found = re.fullmatch(r"([A-Za-z0-9_.\-\[\]/]+)\s*(==|!=|=)\s*((?:\\.|[^=\\])*)", part)
    if found is None:
        raise BadSelector(f"field selector {text!r}: cannot read {part!r}, wanted PATH=VALUE or PATH!=VALUE")
    return found.group(1).removeprefix("."), found.group(2), re.sub(r"\\(.)", r"\1", found.group(3))


def _scalar_at(raw: Raw, path: tuple[str, ...]) -> str:
    value: Any = raw
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    if value is None or isinstance(value, dict | list):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
