"""What the loop asks of the edges that it is put together with."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Protocol

from gatepost.objects.refs import GroupKind
from gatepost.state.engine import Change
from gatepost.writes.outcome import Event, Outcome


class Feed(Protocol):
    """Where objects come from. It calls the methods of the loop's `Intake`."""

    def watch(self, group_kind: GroupKind) -> None:
        """Begins to feed a kind, once."""
        ...

    async def stop(self) -> None: ...


class Writes(Protocol):
    """Where wishes go."""

    async def carry_out(self, outcome: Outcome) -> None: ...

    async def tell(self, events: Iterable[Event]) -> None: ...


class Publisher(Protocol):
    """Where record sets go. It decides by itself when to write."""

    def note(self, changes: list[Change], *, is_clearer: bool) -> None:
        """Values of rules that came out otherwise in a pass.

        Args: is_clearer: more is known than before: a kind came in, or what could not be read has become clear.
        """
        ...

    def allow(self) -> None:
        """From now on all that was noted is true: what it was made of is in."""
        ...

    async def run(self) -> None: ...

    @property
    def is_idle(self) -> bool: ...

    @property
    def is_busy(self) -> bool: ...

    @property
    def missing(self) -> Sequence[str]:
        """What has to come before it does what it is there for, in words."""
        ...

    @property
    def failures(self) -> Sequence[str]:
        """What does not succeed, in words; empty if all does."""
        ...


class NoPublisher:
    """For those who write no DNS."""

    is_idle = True
    is_busy = False
    missing = ()
    failures = ()

    def note(self, changes: list[Change], *, is_clearer: bool) -> None: ...

    def allow(self) -> None: ...

    async def run(self) -> None:
        await asyncio.Event().wait()
