"""The two ways of saying no: a problem that somebody should mend, and a step that was rightly left out."""

from __future__ import annotations

from msgspec import Struct

from gatepost.objects.refs import Ref

UNREADABLE = "UnreadableObject"


class Problem(Struct, frozen=True, gc=False, order=True):
    """Something that keeps a wish from coming true. Condition, event, log line and command line are rendered from it.

    `about` is the object to look at and `field` the path in it; `message` says what was found and what was wanted,
    without times, counters or random order; `hint` says what to do next.
    """

    reason: str
    message: str
    about: Ref
    field: str = ""
    hint: str = ""

    def as_skipped(self) -> Skipped:
        """The same, said of a part that takes no part because of it."""
        return Skipped(self.reason, self.message, self.about, self.field)

    def __str__(self) -> str:
        where = f"{self.about}: {self.field}: " if self.field else f"{self.about}: "
        if not self.hint:
            return where + self.message
        return f"{where}{self.message}{'' if self.message.endswith('.') else '.'} {self.hint}"


class UnreadableObject(Exception):
    """An object is there, but not in the form of its kind; the problem names the first part that does not fit."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


class Skipped(Struct, frozen=True, gc=False, order=True):
    """A part of an object that takes no part, and the rule that says so: `at` and `field` are what decided."""

    reason: str
    message: str
    at: Ref
    field: str = ""

    def __str__(self) -> str:
        where = f"{self.at}: {self.field}: " if self.field else f"{self.at}: "
        return where + self.message
