"""Numbers as Go's fmt prints them."""

from __future__ import annotations

import math

from gatepost.gotemplate.directives import Directive

_BASES = {"v": "d", "d": "d", "b": "b", "o": "o", "O": "o", "x": "x", "X": "X", "U": "X"}
_PREFIXES = {"b": "0b", "o": "0", "x": "0x", "X": "0X"}
_FIRST_EXPONENT = 6  # that %v and %g write out, as in 1e+06
_DEFAULT_PRECISION = 6


def format_integer(value: int, how: Directive) -> str:
    """An integer in the base of the verb, with sign, prefix, precision and width."""
    if how.verb == "U":
        digits = f"{abs(value):X}".rjust(max(4, how.precision or 0), "0")
        letter = f" '{chr(value)}'" if "#" in how.flags and 0 <= value <= 0x10FFFF and chr(value).isprintable() else ""
        return _plain(how, f"{'-' * (value < 0)}U+{digits}{letter}")
    digits = format(abs(value), _BASES[how.verb])
    sign = _sign(how, is_negative=value < 0)
    prefix = "0o" if how.verb == "O" else _PREFIXES.get(how.verb, "") if "#" in how.flags else ""
    if how.precision is not None:
        digits = "" if not how.precision and not value else digits.rjust(how.precision, "0")
        if not digits:
            return _plain(how, "")
    elif how.pads_with_zeros and how.width is not None:
        digits = digits.rjust(how.width - len(sign), "0")
    if prefix == "0" and digits.startswith("0"):
        prefix = ""
    return _plain(how, sign + prefix + digits)


def format_float(value: float, how: Directive) -> str:
    """A float as its verb wants it, by default (%v, %g) with as few digits as tell it from all others."""
    sign = _sign(how, is_negative=math.copysign(1, value) < 0)
    if not math.isfinite(value):
        shown = "NaN" if math.isnan(value) else "Inf"
        sign = sign if not math.isnan(value) else _sign(how, is_negative=False)
        sign = "+" if not sign and shown == "Inf" else sign
        return _plain(how, sign + shown)
    number = _magnitude(abs(value), how)
    if how.pads_with_zeros and how.width is not None:
        number = number.rjust(how.width - len(sign), "0")
    return _plain(how, sign + number)


def shortest_float(value: float) -> str:
    """A float with as few digits as tell it from all others, with an exponent if it is very large or small."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("+Inf" if value > 0 else "-Inf")
    return "-" * (math.copysign(1, value) < 0) + _shortest(abs(value))


def _magnitude(value: float, how: Directive) -> str:
    verb = "g" if how.verb == "v" else how.verb
    if verb in "gG" and how.precision is None:
        number = _shortest(value)
        return number.upper() if verb == "G" else number
    precision = _DEFAULT_PRECISION if how.precision is None else how.precision
    return format(value, f".{precision}{verb}")


def _shortest(value: float) -> str:
    if value == 0:
        return "0"
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + ("" if fraction == "0" else fraction)
    point = len(whole) + int(exponent or "0")  # how many digits stand before the point
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    if -4 <= point - 1 < _FIRST_EXPONENT:
        if point <= 0:
            return "0." + "0" * -point + digits
        whole, fraction = digits[:point].ljust(point, "0"), digits[point:]
        return f"{whole}.{fraction}" if fraction else whole
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{rest}e{'-' if point < 1 else '+'}{abs(point - 1):02d}"


def _sign(how: Directive, *, is_negative: bool) -> str:
    if is_negative:
        return "-"
    return "+" if "+" in how.flags else " " if " " in how.flags else ""


def _plain(how: Directive, text: str) -> str:
    """The text in its width, with blanks: zeros are between sign and digits already."""
    width = how.width or 0
    return text.ljust(width) if "-" in how.flags else text.rjust(width)
