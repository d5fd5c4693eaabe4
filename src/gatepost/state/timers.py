"""Runs whose answer holds only until a moment."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from datetime import datetime

from gatepost.state.run import Run


class Timers:
    """The moments that runs have named; one that a run no longer names is passed over."""

    __slots__ = ("_heap", "_order")

    def __init__(self) -> None:
        self._heap: list[tuple[datetime, int, Run]] = []
        self._order = 0

    def add(self, moment: datetime, run: Run) -> None:
        self._order += 1
        heapq.heappush(self._heap, (moment, self._order, run))

    def take(self, now: datetime) -> Iterator[Run]:
        """The runs whose moment has come, the earliest first."""
        while self._heap and self._heap[0][0] <= now:
            moment, _, run = heapq.heappop(self._heap)
            if run.until == moment:
                yield run

    def next(self) -> datetime | None:
        """The next moment, None if there is none."""
        while self._heap and self._heap[0][2].until != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None
