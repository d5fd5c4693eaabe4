"""Constants as Go writes them: numbers, characters and texts in quotes."""

from __future__ import annotations

import math
import re

from gatepost.gotemplate.values import from_bytes, to_bytes

_INTEGER = re.compile(
    r"([+-]?)(?:0[xX](?P<hex>(?:_?[0-9a-fA-F])+)|0[oO](?P<octal>(?:_?[0-7])+)|0[bB](?P<binary>(?:_?[01])+)"
    r"|0(?P<old_octal>(?:_?[0-7])+)|(?P<decimal>0|[1-9](?:_?[0-9])*))"
)
_DIGITS = "[0-9](?:_?[0-9])*"
_FLOAT = re.compile(rf"[+-]?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?")
_HEX_FLOAT = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+")
_LONGEST_NUMBER = 400
_BASES = {"hex": 16, "octal": 8, "old_octal": 8, "binary": 2, "decimal": 10}

_ESCAPE = re.compile(
    r"\\(?:(?P<plain>[abfnrtv\\'\"])|x(?P<hex>[0-9a-fA-F]{2})|(?P<octal>[0-3][0-7]{2})"
    r"|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8}))|(?P<wrong>\\)"
)
_PLAIN = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class BadLiteral(ValueError):
    """A constant that cannot be read; the text says what was wanted."""


def number(text: str) -> int | float:
    """The number: an int without fraction and exponent, else a float. Raises: BadLiteral"""
    if len(text) > _LONGEST_NUMBER:
        raise BadLiteral(f"a number of at most {_LONGEST_NUMBER} characters")
    matched = _INTEGER.fullmatch(text)
    if matched is not None:
        base = matched.lastgroup or "decimal"
        value = int(matched.group(base).replace("_", ""), _BASES[base])
        value = -value if matched.group(1) == "-" else value
        if not -(2**63) <= value < 2**63:
            raise BadLiteral("an integer of 64 bits")
        return value
    if text.endswith("i"):
        raise BadLiteral("an integer or a float; complex numbers are not supported")
    try:
        if _HEX_FLOAT.fullmatch(text):
            return float.fromhex(text)
        if _FLOAT.fullmatch(text) and re.search("[.eE]", text):
            value_read = float(text)
            if math.isinf(value_read):
                raise OverflowError
            return value_read
    except OverflowError:
        raise BadLiteral("a float of 64 bits") from None
    raise BadLiteral("a number such as 42, 0x2a, 1_000 or 4.2e1")


def character(quoted: str) -> int:
    """The code of a character in single quotes. Raises: BadLiteral"""
    inner = quoted[1:-1]
    escape = _ESCAPE.fullmatch(inner)
    if escape is not None and (escape["hex"] or escape["octal"]):
        return int(escape["hex"], 16) if escape["hex"] else int(escape["octal"], 8)
    text = _unescaped(inner, "'")
    if len(text) != 1 or (inner == "'"):
        raise BadLiteral("one character in single quotes")
    return ord(text)


def text_in_quotes(quoted: str) -> str:
    """The text between double quotes, with escapes, or between backquotes, as it stands. Raises: BadLiteral"""
    inner = quoted[1:-1]
    if quoted[0] == "`":
        return inner.replace("\r", "")  # Go drops them from raw strings, so that files of Windows mean the same
    return _unescaped(inner, '"')


def _unescaped(inner: str, quote: str) -> str:
    if "\\" not in inner:
        return inner
    at = 0
    pieces: list[bytes] = []
    for escape in _ESCAPE.finditer(inner):
        pieces.append(to_bytes(inner[at : escape.start()]))
        pieces.append(_escaped(escape, quote))
        at = escape.end()
    return from_bytes(b"".join([*pieces, to_bytes(inner[at:])]))


def _escaped(escape: re.Match[str], quote: str) -> bytes:
    plain = escape["plain"]
    if plain is not None and (plain not in "'\"" or plain == quote):
        return to_bytes(_PLAIN.get(plain, plain))
    if escape["hex"] is not None:
        return bytes([int(escape["hex"], 16)])
    if escape["octal"] is not None:
        return bytes([int(escape["octal"], 8)])
    code = escape["short"] or escape["long"]
    if code is not None:
        point = int(code, 16)
        if point <= 0x10FFFF and not 0xD800 <= point < 0xE000:
            return chr(point).encode()
    raise BadLiteral(r"an escape such as \n, \\, \x41, \101 or \u00e9")
