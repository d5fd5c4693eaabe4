"""What is wrong with the input, as values with file and line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

type_names = {bool: "boolean", int: "number", float: "number", str: "string", list: "list", dict: "mapping"}

Path = tuple[str | int, ...]
"""The way from the top of a document to a field: keys and list positions."""


class InputProblem(Struct, frozen=True):
    """One thing to mend in a file. `line` is 0 for trouble with the file as a whole, `column` 0 where unknown."""

    file: str
    line: int
    found: str
    wanted: str
    column: int = 0
    field: str = ""
    object: str = ""
    """The object that it is about, as people write it, or "" while that is not known."""

    def __str__(self) -> str:
        """One line: `shop.yaml:12: HTTPRoute shop/web: metadata.labels.app: found the number 1, wanted a string`."""
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        about = "".join(f"{part}: " for part in (self.object, self.field) if part)
        return f"{place}: {about}found {self.found}, wanted {self.wanted}"


class Fault(Struct, frozen=True):
    """A problem inside one document, before it is known to which object it belongs."""

    line: int
    found: str
    wanted: str
    column: int = 0
    path: Path = ()


class Miss(Struct, frozen=True):
    """A field that is not as the API wants it, in an object whose line is known to others."""

    path: Path
    found: str
    wanted: str


class Refused(Exception):
    """A document that cannot be read; the fault says where and why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.found)
        self.fault = fault


def described(value: Any) -> str:
    """A value as a message names it: `the number 8`, `the string "web"`, `a list`, `nothing`."""
    if value is None:
        return "nothing"
    name = type_names[type(value)]
    if isinstance(value, dict | list):
        return f"a {name}"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, str):
        return f'the string "{shortened(value)}"' if value else "an empty string"
    return f"the number {value}"


def shortened(text: str, length: int = 60) -> str:
    """The text on one line, cut where it gets longer than a message should be; what cannot be printed is escaped."""
    head = text[:length]
    if not head.isprintable():
        head = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in head)
    return head if len(text) <= length else f"{head}..."


def field_name(path: Sequence[str | int]) -> str:
    """A path as messages write it: `spec.parentRefs[0].name`, `metadata.labels["app.kubernetes.io/name"]`."""
    name = ""
    for part in path:
        if isinstance(part, int):
            name += f"[{part}]"
        elif part and not set(part) & set('.[]"/ \n'):
            name += f".{part}" if name else part
        else:
            name += f'["{shortened(part)}"]'
    return shortened(name, 200)
