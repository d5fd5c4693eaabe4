"""Texts made safe for other languages: Go's own quotes, HTML, JavaScript, queries of URLs."""

from __future__ import annotations

from urllib.parse import quote_plus

from gatepost.gotemplate.values import to_bytes

_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\"}

_HTML = str.maketrans({'"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;", "\0": "�"})

_JAVASCRIPT = {
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
    "<": "\\u003C",
    ">": "\\u003E",
    "&": "\\u0026",
    "=": "\\u003D",
}


def quoted(text: str, *, ascii_only: bool = False, raw_if_possible: bool = False) -> str:
    """The text as a constant of Go, between double quotes or, if it can be and is asked for, backquotes."""
    if raw_if_possible and _can_be_raw(text):
        return f"`{text}`"
    return '"' + "".join(_escaped(letter, '"', ascii_only=ascii_only) for letter in text) + '"'


def quoted_character(letter: str, *, ascii_only: bool = False) -> str:
    return "'" + _escaped(letter, "'", ascii_only=ascii_only) + "'"


def _can_be_raw(text: str) -> bool:
    return all(letter == "\t" or (letter >= " " and letter not in "`\x7f\ufeff") for letter in text)


def _escaped(letter: str, quote: str, *, ascii_only: bool) -> str:
    if letter == quote:
        return "\\" + letter
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    if letter.isprintable() and (letter.isascii() or not ascii_only):
        return letter
    code = ord(letter)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no text
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def html(text: str) -> str:
    """The text with what means something in HTML escaped."""
    return text.translate(_HTML)


def javascript(text: str) -> str:
    """The text with what means something in JavaScript, or inside HTML, escaped."""
    return "".join(
        _JAVASCRIPT.get(letter) or (letter if letter.isprintable() else f"\\u{ord(letter):04X}") for letter in text
    )


def url_query(text: str) -> str:
    """The text as a value in the query of a URL."""
    return quote_plus(to_bytes(text))
