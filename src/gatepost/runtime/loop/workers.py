"""Workers that write: each outcome that changed is carried out, again if that fails, not while its kinds are unknown.

change -> queue -> worker -> writer
            ^         |
            +---------+  later and later, if the cluster could not do it
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from gatepost.cluster.errors import ApiError, ClusterError
from gatepost.cluster.writer import Conflict
from gatepost.log_fields import fields
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.runtime.asked_kinds import NotingEngine
from gatepost.runtime.loop.edges import Writes
from gatepost.runtime.loop.kinds import KnownKinds
from gatepost.runtime.loop.movements import Movements
from gatepost.runtime.loop.outcomes import Outcomes, Place
from gatepost.runtime.loop.retries import RetryQueue
from gatepost.runtime.loop.said import Said
from gatepost.state.engine import Change
from gatepost.writes.outcome import Event, Outcome

log = logging.getLogger("gatepost.loop")


class Workers:
    """What is to be written, and those who do it; how many there are is up to whoever starts `work`."""

    def __init__(self, engine: NotingEngine, kinds: KnownKinds, writes: Writes, movements: Movements) -> None:
        self._engine = engine
        self._kinds = kinds
        self._writes = writes
        self._movements = movements
        self._queue: RetryQueue[Place] = RetryQueue()
        self._outcomes = Outcomes()
        self._held: dict[Place, None] = {}
        self._is_ending = False
        self._events_said: Said[Place, Event] = Said()
        self._problems_said: Said[Place, Problem] = Said()
        self._errors_said: Said[Place, str] = Said()

    @property
    def is_idle(self) -> bool:
        """Whether no outcome is written or waits, for a worker or for its time."""
        return self._queue.is_idle

    @property
    def waiting(self) -> int:
        """How many outcomes are to be looked at, now or when their time comes."""
        return self._queue.waiting

    @property
    def is_writing(self) -> bool:
        return self._queue.is_working

    @property
    def failures(self) -> list[str]:
        """What could not be written at the last attempt, in words."""
        return [f"{place[0]} {place[1]}: {''.join(self._errors_said.of(place))}" for place in self._queue.failing]

    def note(self, changes: Iterable[Change], moved: Iterable[Ref], *, has_new_kinds: bool) -> None:
        """Takes note of a pass.

        Args:
            changes: values of rules that came out otherwise.
            moved: objects that did. Whoever writes one compares anew, even where no rule reads what changed in it.
            has_new_kinds: whether kinds came in with it: what waited for them may go on.
        """
        for change in changes:
            self._note(change)
        if has_new_kinds:
            for place in self._held:
                self._queue.add(place)
            self._held.clear()
        for ref in moved:
            for place in self._outcomes.writers_of(ref):
                self._queue.add(place)

    def _note(self, change: Change) -> None:
        place = (change.rule.name, change.key)
        self._outcomes.replace(place, change.old, change.new)
        if isinstance(change.new, Outcome):
            self._queue.add(place)
        elif isinstance(change.old, Outcome):
            self._queue.drop(place)
            self._errors_said.forget(place)
            self._events_said.forget(place)
            self._problems_said.forget(place)

    def end(self) -> None:
        """From now on nothing new is taken up; what is being written comes to its end."""
        self._is_ending = True

    def close(self) -> None:
        """Nothing is tried again."""
        self._queue.close()

    async def work(self) -> None:
        """One worker: runs until it is cancelled, or until `end`."""
        while not self._is_ending:
            place = await self._queue.next()
            try:
                await self._work_on(place)
            except asyncio.CancelledError:
                self._queue.add(place)  # how far it came is not known; whoever works next looks again
                raise
            finally:
                self._queue.done(place)
                self._movements.note()

    async def _work_on(self, place: Place) -> None:
        outcome = self._outcomes.get(place)
        if outcome is None:
            self._queue.drop(place)
        elif not self._waits_for_kinds(place):
            self._say_problems(place, outcome)
            await self._write(place, outcome)

    def _waits_for_kinds(self, place: Place) -> bool:
        unknown = self._kinds.unknown_below(self._engine.rule(place[0]), place[1])
        if unknown:
            self._held[place] = None
            log.debug("a wish waits for kinds", extra=fields(key=place[1], kinds=sorted(map(str, unknown))))
        return bool(unknown)

    def _say_problems(self, place: Place, outcome: Outcome) -> None:
        for problem in self._problems_said.take_news(place, outcome.problems):
            said = fields(ref=problem.about, reason=problem.reason, field=problem.field, why=problem.message)
            log.warning("a wish cannot come true", extra=said)

    async def _write(self, place: Place, outcome: Outcome) -> None:
        try:
            await self._writes.carry_out(outcome)
        except Conflict as conflict:
            log.debug("an object was changed by others; looking again", extra=fields(ref=conflict.ref))
            self._queue.retry(place)
            return
        except ClusterError as error:
            self._retry(place, error)
        except Exception as error:  # a fault of ours: this key stops until it changes, the others go on
            self._errors_said.take_news(place, [repr(error)])
            self._queue.failed_for_good(place)
            log.exception("a write failed; this is a fault of gatepost", extra=fields(rule=place[0], key=place[1]))
            return
        else:
            self._queue.succeeded(place)
            self._errors_said.forget(place)
        await self._writes.tell(self._events_said.take_news(place, outcome.events))

    def _retry(self, place: Place, error: ClusterError) -> None:
        asked = error.retry_after_seconds if isinstance(error, ApiError) else None
        delay = self._queue.retry(place, asked or 0.0)
        level = logging.WARNING if self._errors_said.take_news(place, [str(error)]) else logging.DEBUG
        message = "a write failed; it is tried again"
        log.log(level, message, extra=fields(rule=place[0], key=place[1], error=error, seconds=round(delay, 3)))
