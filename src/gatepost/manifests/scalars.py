"""Which YAML words are numbers, booleans or null, and which are strings: as kubectl reads them.

kubectl reads YAML 1.1 in the dialect of its Go library, which differs from PyYAML's: `y` and `n` are booleans, `0o755`
is octal, `1_000` is a number, while `22:30` and dates are strings. Each rule here was tried with
`kubectl annotate --local`.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any, Final

MERGE: Final = object()
"""What a plain `<<` reads as: the merge key where a key stands, else the string."""


class Letter:
    """A plain `y` or `n`: kubectl's library alone reads it as a boolean, PyYAML and YAML 1.2 read the letter.

    Where only strings can stand the letter is what was meant, elsewhere the boolean.
    """

    __slots__ = ("text", "value")

    def __init__(self, text: str) -> None:
        self.text = text
        self.value = text in "yY"


words: Final[dict[str, Any]] = {
    **{letter: Letter(letter) for letter in "yYnN"},
    **dict.fromkeys(("yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"), True),
    **dict.fromkeys(("no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    "<<": MERGE,
}
integer_form = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))\Z")
float_form = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
# Without a digit in front, underscores may stand only between digits (Go's own rule for its float literals).
dotted_form = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?\Z")
longest_number = 400
"""Digits; a longer word overflows every number type and is a string. Keeps int() from quadratic work."""

standard_tag: Final = "tag:yaml.org,2002:"


class WrongTag(ValueError):
    """A value that is not of the type its tag states; the message says what was wanted."""


def plain_value(text: str) -> Any:
    """What an unquoted word without a tag stands for: None, a bool, a Letter, a number, MERGE, or the text itself.

    Infinities and NaN come back as floats; no JSON can hold them, so the reader has to refuse them.
    """
    if text in words:
        return words[text]
    if text[0] in "+-.0123456789" and len(text) <= longest_number:
        number = _number(text)
        if number is not None:
            return number
    return text


def _number(text: str) -> int | float | None:
    if text[0] == ".":
        return whole(float(text.replace("_", ""))) if dotted_form.match(text) else None
    digits = text.replace("_", "")
    if match := integer_form.match(digits):
        sign, hexadecimal, binary, octal, decimal = match.groups()
        size = _magnitude(hexadecimal, binary, octal, decimal)
        value = -size if sign == "-" else size
        if -(2**63) <= value < 2**63:
            return value
        if 0 < value < 2**64:
            return float(value)  # the API's numbers are int64 or float64
    if float_form.match(digits):
        number = float(digits)
        return None if number in (float("inf"), float("-inf")) else whole(number)
    return None


def _magnitude(hexadecimal: str | None, binary: str | None, octal: str | None, decimal: str | None) -> int:
    if hexadecimal:
        return int(hexadecimal, 16)
    if binary:
        return int(binary, 2)
    return int(octal, 8) if octal else int(decimal or "0")


def whole(number: float) -> int | float:
    """An int for a float without fraction that fits int64: kubectl sends `80.0` and `8e1` as 80."""
    return int(number) if -(2.0**63) <= number < 2.0**63 and number.is_integer() else number


def tagged_value(tag: str, text: str) -> Any:
    """The value of a scalar with an explicit tag. Tags that YAML's types do not know make strings.

    Raises: WrongTag.
    """
    kind = tag.removeprefix(standard_tag) if tag.startswith(standard_tag) else ""
    if kind == "merge":
        return MERGE if text == "<<" else text
    if kind == "binary":
        try:
            return base64.b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
        except binascii.Error as error:
            raise WrongTag("base64 text after !!binary") from error
    if kind not in ("int", "float", "bool", "null"):
        return text
    value = plain_value(text)
    if isinstance(value, Letter):
        value = value.value
    fits = {"int": int, "float": int | float, "bool": bool, "null": type(None)}[kind]
    if not isinstance(value, fits) or (isinstance(value, bool) and kind != "bool"):
        raise WrongTag(f"a value that fits its tag !!{kind}")
    return value


def key_text(value: Any) -> str | None:
    """A mapping key as the string that it becomes in JSON: "true" for `on`, "8080" for 8080; None if it has none."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value - value != 0:
        return {"inf": ".inf", "-inf": "-.inf"}.get(repr(value), ".nan")
    if isinstance(value, int | float):
        return str(value)
    return None
