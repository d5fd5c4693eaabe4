"""The parts of a parsed template. `offset` is where a part starts in the text, for messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Dot:
    offset: int
    text: str = "."


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant. `text` is how it is written; the value is a bool, int, float or str."""

    offset: int
    text: str
    value: Any


@dataclass(frozen=True, slots=True)
class Nil:
    offset: int
    text: str = "nil"


@dataclass(frozen=True, slots=True)
class Word:
    """The name of a function."""

    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class Path:
    """`.A.B` from the dot, `$x.A.B` from a variable, `(pipeline).A.B` or `function.A` from what that gives.

    Attributes:
        start: None for the dot, the name of a variable, or what the fields are asked of.
        names: of the fields, in order; only a variable may stand without any.
    """

    offset: int
    text: str
    start: str | Pipeline | Word | None
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands, each given the value of the one before as its last argument.

    Attributes:
        variables: that the value is put in.
        assigns: whether they exist already (=) or are new (:=).
    """

    offset: int
    text: str
    variables: tuple[str, ...]
    assigns: bool
    commands: tuple[Command, ...]


Operand = Dot | Literal | Nil | Word | Path | Pipeline


@dataclass(frozen=True, slots=True)
class Command:
    """An operand, or a function and its arguments."""

    offset: int
    operands: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Action:
    """`{{pipeline}}`; `source` here and below is the whole action as it is written."""

    offset: int
    source: str
    pipeline: Pipeline


@dataclass(frozen=True, slots=True)
class Branch:
    offset: int
    source: str
    condition: Pipeline
    body: Body


@dataclass(frozen=True, slots=True)
class Choice:
    """`if` or, where the value becomes the dot, `with`: the first branch that is true, else what is otherwise."""

    sets_dot: bool
    branches: tuple[Branch, ...]
    otherwise: Body


@dataclass(frozen=True, slots=True)
class Range:
    offset: int
    source: str
    pipeline: Pipeline
    body: Body
    otherwise: Body


@dataclass(frozen=True, slots=True)
class Include:
    """`{{template "name" pipeline}}`; without pipeline the dot is nothing."""

    offset: int
    source: str
    name: str
    pipeline: Pipeline | None


@dataclass(frozen=True, slots=True)
class Leave:
    """`{{break}}` or `{{continue}}`."""

    is_break: bool


Node = Text | Action | Choice | Range | Include | Leave
Body = tuple[Node, ...]


def is_blank(body: Body) -> bool:
    """Whether a template holds nothing but blanks, so that another definition may take its place."""
    return all(isinstance(node, Text) and not node.text.strip() for node in body)
