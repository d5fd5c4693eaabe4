"""Runs reconcilers on manifests, with a model of the API server in the place of a cluster, until nothing changes.

Each controller sees what it and the others wrote, as in a cluster. Data-plane probes count as passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from gatepost.kubernetes.api import ApiModel
from gatepost.kubernetes.builtin import builtin_resources
from gatepost.objects.kinds import typed
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem, UnreadableObject
from gatepost.objects.refs import Ref, ref_of
from gatepost.runtime.asked_kinds import kinds_read_whole
from gatepost.runtime.loop.outcomes import Outcomes, Place
from gatepost.runtime.offline.manifest_uids import uid_of, with_owners_named
from gatepost.runtime.offline.model_writer import ModelWriter
from gatepost.state.engine import Change, Engine
from gatepost.state.failure import Failure
from gatepost.state.rule import Rule
from gatepost.state.store import Index
from gatepost.writes.outcome import Outcome
from gatepost.writes.requests import event_request

Raw = dict[str, Any]

MOST_ROUNDS = 200
"""A chain from a DomainMapping to a Gateway settles in under ten rounds; one that needs this many swings for ever."""


class NotAtRest(Exception):
    """The controllers keep undoing each other's work. `refs` are the objects that changed in the last round."""

    def __init__(self, refs: Sequence[Ref]) -> None:
        names = ", ".join(str(ref) for ref in refs)
        super().__init__(f"the objects do not come to rest after {MOST_ROUNDS} rounds; still changing: {names}")
        self.refs = refs


class Rendered(Struct, frozen=True):
    """What the controllers made of the input.

    Attributes:
        objects: the input objects with their new status, then those that were created, then events.
        problems: of settings that everything rests on, such as a ConfigMap that does not parse.
        unreadable: input objects that do not have the form of their kind; they took no part.
        failures: rules and indexes that raised; a fault of gatepost.
    """

    objects: list[Raw]
    problems: list[Problem]
    unreadable: list[Problem]
    failures: list[Failure]


def render(
    objects: Iterable[Mapping[str, Any]],
    rules: Sequence[Rule[Any]],
    indexes: Sequence[Index],
    *,
    now: datetime,
    settings: Iterable[KubernetesObject] = (),
) -> Rendered:
    """The state in which the controllers come to rest, starting from these objects.

    Args:
        objects: raw objects without nulls, each Ref once.
        now: the time of the whole rendering.
        settings: objects for the store alone (they are not printed).
    Raises: NotAtRest.
    """
    return settle(objects, rules, indexes, now=now, settings=settings).rendered


class Settled(Struct, frozen=True):
    """A rendering together with the engine in which it came to rest, for those who ask why it came out so.

    `refusals`: objects that could not be written in the end, with what the API server said.
    """

    engine: Engine
    rendered: Rendered
    refusals: dict[Ref, str]


def settle(
    objects: Iterable[Mapping[str, Any]],
    rules: Sequence[Rule[Any]],
    indexes: Sequence[Index],
    *,
    now: datetime,
    settings: Iterable[KubernetesObject] = (),
) -> Settled:
    """As `render`, with the engine. Raises: NotAtRest."""
    offline = _Offline(rules, indexes, now)
    for setting in settings:
        offline.engine.put(setting)
    offline.load(objects)
    offline.settle()
    return Settled(offline.engine, offline.result(), offline.writer.refusals)


class _Offline:
    """One rendering: the model of the cluster, the engine that watches it, and what was told on the way."""

    def __init__(self, rules: Sequence[Rule[Any]], indexes: Sequence[Index], now: datetime) -> None:
        self.engine = Engine(rules, indexes, now)
        self._whole = kinds_read_whole(rules)
        self._now = now.strftime("%Y-%m-%dT%H:%M:%SZ")
        self._model = ApiModel(builtin_resources(), now=lambda: self._now, new_uid=uid_of)
        self.writer = ModelWriter(self._model, self._now)
        self._order: dict[Ref, None] = {}
        self._unreadable: dict[Problem, None] = {}
        self._outcomes = Outcomes()

    def load(self, objects: Iterable[Mapping[str, Any]]) -> None:
        for raw in with_owners_named(list(objects)):
            ref = self._model.load(raw, identify=True)
            self._order[ref] = None
            loaded = self._model.find(ref)
            assert loaded is not None
            self._take_in(ref, loaded)
        self._model.collect_garbage()  # what the manifests show as being deleted, and nothing holds, is gone already
        self._watch()

    def settle(self) -> None:
        """Runs and writes in turn until a round writes nothing."""
        changed: set[Ref] = set()
        for _ in range(MOST_ROUNDS):
            due = self._note(self.engine.run_stale())
            for ref in changed:
                due.update(dict.fromkeys(sorted(self._outcomes.writers_of(ref), key=str)))
            for place in due:
                outcome = self._outcomes.get(place)
                if outcome is not None:
                    self.writer.carry_out(outcome)
            self._model.collect_garbage()
            changed = self._watch()
            if not changed:
                return
        raise NotAtRest(sorted(changed))

    def result(self) -> Rendered:
        found = (self._model.find(ref) for ref in self._order)
        problems = {
            value for rule in self.engine.rules for _, value in self.engine.values(rule) if isinstance(value, Problem)
        }
        return Rendered(
            objects=[_printed(raw) for raw in found if raw is not None]
            + [event_request(event, self._now).body for event in self.writer.events],
            problems=sorted(problems),
            unreadable=list(self._unreadable),
            failures=self.engine.faults,
        )

    def _note(self, changes: list[Change]) -> dict[Place, None]:
        """Remembers the new outcomes. Returns: the places to carry out, in their order."""
        due: dict[Place, None] = {}
        for change in changes:
            place = (change.rule.name, change.key)
            self._outcomes.replace(place, change.old, change.new)
            if isinstance(change.new, Outcome):
                due[place] = None
        return due

    def _watch(self) -> set[Ref]:
        """Tells the engine what changed in the model. Returns: the objects that did."""
        changed: set[Ref] = set()
        for change in self._model.take_changes():
            raw = change.new if change.new is not None else change.old
            assert raw is not None
            ref = ref_of(raw)
            changed.add(ref)
            if change.type == "DELETED":
                self.engine.remove(ref)
            else:
                self._order.setdefault(ref, None)
                self._take_in(ref, raw)
        return changed

    def _take_in(self, ref: Ref, raw: Mapping[str, Any]) -> None:
        try:
            self.engine.put(typed(raw, self._whole), ref)
        except UnreadableObject as error:
            self._unreadable[error.problem] = None
            self.engine.put_unreadable(error.problem)


def _printed(raw: Raw) -> Raw:
    """An object without what only a running API server can know."""
    metadata = {k: v for k, v in raw["metadata"].items() if k not in ("resourceVersion", "managedFields")}
    return {**raw, "metadata": metadata}
