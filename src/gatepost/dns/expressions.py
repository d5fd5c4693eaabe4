"""Regular expressions in the syntax of RE2, which is that of external-dns and of the providers that tell their domains.

Left out is little: classes of Unicode (`\\pL`). What RE2 does not have (a look ahead, a reference back) is refused.
Source: RE2 syntax, and where it leaves room the regexp package of Go.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from gatepost.dns.automaton import All, Any, Automaton, Here, Many, One, Part, Place, TooLarge, parts_in_order
from gatepost.dns.letter_classes import ESCAPES, POSIX, Ranges, complement, is_word, one_of

_MOST_REPEATS = 1000
_DEEPEST = 200
_FLAGS = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_NAMED = re.compile(r"\(\?P?<([A-Za-z0-9_]+)>")
_COUNT = re.compile(r"\{([0-9]{1,9})(,([0-9]{0,9}))?\}")
_CODE = re.compile(r"\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})|\\(0[0-7]{0,2}|[1-7][0-7]{1,2})")
_CONTROLS = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_LAST_LETTER = 0x10FFFF


class BadExpression(ValueError):
    """A text that is no regular expression of RE2; the message says why."""


class Expression:
    """A regular expression."""

    def __init__(self, text: str) -> None:
        """Raises: BadExpression"""
        try:
            self._automaton = Automaton(_Parser(text).whole())
        except TooLarge as error:
            raise BadExpression(str(error)) from error

    def is_in(self, text: str) -> bool:
        """Whether it is found anywhere in the text."""
        return self._automaton.search(text)


@lru_cache(maxsize=64)
def compiled(text: str) -> Expression:
    """The expression, ready to search. Raises: BadExpression"""
    return Expression(text)


class _Flags(Struct, frozen=True):
    """What flags change: `i`, `m` and `s`; whether the longest match is taken (`U`) makes no difference here."""

    any_case: bool = False
    lines: bool = False
    dot_all: bool = False


class _Parser:
    """Reads an expression from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._names: set[str] = set()

    def whole(self) -> Part:
        part = self._choice(_Flags())
        if self._at < len(self._text):
            raise self._bad("unbalanced parenthesis")
        return part

    def _choice(self, flags: _Flags) -> Part:
        """What stands up to the end of the group. A flag in the middle holds to that end, over `|` too."""
        choices: list[Part] = []
        parts: list[Part] = []
        while self._at < len(self._text) and not self._sees(")"):
            if self._takes("|"):
                choices.append(All(tuple(parts)))
                parts = []
            elif (change := _FLAGS.match(self._text, self._at)) and change[3] == ")":
                self._at = change.end()
                flags = _changed(flags, change)
            elif self._takes(r"\Q"):
                parts += self._literally(flags)
            else:
                parts.append(self._repeated(self._atom(flags)))
        choices.append(parts_in_order(parts) if parts else All(()))
        return choices[0] if len(choices) == 1 else Any(tuple(choices))

    def _literally(self, flags: _Flags) -> list[Part]:
        text, end, _ = self._text[self._at :].partition(r"\E")
        self._at += len(text) + len(end)
        letters: list[Part] = [_letter(letter, flags) for letter in text]
        return [*letters[:-1], self._repeated(letters[-1])] if letters else []

    def _repeated(self, part: Part) -> Part:
        """The part with the repetition after it, if there is one."""
        count = self._count()
        if count is None:
            return part
        self._takes("?")  # as few as possible: finds the same texts
        if self._at < len(self._text) and (self._text[self._at] in "*+?" or _COUNT.match(self._text, self._at)):
            raise self._bad("a repetition of a repetition")
        return Many(part, *count)

    def _count(self) -> tuple[int, int | None] | None:
        for sign, count in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._takes(sign):
                return count
        found = _COUNT.match(self._text, self._at)
        if found is None:
            return None
        least = int(found[1])
        most = least if found[2] is None else int(found[3]) if found[3] else None
        if max(least, most or 0) > _MOST_REPEATS or (most is not None and most < least):
            raise self._bad(f"a number of repetitions that is not between 0 and {_MOST_REPEATS}")
        self._at = found.end()
        return (least, most)

    def _atom(self, flags: _Flags) -> Part:
        letter = self._text[self._at]
        if letter == "(":
            return self._group(flags)
        if letter == "[":
            return One(one_of(self._class(), any_case=flags.any_case))
        if letter == "\\":
            return self._escape(flags)
        if letter in "*+?" or _COUNT.match(self._text, self._at):
            raise self._bad("a repetition of nothing")
        self._at += 1
        if letter == ".":
            return One(lambda letter: flags.dot_all or letter != "\n")
        if letter == "^":
            return Here(_starts_a_line if flags.lines else _starts)
        if letter == "$":
            return Here(_ends_a_line if flags.lines else _ends)
        return _letter(letter, flags)

    def _group(self, flags: _Flags) -> Part:
        change, named = _FLAGS.match(self._text, self._at), _NAMED.match(self._text, self._at)
        start = self._at
        if change is not None:
            self._at, flags = change.end(), _changed(flags, change)
        elif named is not None:
            if named[1] in self._names:
                raise self._bad(f"two groups of the name {named[1]!r}")
            self._names.add(named[1])
            self._at = named.end()
        elif self._text.startswith("(?", self._at):
            raise self._bad("RE2 has no such group")
        else:
            self._at += 1
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._bad(f"more than {_DEEPEST} groups within each other")
        inner = self._choice(flags)
        self._depth -= 1
        if not self._takes(")"):
            self._at = start
            raise self._bad("a parenthesis that is never closed")
        return inner

    def _escape(self, flags: _Flags) -> Part:
        """An escape outside of a class."""
        for name, holds in _PLACES.items():
            if self._takes(f"\\{name}"):
                return Here(holds)
        ranges = self._named_class()
        if ranges is not None:
            return One(one_of(ranges, any_case=False))
        return _letter(self._escaped_letter(), flags)

    def _named_class(self) -> Ranges | None:
        r"""The class of an escape such as \d, None if it is none."""
        name = self._text[self._at + 1 : self._at + 2]
        if self._sees("\\") and name in ESCAPES:
            self._at += 2
            return ESCAPES[name]
        return None

    def _escaped_letter(self) -> str:
        code = _CODE.match(self._text, self._at)
        if code is not None:
            number = int(code[1] or code[2], 16) if code[3] is None else int(code[3], 8)
            if number > _LAST_LETTER:
                raise self._bad("no letter has that number")
            self._at = code.end()
            return chr(number)
        letter = self._text[self._at + 1 : self._at + 2]
        if not letter or not letter.isascii() or (letter.isalnum() and letter not in _CONTROLS):
            raise self._bad("RE2 has no such escape, or it is not read here")
        self._at += 2
        return _CONTROLS.get(letter, letter)

    # Classes in brackets

    def _class(self) -> Ranges:
        start = self._at
        self._at += 1
        is_negated = self._takes("^")
        ranges: list[tuple[str, str]] = []
        is_first = True
        while is_first or not self._sees("]"):
            if self._at >= len(self._text):
                self._at = start
                raise self._bad("a class that is never closed")
            ranges += self._part_of_class()
            is_first = False
        self._at += 1
        return complement(ranges) if is_negated else tuple(ranges)

    def _part_of_class(self) -> Ranges:
        posix = re.compile(r"\[:(\^?)([a-z]*):\]").match(self._text, self._at)
        if posix is not None:
            if posix[2] not in POSIX:
                raise self._bad(f"found the class {posix[2]!r}, wanted one of {', '.join(POSIX)}")
            self._at = posix.end()
            return complement(POSIX[posix[2]]) if posix[1] else POSIX[posix[2]]
        named = self._named_class()
        if named is not None:
            return named
        first = last = self._letter_of_class()
        if self._sees("-") and self._text[self._at + 1 : self._at + 2] not in ("]", ""):
            self._at += 1
            last = self._letter_of_class()
            if last < first:
                raise self._bad(f"the range {first}-{last} is empty")
        return ((first, last),)

    def _letter_of_class(self) -> str:
        if self._sees("\\"):
            return self._escaped_letter()
        if self._at >= len(self._text):
            raise self._bad("a class that is never closed")
        self._at += 1
        return self._text[self._at - 1]

    # Odds and ends

    def _sees(self, text: str) -> bool:
        return self._text.startswith(text, self._at)

    def _takes(self, text: str) -> bool:
        found = self._sees(text)
        self._at += len(text) if found else 0
        return found

    def _bad(self, what: str) -> BadExpression:
        return BadExpression(f"{what}, at position {self._at} ({self._text[self._at : self._at + 4]!r})")


def _changed(flags: _Flags, change: re.Match[str]) -> _Flags:
    on, off = change[1], change[2] or ""

    def value(letter: str, before: bool) -> bool:
        return (before or letter in on) and letter not in off

    return replace(
        flags,
        any_case=value("i", flags.any_case),
        lines=value("m", flags.lines),
        dot_all=value("s", flags.dot_all),
    )


def _letter(letter: str, flags: _Flags) -> Part:
    return One(one_of(((letter, letter),), any_case=flags.any_case))


def _starts(place: Place) -> bool:
    return not place.before


def _ends(place: Place) -> bool:
    return not place.after


def _starts_a_line(place: Place) -> bool:
    return place.before in ("", "\n")


def _ends_a_line(place: Place) -> bool:
    return place.after in ("", "\n")


def _is_edge_of_word(place: Place) -> bool:
    return is_word(place.before) != is_word(place.after)


_PLACES = {
    "A": _starts,
    "z": _ends,
    "b": _is_edge_of_word,
    "B": lambda place: not _is_edge_of_word(place),
}
