"""When rules run: once all kinds were heard of, then when something came in or the time came that a rule named."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from datetime import datetime

from gatepost.log_fields import fields
from gatepost.objects.refs import GroupKind
from gatepost.runtime.asked_kinds import NotingEngine, kinds_over
from gatepost.runtime.loop.collector import Collector
from gatepost.runtime.loop.edges import Feed, Publisher
from gatepost.runtime.loop.intake import Arrivals
from gatepost.runtime.loop.kinds import KnownKinds
from gatepost.runtime.loop.movements import Movements
from gatepost.runtime.loop.outcomes import Place
from gatepost.runtime.loop.said import Said
from gatepost.runtime.loop.workers import Workers

log = logging.getLogger("gatepost.loop")


class Passes:
    """Runs what is stale, hands on what came out otherwise, and has the feed watch the kinds that rules ask for.

    Args: now: the clock.
    """

    def __init__(
        self,
        engine: NotingEngine,
        kinds: KnownKinds,
        arrivals: Arrivals,
        movements: Movements,
        now: Callable[[], datetime],
    ) -> None:
        self._engine = engine
        self._kinds = kinds
        self._arrivals = arrivals
        self._movements = movements
        self._now = now
        self.has_run = False
        self._said: Said[Place, str] = Said()
        self._collector = Collector()

    @property
    def is_idle(self) -> bool:
        """Whether no pass is due now, and none is waited for."""
        return self.has_run and self._kinds.all_heard_of and not self._arrivals.is_pass_due

    async def run(self, feed: Feed, workers: Workers, publisher: Publisher) -> None:
        """Runs until it is cancelled."""
        self._collector.pause()
        try:
            self._watch(feed, kinds_over(self._engine.rules, self._engine.indexes.values()))
            self._arrivals.wake()
            while True:
                await self._until_due()
                if self._kinds.all_heard_of:
                    self._pass(feed, workers, publisher)
                    # Others first: what comes in together is worked on together.
                    await asyncio.sleep(0)
                else:
                    self._arrivals.postpone_pass()
        finally:
            self._collector.resume()

    async def _until_due(self) -> None:
        may_run = self.has_run and self._kinds.all_heard_of
        moment = self._engine.next_moment() if may_run else None
        seconds = None if moment is None else max(0.0, (moment - self._now()).total_seconds())
        try:
            async with asyncio.timeout(seconds):
                await self._arrivals.until_pass_is_due()
        except TimeoutError:
            pass  # the time that a rule named has come

    def _pass(self, feed: Feed, workers: Workers, publisher: Publisher) -> None:
        moved, is_clearer = self._arrivals.take()
        self._engine.advance(self._now())
        changes = self._engine.run_stale()
        self._say_faults()
        has_new_kinds = self._kinds.count_what_came_in()
        workers.note(changes, moved, has_new_kinds=has_new_kinds)
        self._watch(feed, self._engine.kinds_asked())
        # What cannot be read has no value that could change when it goes; records may wait for just that.
        publisher.note(changes, is_clearer=has_new_kinds or is_clearer)
        if self._kinds.all_heard_of:
            publisher.allow()
        if not self.has_run:
            self.has_run = True
            self._collector.resume()
        self._movements.note()

    def _watch(self, feed: Feed, group_kinds: Iterable[GroupKind]) -> None:
        for group_kind in group_kinds:
            if group_kind not in self._kinds.watched:
                self._kinds.start(group_kind)
                feed.watch(group_kind)

    def _say_faults(self) -> None:
        for failure in self._engine.faults:
            if self._said.take_news((failure.by.name, failure.key), [repr(failure.error)]):
                log.error(
                    "a rule failed; this is a fault of gatepost, its last value stands",
                    exc_info=failure.error,
                    extra=fields(rule=failure.by.name, key=failure.key),
                )
