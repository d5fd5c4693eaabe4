"""Values as text, as Go's fmt prints them: print, println, printf.

Source: documentation of Go's fmt. Left out: floats in binary and hexadecimal form, addresses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gatepost.gotemplate.directives import FIELD_NAMES, Directive, directives
from gatepost.gotemplate.errors import FunctionError
from gatepost.gotemplate.limits import Limits, TextBuilder
from gatepost.gotemplate.numbers import format_float, format_integer, shortest_float
from gatepost.gotemplate.quoting import quoted, quoted_character
from gatepost.gotemplate.values import Fields, Kind, Strings, kind_of, to_bytes, type_name

_NIL = "<nil>"
_PLAIN = Directive("v")


class Printer:
    """Makes texts of values, none of them longer than the limits say."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def print(self, *values: Any) -> str:
        """The values one after another, with a blank between two that are no texts. Raises: LimitExceeded"""
        out = TextBuilder(self._limits)
        after_text = True
        for index, value in enumerate(values):
            is_text = isinstance(value, str)
            if index and not is_text and not after_text:
                out.write(" ")
            self._write(out, value, _PLAIN)
            after_text = is_text
        return str(out)

    def println(self, *values: Any) -> str:
        """The values with a blank between all of them and a line feed at the end. Raises: LimitExceeded"""
        out = TextBuilder(self._limits)
        for index, value in enumerate(values):
            if index:
                out.write(" ")
            self._write(out, value, _PLAIN)
        out.write("\n")
        return str(out)

    def printf(self, format_: str, *values: Any) -> str:
        """The format with its verbs replaced by the values; mistakes in it are told in the text, as in Go.

        Raises: LimitExceeded; FunctionError for what is left out here.
        """
        out = TextBuilder(self._limits)
        used = 0
        reordered = False
        for part in directives(format_, values, self._limits):
            if isinstance(part, str):
                out.write(part)
                continue
            reordered = reordered or part.reordered
            used = part.next_argument
            if part.has_value:
                self._write(out, part.value, part)
        if not reordered and used < len(values):
            out.write("%!(EXTRA ")
            for index, value in enumerate(values[used:]):
                out.write(", " * bool(index) + type_name(value))
                if value is not None:
                    out.write("=")
                    self._write(out, value, _PLAIN)
            out.write(")")
        return str(out)

    def _write(self, out: TextBuilder, value: Any, how: Directive, *, nested: bool = False) -> None:
        kind = kind_of(value)
        if how.verb == "T":
            out.write(how.padded(type_name(value)))
        elif how.verb == "p":
            raise FunctionError("%p: addresses are not shown")
        elif kind is Kind.INVALID:
            self._write_nil(out, how, nested=nested)
        elif kind is Kind.MAP:
            self._write_map(out, value, how)
        elif kind is Kind.LIST:
            opening, closing, between = (f"{type_name(value)}{{", "}", ", ") if how.is_go_syntax else ("[", "]", " ")
            out.write(opening)
            for index, element in enumerate(value):
                out.write(between * bool(index))
                self._write(out, element, how, nested=True)
            out.write(closing)
        elif kind is Kind.STRUCT:
            self._write_struct(out, value, how)
        elif kind is Kind.FUNCTION:
            raise FunctionError("a function cannot be printed")
        else:
            text = self._of_basic(value, kind, how)
            if text is None:
                out.write(f"%!{how.verb}({type_name(value)}=")
                self._write(out, value, replace(how, verb="v"))
                text = ")"
            out.write(text)

    def _write_nil(self, out: TextBuilder, how: Directive, *, nested: bool) -> None:
        if nested:
            out.write("interface {}(nil)" if how.is_go_syntax else _NIL)
        elif how.verb == "v":
            out.write(how.padded(_NIL))
        else:
            out.write(f"%!{how.verb}({_NIL})")

    def _write_map(self, out: TextBuilder, entries: Any, how: Directive) -> None:
        opening, closing, between = (f"{type_name(entries)}{{", "}", ", ") if how.is_go_syntax else ("map[", "]", " ")
        out.write(opening)
        for index, key in enumerate(sorted_keys(entries)):
            out.write(between * bool(index))
            self._write(out, key, how, nested=True)
            out.write(":")
            self._write(out, entries[key], how, nested=not isinstance(entries, Strings))
        out.write(closing)

    def _write_struct(self, out: TextBuilder, fields: Fields, how: Directive) -> None:
        if fields.text is not None:
            out.write(_of_own_text(fields.text, fields.type_name, how))
            return
        out.write(f"{fields.type_name}{{" if how.is_go_syntax else "{")
        for index, (name, value) in enumerate(fields.values.items()):
            out.write((", " if how.is_go_syntax else " ") * bool(index))
            if how.is_go_syntax or FIELD_NAMES in how.flags:
                out.write(f"{name}:")
            self._write(out, value, how, nested=True)
        out.write("}")

    def _of_basic(self, value: Any, kind: Kind, how: Directive) -> str | None:
        """The text of a bool, a number or a text; None if the verb does not fit."""
        match kind:
            case Kind.BOOL:
                return how.padded("true" if value else "false") if how.verb in "tv" else None
            case Kind.INT:
                return _of_integer(value, how)
            case Kind.FLOAT:
                return _of_float(value, how)
        return _of_text(value, how)


def sorted_keys(entries: Any) -> list[Any]:
    """The keys of a map in the order in which Go walks and prints them: that of their bytes."""
    return sorted(entries, key=to_bytes)


def _of_integer(value: int, how: Directive) -> str | None:
    if how.verb in "vdboOxXU":
        return format_integer(value, how)
    if how.verb not in "cq":
        return None
    letter = chr(value) if 0 <= value <= 0x10FFFF and not 0xD800 <= value < 0xE000 else "�"
    return how.padded(letter if how.verb == "c" else quoted_character(letter, ascii_only="+" in how.flags))


def _of_float(value: float, how: Directive) -> str | None:
    if how.verb in "bxX":
        raise FunctionError(f"%{how.verb} of a float is not supported")
    if how.is_go_syntax:
        return how.padded(shortest_float(value))
    return format_float(value, how) if how.verb in "vgGeEfF" else None


def _of_own_text(text: str, type_: str, how: Directive) -> str:
    """The text of a struct that has one of its own."""
    found = None if how.is_go_syntax else _of_text(text, how)
    if found is None:
        raise FunctionError(f"%{how.verb} of a {type_} is not supported")
    return found


def _of_text(text: str, how: Directive) -> str | None:
    if how.verb == "q" or how.is_go_syntax:
        return how.padded(quoted(how.cut(text), ascii_only="+" in how.flags, raw_if_possible="#" in how.flags))
    if how.verb in "sv":
        return how.padded(how.cut(text))
    if how.verb not in "xX":
        return None
    raw = to_bytes(text)
    raw = raw if how.precision is None else raw[: how.precision]
    prefix = "0x" if "#" in how.flags else ""
    if " " in how.flags:
        digits = " ".join(f"{prefix}{byte:02x}" for byte in raw)
    else:
        digits = prefix * bool(raw) + raw.hex()
    return how.padded(digits.upper() if how.verb == "X" else digits)
