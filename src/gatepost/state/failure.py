"""What a fault of gatepost left undone: which rule or index failed for what. The others go on."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from gatepost.state.rule import Rule
    from gatepost.state.store import Index


class Failure(Struct, frozen=True):
    """A rule or an index that raised: a fault of gatepost.

    The last good value of a rule stands until one of its reads changes; in an index the last object that it could take
    stands until a newer one can be taken.

    Attributes:
        by: the rule or index that raised.
        key: of the rule's run; of an index the owner, an object's Ref or the key of the value.
    """

    by: Rule[Any] | Index
    key: Hashable
    error: Exception

    @property
    def is_cause(self) -> bool:
        """Whether the fault is here: else it is in what was asked, and told there."""
        return not isinstance(self.error, DependencyFailed)

    def __str__(self) -> str:
        return f"fault in {self.by.name} for {self.key}: {self.error!r}"


class DependencyFailed(Exception):
    """A rule was asked that failed and never had a value for that key: who asks has nothing to work with either."""

    def __init__(self, rule: Rule[Any], key: Hashable) -> None:
        super().__init__(f"rule {rule.name!r} failed for {key}")
        self.rule = rule
        self.key = key


Failures: TypeAlias = dict[tuple[str, Hashable], Failure]
"""By the name of the rule or index, and the key."""
