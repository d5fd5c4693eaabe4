"""The loop with a feed and writes in memory: when it runs, what it holds back, and how it goes on after failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from gatepost.cluster.errors import ApiError, Unreachable
from gatepost.cluster.writer import Conflict
from gatepost.objects.core import ConfigMap, Namespace, Service
from gatepost.objects.meta import ObjectMeta
from gatepost.objects.refs import GroupKind, Ref
from gatepost.runtime.asked_kinds import NotingEngine
from gatepost.runtime.loop.loop import Loop
from gatepost.state.rule import Rule
from gatepost.state.view import View
from gatepost.writes.outcome import Event, Outcome

CONFIG_MAPS = ConfigMap.KIND.group_kind
SERVICES = Service.KIND.group_kind


def config_map(name: str, **values: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="shop", uid=f"u-{name}"), data=values)


class Feed:
    """Notes which kinds are asked for. Tests hand objects to the loop themselves."""

    def __init__(self) -> None:
        self.watched: list[GroupKind] = []
        self._asked = asyncio.Event()

    def watch(self, group_kind: GroupKind) -> None:
        self.watched.append(group_kind)
        self._asked.set()

    async def has_watched(self, group_kind: GroupKind) -> None:
        while group_kind not in self.watched:
            self._asked.clear()
            await self._asked.wait()

    async def stop(self) -> None:
        pass


class Writes:
    """Notes what is carried out; `fails` gives the error of each attempt, in order."""

    def __init__(self, *fails: Exception | None) -> None:
        self.carried_out: list[Outcome] = []
        self.told: list[Event] = []
        self._fails = list(fails)
        self._changed = asyncio.Event()

    async def carry_out(self, outcome: Outcome) -> None:
        self.carried_out.append(outcome)
        self._changed.set()
        error = self._fails.pop(0) if self._fails else None
        if error is not None:
            raise error

    async def tell(self, events: Iterable[Event]) -> None:
        self.told.extend(events)
        self._changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    @property
    def notes(self) -> list[str]:
        return [outcome.note for outcome in self.carried_out]


def note_of_data(ref: Ref, view: View) -> Outcome:
    """Wants nothing but says what is in the ConfigMap, in a note and an event."""
    found = view.get(ConfigMap, ref)
    if found is None:
        return Outcome.none("gone")
    out = Outcome.of(found)
    out.note = found.data.get("note", "")
    if "event" in found.data:
        out.tell("Said", found.data["event"])
    return out


def note_of_service(ref: Ref, view: View) -> Outcome:
    """Says whether the Service of the same name exists."""
    found = view.named(Service, ref.namespace, ref.name)
    return Outcome.none("found" if found is not None else "not found")


@asynccontextmanager
async def looping(run: Callable[[Ref, View], Outcome], writes: Writes) -> AsyncIterator[tuple[Loop, Feed]]:
    """A loop over ConfigMaps with one rule; ConfigMaps are not complete yet."""
    rule: Rule[Any] = Rule("notes", run, rank=10, over=ConfigMap)
    loop = Loop(NotingEngine([rule], [], datetime.now(UTC)), writes)
    feed = Feed()
    stop = asyncio.Event()
    task = asyncio.create_task(loop.run(feed, stop))
    try:
        await feed.has_watched(CONFIG_MAPS)
        yield loop, feed
    finally:
        stop.set()
        await task


def put(loop: Loop, obj: ConfigMap | Service | Namespace) -> None:
    loop.intake.put(obj.ref, obj, None)


async def test_nothing_runs_before_the_first_list_is_complete() -> None:
    seen: list[str] = []

    def noting(ref: Ref, view: View) -> Outcome:
        out = note_of_data(ref, view)
        seen.append(out.note)
        return out

    writes = Writes()
    async with looping(noting, writes) as (loop, feed):
        assert feed.watched == [CONFIG_MAPS]
        put(loop, config_map("a", note="early"))
        await loop.movements.after(loop.movements.count - 1)
        for _ in range(5):
            await asyncio.sleep(0)  # time enough for a pass, were one allowed
        put(loop, config_map("a", note="late"))
        loop.intake.complete(CONFIG_MAPS)
        await loop.rest()
    assert seen == ["late"]
    assert writes.notes == ["late"]


async def test_a_kind_that_a_rule_asks_for_is_watched_and_waited_for() -> None:
    writes = Writes()
    async with looping(note_of_service, writes) as (loop, feed):
        put(loop, config_map("a"))
        loop.intake.complete(CONFIG_MAPS)
        await feed.has_watched(SERVICES)
        assert writes.carried_out == []  # "not found" would be said of what was not read yet
        put(loop, Service(metadata=ObjectMeta(name="a", namespace="shop")))
        loop.intake.complete(SERVICES)
        await loop.rest()
    assert writes.notes == ["found"]


async def test_a_kind_that_is_not_served_has_no_objects() -> None:
    writes = Writes()
    async with looping(note_of_service, writes) as (loop, feed):
        put(loop, config_map("a"))
        loop.intake.complete(CONFIG_MAPS)
        await feed.has_watched(SERVICES)
        loop.intake.missing(SERVICES)
        await loop.rest()
    assert writes.notes == ["not found"]


async def test_what_rests_on_a_kind_that_cannot_be_read_is_held_until_it_can() -> None:
    writes = Writes()
    async with looping(note_of_service, writes) as (loop, feed):
        put(loop, config_map("a"))
        loop.intake.complete(CONFIG_MAPS)
        await feed.has_watched(SERVICES)
        loop.intake.failing(SERVICES, ApiError(403, "Forbidden", "no list of services"))
        await loop.rest()
        assert writes.carried_out == []
        assert loop.failures == ["Service: 403 Forbidden: no list of services"]
        loop.intake.complete(SERVICES)
        await loop.rest()
        assert writes.notes == ["not found"]
        assert loop.failures == []


async def test_a_kind_that_failed_and_recovered_is_no_failure() -> None:
    writes = Writes()
    async with looping(note_of_data, writes) as (loop, _):
        loop.intake.complete(CONFIG_MAPS)
        loop.intake.failing(CONFIG_MAPS, ApiError(500, "InternalError", "etcd"))
        await loop.rest()
        assert len(loop.failures) == 1
        loop.intake.recovered(CONFIG_MAPS)
        await loop.rest()
        assert loop.failures == []


async def test_objects_of_a_kind_that_vanished_still_count() -> None:
    writes = Writes()
    async with looping(note_of_data, writes) as (loop, _):
        put(loop, config_map("a", note="kept"))
        loop.intake.complete(CONFIG_MAPS)
        await loop.rest()
        loop.intake.missing(CONFIG_MAPS)
        await loop.rest()
        assert loop.engine.store.get(Ref("", "ConfigMap", "shop", "a")) is not None
    assert writes.notes == ["kept"]


async def test_only_what_changed_is_written() -> None:
    writes = Writes()
    async with looping(note_of_data, writes) as (loop, _):
        for name in ("a", "b", "c"):
            put(loop, config_map(name, note=name))
        loop.intake.complete(CONFIG_MAPS)
        await loop.rest()
        writes.carried_out.clear()
        put(loop, config_map("b", note="new"))
        await loop.rest()
    assert writes.notes == ["new"]


async def test_a_write_that_fails_is_tried_again_until_it_succeeds() -> None:
    writes = Writes(Unreachable("no route"), ApiError(500, "InternalError", "etcd"), None)
    async with looping(note_of_data, writes) as (loop, _):
        put(loop, config_map("a", note="x"))
        loop.intake.complete(CONFIG_MAPS)
        await loop.rest()
        assert writes.notes == ["x", "x", "x"]
        assert loop.failures == []


async def test_after_a_conflict_the_wish_is_looked_at_again() -> None:
    ref = Ref("", "ConfigMap", "shop", "a")
    writes = Writes(Conflict(ref, ApiError(409, "Conflict", "changed")))
    async with looping(note_of_data, writes) as (loop, _):
        put(loop, config_map("a", note="x"))
        loop.intake.complete(CONFIG_MAPS)
        await loop.rest()
    assert writes.notes == ["x", "x"]


async def test_a_fault_of_ours_stops_its_key_alone_until_it_changes() -> None:
    writes = Writes(ZeroDivisionError("ours"))
    async with looping(note_of_data, writes) as (loop, _):
        put(loop, config_map("a", note="a"))
        put(loop, config_map("b", note="b"))
        loop.intake.complete(CONFIG_MAPS)
        await loop.rest()
        assert writes.notes == ["a", "b"]
        assert len(loop.failures) == 1
        put(loop, config_map("a", note="again"))
        await loop.rest()
        assert writes.notes == ["a", "b", "again"]
        assert loop.failures == []


async def test_a_rule_that_raises_stops_its_key_alone() -> None:
    def raises_for_a(ref: Ref, view: View) -> Outcome:
        view.get(ConfigMap, ref)
        if ref.name == "a":
            raise ZeroDivisionError("ours")
        return Outcome.none("fine")

    writes = Writes()
    async with looping(raises_for_a, writes) as (loop, _):
        put(loop, config_map("a"))
        put(loop, config_map("b"))
        loop.intake.complete(CONFIG_MAPS)
        await loop.rest()
    assert writes.notes == ["fine"]


async def test_an_event_is_told_once_while_it_stays_in_the_outcome() -> None:
    writes = Writes()
    async with looping(note_of_data, writes) as (loop, _):
        put(loop, config_map("a", event="hello"))
        loop.intake.complete(CONFIG_MAPS)
        await loop.rest()
        put(loop, config_map("a", event="hello", note="more"))
        await loop.rest()
        assert [event.message for event in writes.told] == ["hello"]
        put(loop, config_map("a"))
        await loop.rest()
        put(loop, config_map("a", event="hello"))
        await loop.rest()
        assert [event.message for event in writes.told] == ["hello", "hello"]


async def test_a_rule_runs_again_when_the_time_comes_that_it_named() -> None:
    def before_and_after(ref: Ref, view: View) -> Outcome:
        return Outcome.none("after" if view.has_passed(moment) else "before")

    moment = datetime.now(UTC) + timedelta(milliseconds=150)
    writes = Writes()
    async with looping(before_and_after, writes) as (loop, _):
        put(loop, config_map("a"))
        loop.intake.complete(CONFIG_MAPS)
        await writes.until(lambda: writes.notes == ["before", "after"])
        assert datetime.now(UTC) >= moment


async def test_a_moment_that_has_come_is_waited_for_in_peace_while_a_kind_is_not_heard_of() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    asked = 0

    def clock() -> datetime:
        """Each look is a day later, so that every moment has come."""
        nonlocal asked
        asked += 1
        return start + timedelta(days=asked)

    def waits_and_asks(ref: Ref, view: View) -> Outcome:
        view.now(until=view.now() + timedelta(seconds=1))
        return note_of_service(ref, view)

    rule: Rule[Any] = Rule("notes", waits_and_asks, rank=10, over=ConfigMap)
    loop, feed, stop = Loop(NotingEngine([rule], [], start), Writes(), clock), Feed(), asyncio.Event()
    task = asyncio.create_task(loop.run(feed, stop))
    await feed.has_watched(CONFIG_MAPS)
    put(loop, config_map("a"))
    loop.intake.complete(CONFIG_MAPS)
    await feed.has_watched(SERVICES)
    before = asked
    for _ in range(50):
        await asyncio.sleep(0)  # turns in which it would look at the clock again and again
    assert asked - before <= 1
    stop.set()
    await task


async def test_an_object_that_others_changed_is_compared_again_though_no_rule_reads_the_change() -> None:
    writes = Writes()
    async with looping(note_of_data, writes) as (loop, _):
        put(loop, config_map("a", note="x"))
        loop.intake.complete(CONFIG_MAPS)
        await loop.rest()
        put(loop, config_map("a", note="x"))  # the same to the rule; its raw form may differ
        await loop.rest()
    assert writes.notes == ["x", "x"]


async def test_what_is_gone_is_not_written_any_more() -> None:
    writes = Writes(Unreachable("no route"))
    async with looping(note_of_data, writes) as (loop, _):
        put(loop, config_map("a", note="x"))
        loop.intake.complete(CONFIG_MAPS)
        await writes.until(lambda: len(writes.carried_out) == 1)
        loop.intake.remove(Ref("", "ConfigMap", "shop", "a"))
        await loop.rest()
        assert writes.notes[0] == "x"
        assert loop.failures == []
        assert loop.engine.store.get(Ref("", "ConfigMap", "shop", "a")) is None
