"""The verbs of a format: which value each takes, and how wide, precise and marked it is to be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gatepost.gotemplate.errors import LimitExceeded
from gatepost.gotemplate.limits import Limits

FIELD_NAMES, GO_SYNTAX = "n", "g"

_PARTS = re.compile(
    r"(?P<flags>[-+# 0]*)(?P<at_width>\[[^\]%]*\])?(?P<width>\*|[0-9]+)?"
    r"(?P<point>\.(?P<at_precision>\[[^\]%]*\])?(?P<precision>\*|[0-9]+)?)?(?P<at_value>\[[^\]%]*\])?"
)


@dataclass(frozen=True, slots=True)
class Directive:
    """One verb with its value.

    Attributes:
        flags: of "-+# 0"; for the verb v, whose + and # mean something else, FIELD_NAMES and GO_SYNTAX.
        width: in characters, None if it was not given.
        has_value: False where only a message of a mistake was due.
        next_argument: the index of the first value that is not used yet.
    """

    verb: str
    flags: str = ""
    width: int | None = None
    precision: int | None = None
    value: Any = None
    has_value: bool = True
    next_argument: int = 0
    reordered: bool = False

    @property
    def is_go_syntax(self) -> bool:
        return GO_SYNTAX in self.flags

    @property
    def pads_with_zeros(self) -> bool:
        return "0" in self.flags and "-" not in self.flags

    def cut(self, text: str) -> str:
        return text if self.precision is None else text[: self.precision]

    def padded(self, text: str) -> str:
        width = self.width or 0
        if "-" in self.flags:
            return text.ljust(width)
        return text.rjust(width, "0" if self.pads_with_zeros else " ")


def directives(format_: str, values: Sequence[Any], limits: Limits) -> Iterator[str | Directive]:
    """The format in order: texts, messages of mistakes among them, and verbs with a value.

    Raises: LimitExceeded for a width or precision beyond the limit.
    """
    reader = _Reader(values, limits)
    at = 0
    while (percent := format_.find("%", at)) >= 0:
        yield format_[at:percent]
        parts = _PARTS.match(format_, percent + 1)
        assert parts is not None
        verb = format_[parts.end() : parts.end() + 1]
        at = parts.end() + 1
        yield from reader.read(parts, verb)
    yield format_[at:]


class _Reader:
    """Hands out the values, in order or by index."""

    def __init__(self, values: Sequence[Any], limits: Limits) -> None:
        self._values = values
        self._limits = limits
        self._next = 0
        self._reordered = False
        self._index_is_good = True

    def read(self, parts: re.Match[str], verb: str) -> Iterator[str | Directive]:
        self._index_is_good = True
        flags = parts["flags"]
        self._jump(parts["at_width"])
        width, width_is_good = self._number(parts["width"], allow_negative=True)
        if width is not None and width < 0:
            width, flags = -width, flags + "-"
        if not width_is_good:
            yield "%!(BADWIDTH)"
        precision: int | None = None
        if parts["point"] is not None:
            self._jump(parts["at_precision"])
            precision, precision_is_good = self._number(parts["precision"] or "0", allow_negative=False)
            if not precision_is_good:
                yield "%!(BADPREC)"
        self._jump(parts["at_value"])
        if not verb:
            yield "%!(NOVERB)"
        elif verb == "%":
            yield "%"
        elif not self._index_is_good:
            yield f"%!{verb}(BADINDEX)"
        elif self._next >= len(self._values):
            yield f"%!{verb}(MISSING)"
        else:
            self._next += 1
            value = self._values[self._next - 1]
            if verb == "v":
                flags = flags.replace("+", FIELD_NAMES).replace("#", GO_SYNTAX)
            at, reordered = self._next, self._reordered
            yield Directive(verb, flags, width, precision, value, next_argument=at, reordered=reordered)
            return
        yield Directive("", has_value=False, next_argument=self._next, reordered=self._reordered)

    def _jump(self, index: str | None) -> None:
        if index is None:
            return
        self._reordered = True
        number = index[1:-1]
        if number.isascii() and number.isdigit() and 1 <= int(number[:9]) <= len(self._values):
            self._next = int(number) - 1
        else:
            self._index_is_good = False

    def _number(self, text: str | None, *, allow_negative: bool) -> tuple[int | None, bool]:
        """A width or precision, and whether it is one. `*` takes it from the values."""
        if text is None:
            return None, True
        if text == "*":
            value = self._values[self._next] if self._next < len(self._values) else None
            self._next += self._next < len(self._values)
            if type(value) is not int or (value < 0 and not allow_negative):
                return None, False
            number = value
        else:
            number = int(text[:9])
        if abs(number) > self._limits.width:
            raise LimitExceeded(f"formats with a width or precision of more than {self._limits.width}, the limit")
        return number, True
