"""Classes of letters in regular expressions, as ranges. Source: RE2 syntax; its named classes are ASCII."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

Ranges = Sequence[tuple[str, str]]
"""First and last letter of each range."""

_DIGITS: Ranges = (("0", "9"),)
_UPPER: Ranges = (("A", "Z"),)
_LOWER: Ranges = (("a", "z"),)
_WORD: Ranges = (*_DIGITS, *_UPPER, *_LOWER, ("_", "_"))

POSIX: Mapping[str, Ranges] = {
    "alnum": (*_DIGITS, *_UPPER, *_LOWER),
    "alpha": (*_UPPER, *_LOWER),
    "ascii": (("\x00", "\x7f"),),
    "blank": (("\t", "\t"), (" ", " ")),
    "cntrl": (("\x00", "\x1f"), ("\x7f", "\x7f")),
    "digit": _DIGITS,
    "graph": (("!", "~"),),
    "lower": _LOWER,
    "print": ((" ", "~"),),
    "punct": (("!", "/"), (":", "@"), ("[", "`"), ("{", "~")),
    "space": (("\t", "\r"), (" ", " ")),
    "upper": _UPPER,
    "word": _WORD,
    "xdigit": (*_DIGITS, ("A", "F"), ("a", "f")),
}
_SPACE: Ranges = (("\t", "\n"), ("\f", "\r"), (" ", " "))
_LAST = chr(0x10FFFF)


def complement(ranges: Ranges) -> Ranges:
    """All letters that are in none of the ranges."""
    found: list[tuple[str, str]] = []
    following = 0
    for first, last in sorted(ranges):
        if ord(first) > following:
            found.append((chr(following), chr(ord(first) - 1)))
        following = max(following, ord(last) + 1)
    return (*found, (chr(following), _LAST)) if following <= ord(_LAST) else tuple(found)


ESCAPES: Mapping[str, Ranges] = {
    "d": _DIGITS,
    "s": _SPACE,
    "w": _WORD,
    "D": complement(_DIGITS),
    "S": complement(_SPACE),
    "W": complement(_WORD),
}


def one_of(ranges: Ranges, *, any_case: bool) -> Callable[[str], bool]:
    """Whether a letter is in one of the ranges, in its own case or also in the other one."""

    def is_in(letter: str) -> bool:
        return any(first <= letter <= last for first, last in ranges)

    if not any_case:
        return is_in
    return lambda letter: is_in(letter) or is_in(letter.lower()) or is_in(letter.upper())


def is_word(letter: str) -> bool:
    """Whether a letter is part of a word; "" is not."""
    return any(first <= letter <= last for first, last in _WORD)
