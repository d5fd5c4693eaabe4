"""All objects of the kinds that rules ask for, read once from a cluster into an engine. Nothing is ever written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from gatepost.cluster.client import Client
from gatepost.cluster.connection import Connection
from gatepost.cluster.discovery import Discovery
from gatepost.cluster.errors import ApiError, ClusterError
from gatepost.cluster.mirror import Mirror
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem
from gatepost.objects.refs import GroupKind, Ref
from gatepost.objects.settings import settings_among
from gatepost.objects.unserved import unserved
from gatepost.runtime.asked_kinds import NotingEngine, kinds_over, kinds_read_whole
from gatepost.runtime.cluster_feed import ClusterFeed
from gatepost.runtime.wiring import Wiring
from gatepost.state.engine import Engine

_FORBIDDEN = 403


class Snapshot(Struct, frozen=True):
    """An engine at rest over what a cluster held, give or take the time that reading took.

    Attributes:
        engine: with the rules at rest. No outcome of them was carried out.
        raw_of: gives the raw form of an object of the kinds that were kept raw, None for others.
        unreadable: objects that do not have the form of their kind; they took no part.
        missing: kinds that the cluster does not serve; they count as kinds without objects.
        withheld: kinds that we may not read, with what the cluster said; they count as kinds without objects.
    """

    engine: Engine
    raw_of: Callable[[Ref], Mapping[str, Any] | None]
    unreadable: tuple[Problem, ...]
    missing: frozenset[GroupKind]
    withheld: Mapping[GroupKind, str]


async def snapshot(
    connection: Connection,
    wiring: Wiring,
    *,
    kinds: Iterable[GroupKind] = (),
    kept_raw: Iterable[GroupKind] = (),
    settings: Sequence[KubernetesObject] = (),
) -> Snapshot:
    """Reads a cluster once, with the rules of `wiring` run to rest on it.

    Args:
        kinds: read whether or not a rule asks for them.
        kept_raw: kinds whose raw form is wanted as well.
        settings: objects for the store alone.
    Raises: ClusterError if the cluster does not answer for one of the kinds.
    """
    engine = NotingEngine(wiring.rules, wiring.indexes, datetime.now(UTC))
    for setting in settings:
        engine.put(setting)
    async with Client(connection, dry_run=True) as client:
        mirror = Mirror()
        gathering = _Gathering(engine)
        mirror.hand_on_to(gathering)
        feed = ClusterFeed(
            client,
            Discovery(client),
            mirror,
            settings_among(settings),
            written=frozenset(kept_raw),
            whole=kinds_read_whole(wiring.rules),
        )
        try:
            await gathering.take(feed, [*kinds_over(wiring.rules, wiring.indexes), *kinds])
        finally:
            await feed.stop()
    return Snapshot(
        engine, _raw_in(mirror), tuple(gathering.problems), frozenset(gathering.not_served), gathering.withheld
    )


def _raw_in(mirror: Mirror) -> Callable[[Ref], Mapping[str, Any] | None]:
    def raw_of(ref: Ref) -> Mapping[str, Any] | None:
        found = mirror.current(ref)
        return found if isinstance(found, dict) else None

    return raw_of


class _Gathering:
    """The sink of a snapshot: takes objects in until every kind is complete."""

    def __init__(self, engine: NotingEngine) -> None:
        self.problems: dict[Problem, None] = {}  # each once, however often a list has to be read again
        self.not_served: set[GroupKind] = set()
        self.withheld: dict[GroupKind, str] = {}
        self._engine = engine
        self._waiting: set[GroupKind] = set()
        self._failed: ClusterError | None = None
        self._moved = asyncio.Event()

    async def take(self, feed: ClusterFeed, kinds: Iterable[GroupKind]) -> None:
        """Reads these kinds, then those that the rules ask for on seeing them, until they ask for no more."""
        wanted = set(kinds)
        known: set[GroupKind] = set()
        while wanted - known:
            self._waiting = wanted - known
            known |= wanted
            for group_kind in sorted(self._waiting):
                feed.watch(group_kind)
            while self._waiting and self._failed is None:
                self._moved.clear()
                await self._moved.wait()
            if self._failed is not None:
                raise self._failed
            self._engine.run_stale()
            wanted.update(self._engine.kinds_asked())

    def put(self, ref: Ref, obj: KubernetesObject, raw: bytes | None) -> None:
        self._engine.put(obj, ref)

    def remove(self, ref: Ref) -> None:
        self._engine.remove(ref)

    def unreadable(self, problem: Problem) -> None:
        self.problems[problem] = None
        self._engine.put_unreadable(problem)

    def complete(self, group_kind: GroupKind) -> None:
        self._waiting.discard(group_kind)
        self._moved.set()

    def missing(self, group_kind: GroupKind) -> None:
        self.not_served.add(group_kind)
        self._engine.put(unserved(group_kind))
        self.complete(group_kind)

    def failing(self, group_kind: GroupKind, error: ClusterError) -> None:
        if isinstance(error, ApiError) and error.code == _FORBIDDEN:
            self.withheld[group_kind] = error.message
            self.complete(group_kind)
        else:
            self._failed = self._failed or error
            self._moved.set()

    def recovered(self, group_kind: GroupKind) -> None:
        pass
