"""Names and texts as Route 53 spells them: other octets as `\\ooo` in octal, where DNS files have `\\DDD` in decimal.

| Route 53                 | endpoint          |
| `\\052.example.com.`      | `*.example.com`   |
| `"a" "b"`                | `"a" "b"`         |
| `"\\303\\244"`             | `"\\195\\164"`      |
"""

from __future__ import annotations

import re

from gatepost.providers.spelling import canonical_name, rdata_of

_OCTAL = re.compile(r"\\([0-3][0-7]{2})|\\(.)", re.DOTALL)
_DECIMAL = re.compile(r"\\(\d{3})|\\(.)", re.DOTALL)
_PLAIN = re.compile(r"[a-z0-9_*.-]")


def name_in(spelled: str) -> str:
    """The canonical name, without final dot. Raises: ValueError if it is none."""
    return canonical_name(_OCTAL.sub(_as_decimal, spelled))


def name_for(name: str) -> str:
    """A name for a call of Route 53, absolute. Raises: ValueError if it is none."""
    canonical = canonical_name(name)
    escaped = _DECIMAL.sub(lambda found: _octal(int(found[1]) if found[1] else ord(found[2])), canonical)
    return "".join(c if _PLAIN.match(c) or c == "\\" else _octal(ord(c)) for c in escaped) + "."


def text_in(value: str) -> str:
    """The target of a TXT record. Raises: RefusedError if the value is no text."""
    return str(rdata_of("TXT", _OCTAL.sub(_as_decimal, value)).to_text())


def text_for(target: str) -> str:
    """The value of a TXT record: quoted strings of at most 255 octets. Raises: RefusedError if it is no text."""
    written = str(rdata_of("TXT", target).to_text())
    return _DECIMAL.sub(lambda found: _octal(int(found[1])) if found[1] else found[0], written)


def _as_decimal(found: re.Match[str]) -> str:
    return f"\\{int(found[1], 8):03d}" if found[1] else found[0]


def _octal(octet: int) -> str:
    return f"\\{octet:03o}"
