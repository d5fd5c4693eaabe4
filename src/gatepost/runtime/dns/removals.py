"""How many own records were removed a short while ago."""

from __future__ import annotations

from collections import deque

REMOVALS_COUNT_SECONDS = 600.0
"""Own records removed within this time count together towards the cap, so that it also stops a slow disaster."""


class RecentRemovals:
    """Removals, each counted until its time is over."""

    def __init__(self) -> None:
        self._made: deque[tuple[float, int]] = deque()

    def note(self, count: int, now: float) -> None:
        """Args: now: in seconds that only grow, here and below."""
        if count:
            self._made.append((now, count))

    def count(self, now: float) -> int:
        """How many were noted within the last REMOVALS_COUNT_SECONDS."""
        while self._made and self._made[0][0] < now - REMOVALS_COUNT_SECONDS:
            self._made.popleft()
        return sum(count for _, count in self._made)
