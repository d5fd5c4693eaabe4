"""One entry of the memo: a rule that ran for a key."""

from __future__ import annotations

from collections.abc import Hashable
from datetime import datetime
from typing import Any

from msgspec import Struct

from gatepost.state.rule import Rule


class Run(Struct, eq=False, gc=False):
    """One rule for one key: its value and the reads that the value rests on.

    There are several for each object of a cluster, so they are kept small, and the collector need not look at them:
    nothing that a Run holds leads back to it.

    Attributes:
        cell: what others record when they ask for the value; None while nobody has.
        has_value: it went well at least once; until then `value` is None and means nothing.
        wanted: it runs for its own sake, not only because another run asks for it.
    """

    rule: Rule[Any]
    key: Hashable
    value: Any = None
    reads: tuple[Hashable, ...] = ()
    cell: tuple[str, Hashable] | None = None
    until: datetime | None = None
    stale: bool = False
    wanted: bool = False
    has_value: bool = False

    def __repr__(self) -> str:
        return f"Run({self.rule.name}, {self.key})"
