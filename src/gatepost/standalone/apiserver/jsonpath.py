"""The JSONPath of printer columns: `.spec.hostnames`, `.status.conditions[?(@.type=="Ready")].status`.

Source: kubernetes.io/docs/reference/kubectl/jsonpath; CustomResourceDefinition, additionalPrinterColumns[].jsonPath.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

Step = Callable[[Any], Iterable[Any]]

_NAME = re.compile(r"\.((?:\\.|[^.\[\\])+)")
_QUOTED = re.compile(r"""\[(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")\]""")
_INDEX = re.compile(r"\[(-?\d+)\]")
_SLICE = re.compile(r"\[(-?\d*):(-?\d*)(?::(-?\d*))?\]")
_FILTER = re.compile(r"""\[\?\(\s*@((?:\.(?:\\.|[^.\s=!<>)\[\\])+)+)\s*(?:(==|!=|<=|>=|<|>)\s*(.+?)\s*)?\)\]""")
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


class InvalidJSONPath(ValueError):
    """A path that this reader does not understand; the message holds the path and the part it stopped at."""


@lru_cache(maxsize=1024)
def compiled(path: str) -> tuple[Step, ...]:
    """The steps of a path, each from one value to the values it leads to.

    Raises: InvalidJSONPath.
    """
    text = path.strip()
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1].strip()
    text = text.removeprefix("$")
    if text and text[0] not in ".[":
        text = "." + text
    steps: list[Step] = []
    at = 0
    while at < len(text):
        step, at = _step(path, text, at)
        steps.append(step)
    return tuple(steps)


def find(path: str, value: Any) -> list[Any]:
    """All values that the path leads to, in document order; an absent field leads nowhere.

    Raises: InvalidJSONPath.
    """
    found: list[Any] = [value]
    for step in compiled(path):
        found = [after for before in found for after in step(before)]
    return found


def _step(path: str, text: str, at: int) -> tuple[Step, int]:
    rest = text[at:]
    if rest.startswith(".."):
        return _descendants, at + (1 if rest[2:3] not in ("[", "") else 2)
    if rest in (".", ".*", "[*]") or rest.startswith((".*.", ".*[", "[*]")):
        width = 1 if rest == "." else 3 if rest.startswith("[*]") else 2
        return (_itself if rest == "." else _children), at + width
    if match := _NAME.match(text, at):
        return _field(_unescaped(match[1])), match.end()
    if match := _QUOTED.match(text, at):
        return _field(_unescaped(match[1] if match[1] is not None else match[2])), match.end()
    if match := _INDEX.match(text, at):
        return _element(int(match[1])), match.end()
    if match := _SLICE.match(text, at):
        bounds = [int(part) if part else None for part in match.groups()]
        return _elements(slice(*bounds)), match.end()
    if match := _FILTER.match(text, at):
        return _matching(match[1], match[2], match[3]), match.end()
    raise InvalidJSONPath(f"JSONPath {path!r} is not understood from {rest!r} on")


def _unescaped(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)


def _itself(value: Any) -> Iterable[Any]:
    return (value,)


def _field(name: str) -> Step:
    def step(value: Any) -> Iterable[Any]:
        return (value[name],) if isinstance(value, dict) and name in value else ()

    return step


def _element(index: int) -> Step:
    def step(value: Any) -> Iterable[Any]:
        return (value[index],) if isinstance(value, list) and -len(value) <= index < len(value) else ()

    return step


def _elements(bounds: slice) -> Step:
    def step(value: Any) -> Iterable[Any]:
        return value[bounds] if isinstance(value, list) else ()

    return step


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else ()


def _descendants(value: Any) -> Iterator[Any]:
    yield value
    for child in _children(value):
        yield from _descendants(child)


def _matching(path: str, comparison: str | None, wanted: str | None) -> Step:
    if comparison is None or wanted is None:
        return lambda value: [item for item in _children(value) if find(path, item)]
    compare, constant = _COMPARISONS[comparison], _constant(wanted)

    def is_match(item: Any) -> bool:
        found: Sequence[Any] = find(path, item)
        try:
            return bool(found) and compare(found[0], constant)
        except TypeError:  # values of different types have no order
            return False

    return lambda value: [item for item in _children(value) if is_match(item)]


def _constant(text: str) -> Any:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return _unescaped(text[1:-1])
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text
