"""That something moved: an object came in, a pass or a write ended. Whoever waits for a state looks again."""

from __future__ import annotations

import asyncio


class Movements:
    """How many there have been."""

    def __init__(self) -> None:
        self.count = 0
        self._moved = asyncio.Event()

    def note(self) -> None:
        self.count += 1
        self._moved.set()

    async def after(self, seen: int) -> int:
        """Returns their number as soon as there are others than those `seen`."""
        while self.count == seen:
            self._moved.clear()
            await self._moved.wait()
        return self.count
