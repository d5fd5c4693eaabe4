"""Waiting between attempts: longer each time, never all at once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

Pause = Callable[[float], Awaitable[object]]
"""Waits for some seconds. Tests put in one that takes note and returns."""

pause: Pause = asyncio.sleep


class Backoff:
    """A delay that doubles with each failure, with up to half of it added by chance, until a success resets it.

    Chance keeps many clients that were cut off together from coming back together.
    """

    def __init__(self, first_seconds: float, limit_seconds: float, chance: Callable[[], float] = random.random) -> None:
        self._first = first_seconds
        self._limit = limit_seconds
        self.chance = chance
        self._next = first_seconds

    def next_seconds(self) -> float:
        delay = self._next
        self._next = min(self._next * 2, self._limit)
        return delay * (1 + 0.5 * self.chance())

    def reset(self) -> None:
        self._next = self._first
