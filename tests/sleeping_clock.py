"""A clock for the pace of calls, whose time passes only by sleeping."""

from __future__ import annotations

import asyncio


class SleepingClock:
    """Time passes only by sleeping; who sleeps wakes in the order of the moments."""

    def __init__(self) -> None:
        self.time = 100.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        until = self.time + seconds
        await asyncio.sleep(0)
        self.time = max(self.time, until)
