"""Regular expressions in the syntax of RE2, which is that of external-dns and of the providers that tell their domains.

The library is the one by RE2's own authors: time grows with the length of a name alone, which matters since names come
from whoever may write an object. What RE2 does not have (a look ahead, a reference back) is refused.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol


class BadExpression(ValueError):
    """A text that is no regular expression of RE2; the message says why."""


class Expression(Protocol):
    """A regular expression, ready to use."""

    def search(self, text: str) -> object | None:
        """The first place where it is found anywhere in the text, None if it is not."""
        ...


@lru_cache(maxsize=64)
def compiled(text: str) -> Expression:
    """The expression, ready to search. Raises: BadExpression"""
    import re2  # type: ignore[import-untyped]  # few runs have an expression

    options = re2.Options()
    options.log_errors = False  # told by the exception alone
    try:
        expression: Expression = re2.compile(text, options)
    except re2.error as error:
        raise BadExpression(str(error)) from error
    return expression
