"""The loop: objects come in, what is stale runs, what came out otherwise is written.

    feed -> put / remove -> pass: engine.run_stale -> places whose outcome changed -> workers -> writer
                              |                                                         |
                              +-> record sets -> publisher -> DNS provider              +-> retry, later and later

Nothing here polls: a pass runs when something came in or when the time has come that a rule named.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from gatepost.cluster.errors import ApiError, ClusterError
from gatepost.cluster.writer import Conflict
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem
from gatepost.objects.refs import GroupKind, Ref
from gatepost.runtime.collector import Collector
from gatepost.runtime.edges import Feed, Publisher, Writes
from gatepost.runtime.kinds import KnownKinds, NotingEngine, kinds_over
from gatepost.runtime.logs import fields
from gatepost.runtime.outcomes import Outcomes, Place
from gatepost.runtime.retries import RetryQueue
from gatepost.state.engine import Change
from gatepost.writes.outcome import Outcome

log = logging.getLogger("gatepost.loop")

WORKERS = 8
GRACE_SECONDS = 10.0
"""How long writes that are on their way may take at the end."""


class Loop:
    """Keeps a cluster, and DNS, as the rules want them.

    Args:
        engine: with the rules; settings may be in it already.
        writes: carries outcomes out.
        now: the clock.
    """

    def __init__(
        self,
        engine: NotingEngine,
        writes: Writes,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.engine = engine
        self.kinds = KnownKinds(engine)
        self.queue: RetryQueue[Place] = RetryQueue()
        self._writes = writes
        self._publisher: Publisher | None = None
        self._now = now
        self._outcomes = Outcomes()
        self._feed: Feed | None = None
        self._woken = asyncio.Event()
        self._moved = asyncio.Event()
        self.movements = 0
        self.others_at_rest: Callable[[], bool] = lambda: True  # asked by `rest`, for parts beside the loop
        self._has_run = False
        self._is_ending = False
        self._disturbed: dict[Ref, None] = {}
        self._held: dict[Place, None] = {}
        self._unreadable: dict[Ref, Problem] = {}
        self._errors_said: dict[Place, str] = {}
        self._faults_said: dict[object, str] = {}
        self._collector = Collector()

    def publish_with(self, publisher: Publisher) -> None:
        """Adds a DNS part; must come before `run`."""
        self._publisher = publisher

    async def run(self, feed: Feed, stop: asyncio.Event) -> None:
        """Runs until `stop` is set; writes that are on their way are finished."""
        self._feed = feed
        self._collector.pause()
        for group_kind in kinds_over(self.engine.rules, self.engine.indexes.values()):
            self._watch(group_kind)
        self._woken.set()
        workers = [asyncio.create_task(self._work()) for _ in range(WORKERS)]
        if self._publisher is not None:
            workers.append(asyncio.create_task(self._publisher.run()))
        passes = asyncio.create_task(self._passes())
        stopped = asyncio.create_task(stop.wait())
        try:
            done, _ = await asyncio.wait([passes, stopped, *workers], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()  # only a fault of the loop itself ends a task
        finally:
            await _cancel([passes, stopped])
            await feed.stop()
            await self._finish_writes()
            await _cancel(workers)
            self.queue.close()
            self._collector.resume()

    async def _finish_writes(self) -> None:
        """Lets what is being written come to its end, and takes up nothing new."""
        self._is_ending = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                seen = self.movements
                while self.queue.is_working or (self._publisher is not None and self._publisher.is_busy):
                    seen = await self.moved(seen)

    async def rest(self) -> None:
        """Returns when nothing is left to do: all kinds were heard of, no pass is due, no key waits, DNS is written."""
        seen = self.movements
        while not self._is_at_rest():
            seen = await self.moved(seen)

    async def moved(self, seen: int) -> int:
        """Returns the number of movements as soon as there are others than those `seen`.

        A movement is an object that came in, a pass or a write that ended.
        """
        while self.movements == seen:
            self._moved.clear()
            await self._moved.wait()
        return self.movements

    def _is_at_rest(self) -> bool:
        return (
            self._has_run
            and not self._woken.is_set()
            and self.kinds.all_heard_of
            and self.queue.is_idle
            and (self._publisher is None or self._publisher.is_idle)
            and self.others_at_rest()
        )

    def note_movement(self) -> None:
        """Has `rest` look again; for parts whose state counts for it."""
        self.movements += 1
        self._moved.set()

    @property
    def failures(self) -> list[str]:
        """What did not succeed so far, in words; empty if all did."""
        found = [f"{kind}: {error}" for kind, error in self.kinds.failing.items()]
        found += [f"{place[0]} {place[1]}: {self._errors_said.get(place, '')}" for place in self.queue.failing]
        found += [str(fault) for fault in self.engine.faults]
        if self._publisher is not None and self._publisher.is_failing:
            found.append("DNS could not be written")
        return found

    # What the feed says

    def put(self, ref: Ref, obj: KubernetesObject, raw: bytes | None) -> None:
        self.engine.put(obj, ref)
        self._unreadable.pop(ref, None)
        self._disturb(ref)

    def remove(self, ref: Ref) -> None:
        self.engine.remove(ref)
        self._unreadable.pop(ref, None)
        self._disturb(ref)

    def unreadable(self, problem: Problem) -> None:
        if self._unreadable.get(problem.about) != problem:
            self._unreadable[problem.about] = problem
            said = fields(ref=problem.about, field=problem.field, why=problem.message)
            log.warning("an object cannot be read; what was known of it still counts", extra=said)

    def complete(self, group_kind: GroupKind) -> None:
        self._say_recovered(group_kind)
        self.kinds.complete(group_kind)
        self._wake()

    def missing(self, group_kind: GroupKind) -> None:
        if group_kind not in self.kinds.missing:
            known = sum(1 for ref, _ in self.engine.store.items() if ref.group_kind == group_kind)
            if known:
                said = fields(kind=group_kind, known=known)
                log.warning("a kind vanished; what was known of it still counts", extra=said)
            else:
                log.info("a kind is not served; it is looked for again", extra=fields(kind=group_kind))
        self.kinds.miss(group_kind)
        self._wake()

    def failing(self, group_kind: GroupKind, error: ClusterError) -> None:
        if self.kinds.fail(group_kind, str(error)):
            log.warning("a kind cannot be read; it is tried again", extra=fields(kind=group_kind, error=error))
        self._wake()

    def recovered(self, group_kind: GroupKind) -> None:
        self._say_recovered(group_kind)
        self.kinds.recover(group_kind)
        self._wake()

    def _say_recovered(self, group_kind: GroupKind) -> None:
        if group_kind in self.kinds.failing:
            log.info("a kind can be read again", extra=fields(kind=group_kind))

    def _disturb(self, ref: Ref) -> None:
        """An object moved: whoever writes it must compare anew, even where no rule reads what changed in it."""
        if self._outcomes.writers_of(ref):
            self._disturbed[ref] = None
        self._wake()

    def _wake(self) -> None:
        self._woken.set()
        self.note_movement()

    # Passes

    async def _passes(self) -> None:
        while True:
            await self._until_woken()
            if not self.kinds.all_heard_of:
                self._woken.clear()
                continue
            self._pass()
            # Others first: what comes in together is worked on together.
            await asyncio.sleep(0)

    async def _until_woken(self) -> None:
        moment = self.engine.next_moment() if self._has_run else None
        seconds = None if moment is None else max(0.0, (moment - self._now()).total_seconds())
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            self._woken.set()  # the time that a rule named has come

    def _pass(self) -> None:
        self._woken.clear()
        self.engine.advance(self._now())
        changes = self.engine.run_stale()
        self._say_faults()
        for change in changes:
            self._note(change)
        has_new_kinds = self.kinds.count_what_came_in()
        if has_new_kinds:
            for place in self._held:
                self.queue.add(place)
            self._held.clear()
        for ref in self._disturbed:
            for place in self._outcomes.writers_of(ref):
                self.queue.add(place)
        self._disturbed.clear()
        for group_kind in self.engine.kinds_asked():
            self._watch(group_kind)
        if self._publisher is not None:
            self._publisher.note(changes, has_new_kinds=has_new_kinds)
            if self.kinds.all_heard_of:
                self._publisher.allow()
        if not self._has_run:
            self._has_run = True
            self._collector.resume()
        self.note_movement()

    def _watch(self, group_kind: GroupKind) -> None:
        if group_kind not in self.kinds.watched and self._feed is not None:
            self.kinds.start(group_kind)
            self._feed.watch(group_kind)

    def _note(self, change: Change) -> None:
        place = (change.rule.name, change.key)
        self._outcomes.replace(place, change.old, change.new)
        if isinstance(change.new, Outcome):
            self.queue.add(place)
        elif isinstance(change.old, Outcome):
            self.queue.drop(place)
            self._errors_said.pop(place, None)

    def _say_faults(self) -> None:
        for failure in self.engine.faults:
            where = (failure.by.name, failure.key)
            if self._faults_said.get(where) != repr(failure.error):
                self._faults_said[where] = repr(failure.error)
                log.error(
                    "a rule failed; this is a fault of gatepost, its last value stands",
                    exc_info=failure.error,
                    extra=fields(rule=failure.by.name, key=failure.key),
                )

    # Writing

    async def _work(self) -> None:
        while not self._is_ending:
            place = await self.queue.next()
            try:
                await self._write(place)
            finally:
                self.queue.done(place)
                self.note_movement()

    async def _write(self, place: Place) -> None:
        outcome = self._outcomes.get(place)
        if outcome is None:
            self.queue.drop(place)
            return
        unknown = self.kinds.unknown_below(self.engine.rule(place[0]), place[1])
        if unknown:
            self._held[place] = None
            log.debug("a wish waits for kinds", extra=fields(key=place[1], kinds=sorted(map(str, unknown))))
            return
        for problem in self._outcomes.take_unsaid(place, outcome):
            said = fields(ref=problem.about, reason=problem.reason, field=problem.field, why=problem.message)
            log.warning("a wish cannot come true", extra=said)
        try:
            await self._writes.carry_out(outcome)
        except Conflict as conflict:
            log.debug("an object was changed by others; looking again", extra=fields(ref=conflict.ref))
            self.queue.retry(place)
            return
        except ClusterError as error:
            self._retry(place, error)
        except Exception as error:  # a fault of ours: this key stops until it changes, the others go on
            self._errors_said[place] = repr(error)
            self.queue.failed_for_good(place)
            log.exception("a write failed; this is a fault of gatepost", extra=fields(rule=place[0], key=place[1]))
            return
        else:
            self.queue.succeeded(place)
            self._errors_said.pop(place, None)
        await self._writes.tell(self._outcomes.take_untold(place, outcome))

    def _retry(self, place: Place, error: ClusterError) -> None:
        asked = error.retry_after_seconds if isinstance(error, ApiError) else None
        delay = self.queue.retry(place, asked or 0.0)
        level = logging.DEBUG if self._errors_said.get(place) == str(error) else logging.WARNING
        self._errors_said[place] = str(error)
        message = "a write failed; it is tried again"
        log.log(level, message, extra=fields(rule=place[0], key=place[1], error=error, seconds=round(delay, 3)))


async def _cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
