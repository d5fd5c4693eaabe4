"""The loop: objects come in, what is stale runs, what came out otherwise is written.

    feed -> intake -> passes: engine.run_stale -> outcomes that changed -> workers -> writer
                        |
                        +-> record sets that changed -> publisher -> DNS provider

Nothing here polls: a pass runs when something came in or when the time has come that a rule named.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from gatepost.runtime.asked_kinds import NotingEngine
from gatepost.runtime.leadership.leading import Alone, Leadership
from gatepost.runtime.loop.edges import Feed, NoPublisher, Publisher, Writes
from gatepost.runtime.loop.intake import Arrivals, Intake
from gatepost.runtime.loop.kinds import KnownKinds
from gatepost.runtime.loop.movements import Movements
from gatepost.runtime.loop.passes import Passes
from gatepost.runtime.loop.workers import Workers

WORKERS = 8
GRACE_SECONDS = 10.0
"""How long writes that are on their way may take at the end."""


class Loop:
    """Keeps a cluster, and DNS, as the rules want them.

    Args:
        engine: with the rules; settings may be in it already.
        writes: carries outcomes out.
        now: the clock.
        leadership: nothing is written but while it is held.

    Attributes:
        intake: where the feed puts what it has.
        movements: an object that came in, a pass or a write that ended; parts beside the loop note theirs too.
        others_at_rest: asked by `rest`, for parts beside the loop.
    """

    def __init__(
        self,
        engine: NotingEngine,
        writes: Writes,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        leadership: Leadership | None = None,
    ) -> None:
        self.engine = engine
        self.kinds = KnownKinds(engine)
        self.movements = Movements()
        arrivals = Arrivals(self.movements)
        self.intake = Intake(engine, self.kinds, arrivals)
        self.workers = Workers(engine, self.kinds, writes, self.movements)
        self.others_at_rest: Callable[[], bool] = lambda: True
        self._passes = Passes(engine, self.kinds, arrivals, self.movements, now)
        self._publisher: Publisher = NoPublisher()
        self._leadership = leadership or Alone()

    def publish_with(self, publisher: Publisher) -> None:
        """Adds a DNS part; must come before `run`."""
        self._publisher = publisher

    async def run(self, feed: Feed, stop: asyncio.Event) -> None:
        """Runs until `stop` is set; writes that are on their way are finished."""
        writing = asyncio.create_task(self._write_while_leading())
        passes = asyncio.create_task(self._passes.run(feed, self.workers, self._publisher))
        stopped = asyncio.create_task(stop.wait())
        try:
            done, _ = await asyncio.wait([passes, stopped, writing], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()  # only a fault of the loop itself ends a task
        finally:
            await _cancel([passes, stopped])
            await feed.stop()
            await self._finish_writes()
            await _cancel([writing])
            self.workers.close()

    async def _write_while_leading(self) -> None:
        """Has writers at work in each term of leadership. What is to be written gathers in between.

        Raises: a fault of the loop itself.
        """
        while True:
            await self._leadership.gained()
            writing = [asyncio.create_task(self.workers.work()) for _ in range(WORKERS)]
            writing.append(asyncio.create_task(self._publisher.run()))
            lost = asyncio.create_task(self._until_lost())
            self.movements.note()
            try:
                done, _ = await asyncio.wait([lost, *writing], return_when=asyncio.FIRST_EXCEPTION)
                for task in done - {lost}:
                    task.result()
            finally:
                await _cancel([lost, *writing])
                self.movements.note()

    async def _until_lost(self) -> None:
        await self._leadership.lost()
        raise _LeadershipLost

    async def warmed_up(self) -> None:
        """Returns when rules have run over all that there is."""
        seen = self.movements.count
        while not self._passes.has_run:
            seen = await self.movements.after(seen)

    async def _finish_writes(self) -> None:
        """Lets what is being written come to its end, and takes up nothing new."""
        self.workers.end()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                seen = self.movements.count
                while self.workers.is_writing or self._publisher.is_busy:
                    seen = await self.movements.after(seen)

    async def rest(self) -> None:
        """Returns when nothing is left to do: all kinds were heard of, no pass is due, no key waits, DNS is written."""
        seen = self.movements.count
        while not self._is_at_rest():
            seen = await self.movements.after(seen)

    def _is_at_rest(self) -> bool:
        is_written = self._leadership.is_held and self.workers.is_idle and self._publisher.is_idle
        return self._passes.is_idle and is_written and self.others_at_rest()

    @property
    def missing(self) -> list[str]:
        """What has to come before this process counts as ready, in words. One that follows writes nothing, and is."""
        found = [f"{kind}: has not been heard of yet" for kind in sorted(self.kinds.unheard)]
        found += [f"{kind}: cannot be read: {error}" for kind, error in sorted(self.kinds.failing.items())]
        if not (found or self._passes.has_run):
            found.append("the rules have not run yet")
        return [*found, *(self._publisher.missing if self._leadership.is_held else ())]

    @property
    def failures(self) -> list[str]:
        """What did not succeed so far, in words; empty if all did."""
        found = [f"{kind}: {error}" for kind, error in self.kinds.failing.items()]
        found += self.workers.failures
        found += [str(fault) for fault in self.engine.faults]
        found += self._publisher.failures
        return found


class _LeadershipLost(Exception):
    """Ends the wait for writers, which have no end of their own."""


async def _cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
