"""When DNS is written: shortly after names changed, and at an interval against what the provider really holds.

Names that were refused, or whose doubt is measured, have moments of their own; a timer waits for the next of all these.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from gatepost.cluster.backoff import Backoff
from gatepost.dns.desired import changed_names
from gatepost.dns.endpoint import NameKey
from gatepost.dns.records import RecordSet
from gatepost.log_fields import fields
from gatepost.objects.problems import Problem
from gatepost.providers.contract import ProviderError
from gatepost.runtime.clock import Clock, LoopClock
from gatepost.runtime.dns.telling import News, Telling, tell_nobody
from gatepost.runtime.dns.zones import Zones
from gatepost.state.engine import Change

log = logging.getLogger("gatepost.dns")

BATCH_SECONDS = 0.1
INTERVAL_SECONDS = 300.0
RETRY_SECONDS = (1.0, 300.0)


class ZonePublisher:
    """Writes the names that changed, many at a time.

    Args:
        zones: the zones of the one provider that is written.
        interval_seconds: how often everything is compared with what the provider lists.
        batch_seconds: how long changes are gathered before they are written together.
        tell: takes the problems of names and the events of records, to be told where their owners look; a problem
            comes once while it lasts.
        moved: told when a write has ended.
        note_written: told the names that were planned, each time that a write has succeeded; without those that are
            wished otherwise by then.
        forget_written: told when others may write from here on, and nothing is known of what was written.
        clock: the one that `zones` has.
    """

    def __init__(
        self,
        zones: Zones,
        *,
        interval_seconds: float = INTERVAL_SECONDS,
        batch_seconds: float = BATCH_SECONDS,
        tell: Callable[[News], Awaitable[None]] = tell_nobody,
        moved: Callable[[], None] = lambda: None,
        clock: Clock | None = None,
        note_written: Callable[[Collection[NameKey]], None] = lambda names: None,
        forget_written: Callable[[], None] = lambda: None,
    ) -> None:
        self._zones = zones
        self._clock = clock or LoopClock()
        self._telling = Telling(tell, moved)
        self._note_written = note_written
        self._forget_written = forget_written
        self._problems: dict[NameKey, tuple[Problem, ...]] = {}
        self._told: set[Problem] = set()
        self._interval_seconds = interval_seconds
        self._batch_seconds = batch_seconds
        self._moved = moved
        self._allowed = asyncio.Event()
        self._woken = asyncio.Event()
        self._due: set[NameKey] = set()
        self._held: frozenset[NameKey] = frozenset()
        self._has_moved = False
        self._compare_at = 0.0
        self._written_at = -math.inf
        self._has_compared = False
        self._is_waiting = False
        self._is_everything_due = False
        self._is_writing = False
        self._backoff = Backoff(*RETRY_SECONDS)
        self._error_said = ""
        self.is_failing = False
        zones.wake_with(self._woken.set)

    @property
    def failures(self) -> tuple[str, ...]:
        """What does not succeed, in words; empty if all does."""
        if not self.is_failing:
            return ()
        return self._zones.failures or ("DNS could not be written",)

    @property
    def zones(self) -> Zones:
        return self._zones

    @property
    def problems(self) -> Mapping[NameKey, Sequence[Problem]]:
        """What is wrong with the wishes for names, whatever the provider holds."""
        return self._problems

    @property
    def missing(self) -> tuple[str, ...]:
        """What has to come before DNS is followed, in words."""
        if self._is_waiting:
            return (f"the DNS provider cannot be used: {self._error_said}",)
        return () if self._has_compared else ("DNS has not been compared with the cluster yet",)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left to do now, or the provider cannot be used and the next attempt waits for its time."""
        is_written = self._has_compared and not (self._is_writing or self._due or self._is_everything_due)
        return (self._is_waiting or is_written) and self._telling.is_idle

    @property
    def is_busy(self) -> bool:
        """Whether something is on its way out."""
        return self._is_writing or not self._telling.is_idle

    def note(self, changes: list[Change], *, is_clearer: bool) -> None:
        """Takes note of the names that came out otherwise; what was held back may have become clear with them.

        Args: is_clearer: see `Publisher`; then everything is planned again.
        """
        self._due.update(changed_names(changes))
        self._note_problems(changes)
        if is_clearer:
            self._is_everything_due = True
            self._woken.set()
        if changes:
            self._has_moved = True
            self._plan_held_again()
        if self._due:
            self._woken.set()

    def _plan_held_again(self) -> None:
        self._due |= self._held
        self._held = frozenset()

    def _note_problems(self, changes: list[Change]) -> None:
        for change in changes:
            if isinstance(change.new, RecordSet) and change.new.problems:
                self._problems[change.new.key] = change.new.problems
            elif isinstance(change.old, RecordSet):
                self._problems.pop(change.old.key, None)

    def allow(self) -> None:
        """From now on the engine speaks of the whole cluster."""
        self._allowed.set()

    async def run(self) -> None:
        """Runs until it is cancelled, and may then run again. No failure of the provider ends it."""
        telling = asyncio.create_task(self._telling.run())
        try:
            await self._write_for_ever()
        finally:
            telling.cancel()
            self._zones.stop()
            self._forget()

    def _forget(self) -> None:
        """Another process may write from here on; what is known of the provider and of its past would mislead."""
        self._zones.forget()
        self._forget_written()
        self._has_compared = self._is_waiting = False
        self._backoff.reset()

    async def _write_for_ever(self) -> None:
        await self._allowed.wait()
        while True:
            if not self._is_comparison_due():
                await self._until_woken()
            if not self._is_comparison_due():
                await self._gather()
            self._is_writing = True
            try:
                await self._write()
            except ProviderError as error:
                self._is_writing = False
                await self._wait_after(error)
            finally:
                self._is_writing = False
                self._written_at = self._clock.now()
                self._moved()

    async def _gather(self) -> None:
        """Waits if the last write was a short while ago: a single change goes out at once, many go together."""
        seconds = self._written_at + self._batch_seconds - self._clock.now()
        if seconds > 0:
            await asyncio.sleep(seconds)

    def _is_comparison_due(self) -> bool:
        return not self._zones.is_listed or self._clock.now() >= self._compare_at

    async def _until_woken(self) -> None:
        """Returns when names are due, or when the comparison is; a moment of a single name makes that name due."""
        while not self._woken.is_set() and not self._is_comparison_due():
            moment = self._zones.next_moment()
            await self._clock.wait(self._woken, self._compare_at if moment is None else min(moment, self._compare_at))
            due = self._zones.take_due()
            if due:
                self._due |= due
                self._woken.set()

    async def _write(self) -> None:
        is_comparison = self._is_comparison_due()
        self._zones.figures.note_attempt()
        if is_comparison:
            await self._zones.list_anew()
        # Here too, or what has its own time would wait as long as something else changes all the time.
        reread = await self._zones.take_reread()
        self._due |= self._zones.take_due() | reread
        is_everything = is_comparison or self._is_everything_due
        names = None if is_everything else frozenset(self._due)
        self._due.clear()
        self._is_everything_due = self._has_moved = False
        self._woken.clear()
        try:
            written = await self._zones.write(names)
        except ProviderError:
            self._is_everything_due = True
            raise
        if is_comparison:
            self._has_compared = True
            self._compare_at = self._clock.now() + self._interval_seconds
        self._zones.figures.note_written(written.changes, is_comparison=is_comparison)
        self._held = written.held if is_everything else self._held | written.held
        self.is_failing = self._zones.is_failing or written.is_stopped
        self._error_said = ""
        self._backoff.reset()
        self._note_written(written.names - self._due)
        if self._has_moved:  # what a name was held for may be over since it was planned
            self._plan_held_again()
        if self._due:
            self._woken.set()
        self._telling.add(written.events)
        self._tell_problems(written.problems, is_everything=is_everything)

    def _tell_problems(self, planned: Sequence[Problem], *, is_everything: bool) -> None:
        """Tells those of the rules and those of the plan that are new; one that went and came back is new again."""
        found = {problem: None for problems in self._problems.values() for problem in problems}
        found.update(dict.fromkeys(planned))
        untold = [problem for problem in found if problem not in self._told]
        self._told = set(found) if is_everything else self._told | set(found)
        self._telling.add(untold)

    async def _wait_after(self, error: ProviderError) -> None:
        self.is_failing = self._is_waiting = True
        self._zones.figures.note_failure()
        self._moved()
        level = logging.DEBUG if str(error) == self._error_said else logging.WARNING
        self._error_said = str(error)
        seconds = self._backoff.next_seconds()
        message = "the DNS provider cannot be used; it is tried again"
        log.log(level, message, extra=fields(error=error, seconds=round(seconds, 1)))
        await asyncio.sleep(seconds)
        self._is_waiting = False
