"""What can be wrong with a template: its text, or what it does with the data."""

from __future__ import annotations

_LONGEST_PIECE = 80


class TemplateSyntaxError(ValueError):
    """A text that is no template: where, what was found there and what was wanted.

    Attributes:
        line, column: from 1, in characters.
    """

    def __init__(self, name: str, line: int, column: int, found: str, wanted: str) -> None:
        found = shortened(found)
        super().__init__(f"template {name}:{line}:{column}: found {found}, wanted {wanted}")
        self.name = name
        self.line = line
        self.column = column
        self.found = found
        self.wanted = wanted


class TemplateError(ValueError):
    """A template that cannot be executed with this data: where, in which action, and why.

    Attributes:
        name: that of the template with the failing action, which may be a nested one.
        line, column: from 1, in characters of the whole text.
        action: the text of the action with its braces, shortened if it is long; "" if there was none before.
    """

    def __init__(self, name: str, line: int, column: int, action: str, reason: str) -> None:
        action = shortened(action)
        at = f"at {action}: " if action else ""
        super().__init__(f"template {name}:{line}:{column}: {at}{reason}")
        self.name = name
        self.line = line
        self.column = column
        self.action = action
        self.reason = reason


class FunctionError(ValueError):
    """Raised by a function that a template calls, with the reason alone; the place is added by who calls it."""


class LimitExceeded(Exception):
    """Something a template does has no bound; the text says which limit was met."""


class Fault(Exception):
    """The reason why an execution stops; becomes a TemplateError where the place is known."""


def shortened(text: str) -> str:
    """A piece of a template for a message, cut if it is long."""
    return text if len(text) <= _LONGEST_PIECE else text[:_LONGEST_PIECE] + "…"


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column of a character, both from 1."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1
