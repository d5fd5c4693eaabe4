"""What the feed says goes into the engine, and wakes the next pass."""

from __future__ import annotations

import asyncio
import logging

from gatepost.cluster.errors import ClusterError
from gatepost.log_fields import fields
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem
from gatepost.objects.refs import GroupKind, Ref
from gatepost.runtime.loop.kinds import KnownKinds
from gatepost.runtime.loop.movements import Movements
from gatepost.runtime.loop.said import Said
from gatepost.state.engine import Engine

log = logging.getLogger("gatepost.loop")


class Arrivals:
    """What came in since the last pass, and whether a pass is due."""

    def __init__(self, movements: Movements) -> None:
        self._movements = movements
        self._due = asyncio.Event()
        self._refs: dict[Ref, None] = {}
        self._is_clearer = False

    @property
    def is_pass_due(self) -> bool:
        return self._due.is_set()

    def note(self, ref: Ref, *, is_clearer: bool = False) -> None:
        """An object moved. `is_clearer`: before that it was there and could not be read."""
        self._refs[ref] = None
        self._is_clearer = self._is_clearer or is_clearer
        self.wake()

    def wake(self) -> None:
        """Something came in that is no object."""
        self._due.set()
        self._movements.note()

    def postpone_pass(self) -> None:
        """The pass is due again when more comes in."""
        self._due.clear()

    async def until_pass_is_due(self) -> None:
        await self._due.wait()

    def take(self) -> tuple[list[Ref], bool]:
        """The objects that moved, at the beginning of a pass; and whether one of them could not be read before."""
        self._due.clear()
        refs, is_clearer = list(self._refs), self._is_clearer
        self._refs.clear()
        self._is_clearer = False
        return refs, is_clearer


class Intake:
    """The sink of a feed."""

    def __init__(self, engine: Engine, kinds: KnownKinds, arrivals: Arrivals) -> None:
        self._engine = engine
        self._kinds = kinds
        self._arrivals = arrivals
        self._said: Said[Ref, Problem] = Said()

    def put(self, ref: Ref, obj: KubernetesObject, raw: bytes | None) -> None:
        was_unreadable = bool(self._said.of(ref))
        self._engine.put(obj, ref)
        self._said.forget(ref)
        self._arrivals.note(ref, is_clearer=was_unreadable)

    def put_own(self, obj: KubernetesObject) -> None:
        """Takes in what no cluster has but rules read like an object: an answer of DNS, the verdict of a probe."""
        self.put(obj.ref, obj, None)

    def remove(self, ref: Ref) -> None:
        was_unreadable = bool(self._said.of(ref))
        self._engine.remove(ref)
        self._said.forget(ref)
        self._arrivals.note(ref, is_clearer=was_unreadable)

    def unreadable(self, problem: Problem) -> None:
        if self._engine.put_unreadable(problem):
            self._arrivals.wake()
        if self._said.take_news(problem.about, [problem]):
            said = fields(ref=problem.about, field=problem.field, why=problem.message)
            log.warning("an object cannot be read; what was known of it still counts", extra=said)

    def complete(self, group_kind: GroupKind) -> None:
        self._say_recovered(group_kind)
        self._kinds.complete(group_kind)
        self._arrivals.wake()

    def missing(self, group_kind: GroupKind) -> None:
        if group_kind not in self._kinds.missing:
            known = sum(1 for ref, _ in self._engine.store.items() if ref.group_kind == group_kind)
            if known:
                said = fields(kind=group_kind, known=known)
                log.warning("a kind vanished; what was known of it still counts", extra=said)
            else:
                log.info("a kind is not served; it is looked for again", extra=fields(kind=group_kind))
        self._kinds.miss(group_kind)
        self._arrivals.wake()

    def failing(self, group_kind: GroupKind, error: ClusterError) -> None:
        if self._kinds.fail(group_kind, str(error)):
            log.warning("a kind cannot be read; it is tried again", extra=fields(kind=group_kind, error=error))
        self._arrivals.wake()

    def recovered(self, group_kind: GroupKind) -> None:
        self._say_recovered(group_kind)
        self._kinds.recover(group_kind)
        self._arrivals.wake()

    def _say_recovered(self, group_kind: GroupKind) -> None:
        if group_kind in self._kinds.failing:
            log.info("a kind can be read again", extra=fields(kind=group_kind))
