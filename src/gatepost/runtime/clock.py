"""A clock of seconds that only grow, and waiting until a moment unless something happens before it."""

from __future__ import annotations

import asyncio
from typing import Protocol


class Clock(Protocol):
    """Tests put in one that is moved by hand."""

    def now(self) -> float:
        """Seconds since some moment in the past; they never go back, whatever happens to the time of day."""
        ...

    async def wait(self, event: asyncio.Event, until: float) -> None:
        """Returns when the event is set or the moment has come."""
        ...


class LoopClock:
    """The clock of the running event loop."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def wait(self, event: asyncio.Event, until: float) -> None:
        try:
            async with asyncio.timeout_at(until):
                await event.wait()
        except TimeoutError:
            return
