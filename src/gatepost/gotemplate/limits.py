"""The bounds of an execution: however a template is written, it comes to an end and stays small."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from gatepost.gotemplate.errors import LimitExceeded

_PER_STEP = 100  # characters or elements that are gone through in one step


@dataclass(frozen=True, slots=True)
class Limits:
    """How far one execution may go.

    Attributes:
        steps: actions, commands and rounds of ranges; going through a long text or list counts as many.
        text: characters of one text: the output, what a function makes, the template itself.
        depth: templates, blocks and parentheses inside one another.
        width: width and precision in formats.
    """

    steps: int = 100_000
    text: int = 262_144
    depth: int = 100
    width: int = 1_000


class Budget:
    """What is left of the limits during one execution."""

    __slots__ = ("_depth", "_limits", "_output", "_steps")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._steps = 0
        self._depth = 0
        self._output = 0

    def spend(self, steps: int = 1) -> None:
        """Raises: LimitExceeded"""
        self._steps += steps
        if self._steps > self._limits.steps:
            raise LimitExceeded(f"needs more than {self._limits.steps} steps, the limit of one execution")

    def spend_size(self, size: int) -> None:
        """Counts that so many characters or elements are gone through. Raises: LimitExceeded"""
        self.spend(size // _PER_STEP)

    def spend_text(self, text: str) -> None:
        """Counts a text that a function made. Raises: LimitExceeded"""
        if len(text) > self._limits.text:
            raise LimitExceeded(f"makes a text of more than {self._limits.text} characters, the limit")
        self.spend_size(len(text))

    def spend_output(self, text: str) -> None:
        """Raises: LimitExceeded"""
        self._output += len(text)
        if self._output > self._limits.text:
            raise LimitExceeded(f"gives more than {self._limits.text} characters, the limit of the output")

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """One level of nesting more. Raises: LimitExceeded"""
        self._depth += 1
        if self._depth > self._limits.depth:
            raise LimitExceeded(f"nests deeper than {self._limits.depth} templates, blocks and parentheses, the limit")
        yield
        self._depth -= 1


class TextBuilder:
    """A text that grows piece by piece and never beyond the limit."""

    __slots__ = ("_length", "_limit", "_pieces")

    def __init__(self, limits: Limits) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._limit = limits.text

    def write(self, piece: str) -> None:
        """Raises: LimitExceeded"""
        self._length += len(piece)
        if self._length > self._limit:
            raise LimitExceeded(f"makes a text of more than {self._limit} characters, the limit")
        self._pieces.append(piece)

    def __str__(self) -> str:
        return "".join(self._pieces)
