"""The values of a template, and what Go says of them: kind, type, truth, length in bytes.

| Python                      | Go                                     |
| None                        | nil                                    |
| NIL_POINTER                 | a pointer to nothing, printed as <nil> |
| PointedInt, PointedText     | a pointer to an int or string          |
| bool, int, float, str       | bool, int, float64, string             |
| list, tuple                 | []interface {}                         |
| dict                        | map[string]interface {}                |
| Strings                     | map[string]string                      |
| Fields                      | a struct                               |
| Function                    | a function                             |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from gatepost.gotemplate.errors import Fault


class Missing(Enum):
    """No value at all, which is less than nil: what a key that a map lacks gives."""

    MISSING = "missing"


MISSING = Missing.MISSING


class NilPointer(Enum):
    """A pointer to nothing. Unlike nil it stays a value: it prints as <nil> and not as <no value>."""

    NIL_POINTER = "nil pointer"


NIL_POINTER = NilPointer.NIL_POINTER


class PointedInt(int):
    """The integer that a pointer points to: true even if it is 0, since the pointer is set."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return True


class PointedText(str):
    """The text that a pointer points to: true even if it is empty, since the pointer is set."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return True


class Strings(Mapping[str, str]):
    """A map of texts to texts, such as labels: what it lacks can count as "" (see `missing_key`)."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[str, str]) -> None:
        self._entries = entries

    def __getitem__(self, key: str) -> str:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


@dataclass(frozen=True, slots=True)
class Fields:
    """Data of a known shape: a field that is not there is an error, whatever `missing_key` says.

    Attributes:
        type_name: what Go calls the type, for messages: v1.HTTPRoute.
        values: by the names of the fields in Go, in the order of their declaration.
        withheld: fields and methods that the shape has but this data lacks, each with the reason.
        promoted: what is asked for like a field but printed with the embedded struct that it belongs to.
        methods: by name; those that take nothing are called by asking for them.
        text: how it is printed if its type has a method for that, as a time does; None prints the fields.
    """

    type_name: str
    values: Mapping[str, Any]
    withheld: Mapping[str, str] = field(default_factory=dict)
    promoted: Mapping[str, Any] = field(default_factory=dict)
    methods: Mapping[str, Function] = field(default_factory=dict)
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A function that templates may call.

    Attributes:
        call: gets the arguments; refuses them with a FunctionError.
        takes: a Go type for each parameter: any, string, bool, int, float64 or map[string]string.
        more: the type of any number of further arguments, "" for none.
        check: looks at the arguments while the template is parsed, if all of them are constants, and refuses what can
            never be right with a FunctionError that says what was wanted.
    """

    call: Callable[..., Any]
    takes: tuple[str, ...] = ()
    more: str = ""
    check: Callable[..., None] | None = None


class Kind(Enum):
    INVALID = "invalid"
    BOOL = "bool"
    INT = "int"
    FLOAT = "float64"
    STRING = "string"
    LIST = "slice"
    MAP = "map"
    STRUCT = "struct"
    FUNCTION = "func"


_KINDS: dict[type, Kind] = {
    type(None): Kind.INVALID,
    Missing: Kind.INVALID,
    NilPointer: Kind.INVALID,
    bool: Kind.BOOL,
    int: Kind.INT,
    float: Kind.FLOAT,
    str: Kind.STRING,
    list: Kind.LIST,
    tuple: Kind.LIST,
    dict: Kind.MAP,
    Strings: Kind.MAP,
    Fields: Kind.STRUCT,
    Function: Kind.FUNCTION,
}

_TYPE_NAMES = {
    Kind.INVALID: "<nil>",
    Kind.LIST: "[]interface {}",
    Kind.MAP: "map[string]interface {}",
    Kind.FUNCTION: "func",
}


def kind_of(value: Any) -> Kind:
    """Raises: TypeError if the caller put something into the data that is no value of a template."""
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    for type_, kind in _KINDS.items():  # subclasses: text enums, ordered maps
        if isinstance(value, type_):
            return kind
    raise TypeError(f"found a {type(value).__name__} in the data of a template, wanted one of the types in values.py")


def pointer_to(value: Any) -> Any:
    """A value that a pointer points to. Of a bool only the value counts: Python has no bool that is true and false."""
    match value:
        case bool():
            return value
        case int():
            return PointedInt(value)
        case str():
            return PointedText(value)
    return value


def type_name(value: Any) -> str:
    """What Go calls the type of a value."""
    if isinstance(value, Strings):
        return "map[string]string"
    if isinstance(value, Fields):
        return value.type_name
    kind = kind_of(value)
    return _TYPE_NAMES.get(kind, kind.value)


def is_true(value: Any) -> bool:
    """Whether a value is not the empty one of its type; structs and functions always are."""
    kind = kind_of(value)
    if kind is Kind.INVALID:
        return False
    return kind in (Kind.STRUCT, Kind.FUNCTION) or bool(value)


def zero_of_entry(entries: Mapping[str, Any]) -> Any:
    """What a map gives for a key that it lacks when that is to be the zero value: "" for texts, else nil."""
    return "" if isinstance(entries, Strings) else None


def to_bytes(text: str) -> bytes:
    """The bytes of a text, which is what Go counts and cuts. Bytes that are no text are kept as lone surrogates."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # other halves of pairs, which only JSON can bring in
        return text.encode("utf-8", "replace")


def from_bytes(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def clean(text: str) -> str:
    """A text fit for the world: what is no Unicode in it becomes the replacement character."""
    return text if text.isascii() else to_bytes(text).decode("utf-8", "replace")


def argument(value: Any, wanted: str) -> Any:
    """A value as an argument of that type.

    Raises: Fault if it has another type, or is nil where the type knows no nil.
    """
    if kind_of(value) is Kind.INVALID:
        if wanted == "any":
            return None
        if wanted == "map[string]string":
            return Strings({})
        raise Fault(f"found no value, wanted a {wanted}")
    if wanted not in ("any", type_name(value)):
        raise Fault(f"found a value of type {type_name(value)}, wanted a {wanted}")
    return value
