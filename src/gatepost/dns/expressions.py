"""Regular expressions in the syntax of RE2, which is that of external-dns and of the providers that tell their domains.

The syntax is nearly Python's. What differs is rewritten; what RE2 does not have (a look ahead, a reference back) is
refused, and so is the little that is rewritten nowhere (`\\pL`).
Source: RE2 syntax.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "digit": "0-9",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_ASCII_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}
_TOKEN = re.compile(
    r"(?P<literal>\\Q.*?(?:\\E|$))"
    r"|(?P<end>\\z)"
    r"|\\(?P<ascii>[dws])"
    r"|(?P<escape>\\.)"
    r"|(?P<class>\[\^?\]?(?:\[:\^?[a-z]+:\]|\\.|[^\]\\])*\])"
    r"|\(\?(?P<flags>-?[ims]+|[ims]+-[ims]+)\)"
    r"|(?P<named>\(\?<(?=[A-Za-z_]))"
    r"|(?P<group>\((?:\?P<|\?:|\?(?:-?[ims]+|[ims]+-[ims]+):|(?!\?)))"
    r"|(?P<close>\))"
    r"|(?P<or>\|)"
    r"|(?P<plain>[^()\[\\|])",
    re.DOTALL,
)
_NO_ESCAPES = re.compile(r"\\[1-9CEPXZpkg]")
_CLASS_PART = re.compile(r"\[:(\^?)([a-z]+):\]|\\([dws])|(\\.)|(.)", re.DOTALL)


class BadExpression(ValueError):
    """A text that is no regular expression of RE2; the message says why."""


@lru_cache(maxsize=64)
def compiled(text: str) -> re.Pattern[str]:
    """The expression, ready to search. Raises: BadExpression"""
    try:
        return re.compile("".join(_rewritten(text)))
    except (re.error, OverflowError, RecursionError) as error:
        raise BadExpression(str(error)) from error


def _rewritten(text: str) -> Iterator[str]:
    """The parts of the expression in Python's syntax.

    A flag in the middle holds to the end of its group, over `|` too; in Python it needs a group of its own in each
    branch.
    """
    open_flags: list[list[str]] = [[]]
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or _NO_ESCAPES.match(found.group()):
            raise BadExpression(f"RE2 has nothing like {text[at : at + 4]!r}, at position {at}")
        at = found.end()
        if found["flags"]:
            opening = f"(?{found['flags']}:"
            open_flags[-1].append(opening)
            yield opening
        elif found["group"] or found["named"]:
            open_flags.append([])
            yield "(?P<" if found["named"] else found.group()
        elif found["close"]:
            if len(open_flags) == 1:
                raise BadExpression(f"unbalanced parenthesis at position {at - 1}")
            yield ")" * len(open_flags.pop()) + ")"
        elif found["or"]:
            yield ")" * len(open_flags[-1]) + "|" + "".join(open_flags[-1])
        else:
            yield _simple(found)
    yield ")" * len(open_flags[0]) if len(open_flags) == 1 else ""


def _simple(found: re.Match[str]) -> str:
    if found["literal"]:
        return re.escape(found["literal"][2:].removesuffix("\\E"))
    if found["end"]:
        return r"\Z"
    if found["ascii"]:
        return f"[{_ASCII_CLASSES[found['ascii']]}]"
    return _class(found["class"]) if found["class"] else found.group()


def _class(text: str) -> str:
    """A class in brackets, with the named classes spelt out and without what Python may once read as set operations."""
    start = re.match(r"\[\^?\]?", text)
    assert start is not None
    parts = [start.group().replace("]", r"\]")]
    for negated, posix, ascii_, escape, plain in _CLASS_PART.findall(text[start.end() : -1]):
        if negated or (posix and posix not in _POSIX):
            raise BadExpression(f"found the class {posix!r}, wanted one of {', '.join(_POSIX)}")
        if escape and _NO_ESCAPES.match(escape):
            raise BadExpression(f"RE2 has nothing like {escape!r} in a class")
        parts.append(_POSIX[posix] if posix else _ASCII_CLASSES[ascii_] if ascii_ else escape or _harmless(plain))
    return "".join(parts) + "]"


def _harmless(plain: str) -> str:
    return f"\\{plain}" if plain in "[&|~" else plain
