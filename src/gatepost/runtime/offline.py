"""Runs reconcilers on manifests, with a model of the API server in the place of a cluster, until nothing changes.

Each controller sees what it and the others wrote, as in a cluster. Data-plane probes count as passed.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from gatepost.kubernetes.api import ApiModel
from gatepost.kubernetes.builtin import builtin_resources
from gatepost.kubernetes.errors import ApiError
from gatepost.objects.kinds import typed
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem, UnreadableObject
from gatepost.objects.refs import Ref, group_of, ref_of
from gatepost.state.engine import Change, Engine
from gatepost.state.failure import Failure
from gatepost.state.rule import Key, Rule
from gatepost.state.store import Index
from gatepost.writes.compare import wanted_object, wanted_status
from gatepost.writes.outcome import Apply, Delete, Event, Outcome, Subject
from gatepost.writes.requests import MANAGER, event_request
from gatepost.writes.steps import FinalizersStep, StatusStep, first_steps, last_steps

Raw = dict[str, Any]
Place = tuple[str, Key]

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
    return Settled(offline.engine, offline.result(), offline.refusals)


class _Offline:
    """One rendering: the model of the cluster, the engine that watches it, and what was told on the way."""

    def __init__(self, rules: Sequence[Rule[Any]], indexes: Sequence[Index], now: datetime) -> None:
        self.engine = Engine(rules, indexes, now)
        self.refusals: dict[Ref, str] = {}
        self._now = now.strftime("%Y-%m-%dT%H:%M:%SZ")
        self._model = ApiModel(builtin_resources(), now=lambda: self._now, new_uid=_uid_of)
        self._order: dict[Ref, None] = {}
        self._events: dict[Event, None] = {}
        self._unreadable: dict[Problem, None] = {}
        self._writers_of: dict[Ref, set[Place]] = {}
        self._outcomes: dict[Place, Outcome] = {}

    def load(self, objects: Iterable[Mapping[str, Any]]) -> None:
        for raw in _with_owners_named(list(objects)):
            ref = self._model.load(raw, identify=True)
            self._order[ref] = None
            loaded = self._model.find(ref)
            assert loaded is not None
            self._take_in(ref, loaded)
        self._watch()

    def settle(self) -> None:
        """Runs and writes in turn until a round writes nothing."""
        changed: set[Ref] = set()
        for _ in range(MOST_ROUNDS):
            due = self._note(self.engine.run_stale())
            for ref in changed:
                due.update(dict.fromkeys(sorted(self._writers_of.get(ref, ()), key=str)))
            for place in due:
                if place in self._outcomes:
                    self._carry_out(self._outcomes[place])
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
            + [event_request(event, self._now).body for event in self._events],
            problems=sorted(problems),
            unreadable=list(self._unreadable),
            failures=self.engine.faults,
        )

    def _note(self, changes: list[Change]) -> dict[Place, None]:
        """Remembers the new outcomes and who writes what. Returns: the places to carry out, in their order."""
        due: dict[Place, None] = {}
        for change in changes:
            place = (change.rule.name, change.key)
            if isinstance(change.old, Outcome):
                for ref in _written_by(change.old):
                    self._writers_of.get(ref, set()).discard(place)
                self._outcomes.pop(place, None)
            if isinstance(change.new, Outcome):
                for ref in _written_by(change.new):
                    self._writers_of.setdefault(ref, set()).add(place)
                self._outcomes[place] = change.new
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
            self.engine.put(typed(raw), ref)
        except UnreadableObject as error:
            self._unreadable[error.problem] = None
            self.engine.put_unreadable(error.problem)

    # Writing

    def _carry_out(self, outcome: Outcome) -> None:
        refused: list[Ref] = []
        for first in first_steps(outcome):
            if isinstance(first, FinalizersStep):
                self._write_finalizers(first)
            elif not self._apply(first):
                refused.append(first.ref)
        for last in last_steps(outcome, refused):
            if isinstance(last, Delete):
                self._delete(last)
            elif isinstance(last, FinalizersStep):
                self._write_finalizers(last)
            else:
                self._write_status(last)
        for event in outcome.events:
            self._events.setdefault(event, None)

    def _apply(self, apply: Apply) -> bool:
        current = self._model.find(apply.ref)
        wanted = wanted_object(apply, current)
        if wanted is None or wanted == current:
            return True
        self.refusals.pop(apply.ref, None)
        about = apply.announce
        kind, name = apply.ref.kind, apply.ref.name
        try:
            if current is None:
                self._model.create(wanted, manager=MANAGER)
                self._tell(about, "Normal", "Created", f'Created {kind} "{name}"')
            else:
                self._model.replace(wanted, manager=MANAGER)
                if apply.announce_updates:
                    self._tell(about, "Normal", "Updated", f'Updated {kind} "{name}"')
        except ApiError as error:
            self.refusals[apply.ref] = str(error)
            verb, reason = ("create", "CreationFailed") if current is None else ("update", "UpdateFailed")
            self._tell(about, "Warning", reason, f'Failed to {verb} {kind} "{name}": {error}')
            return False
        return True

    def _delete(self, delete: Delete) -> None:
        current = self._model.find(delete.ref)
        if current is None or (delete.uid and current["metadata"].get("uid") != delete.uid):
            return
        self._model.delete(delete.ref)
        self._tell(delete.announce, "Normal", "Deleted", f'Deleted {delete.ref.kind} "{delete.ref.name}"')

    def _write_finalizers(self, step: FinalizersStep) -> None:
        current = self._model.find(step.ref)
        if current is None:
            return
        present = tuple(current["metadata"].get("finalizers") or ())
        wanted = step.after(present)
        if wanted != present:
            kept = {key: value for key, value in current["metadata"].items() if key != "finalizers"}
            metadata = {**kept, "finalizers": list(wanted)} if wanted else kept
            self._write_checked(step.ref, {**current, "metadata": metadata})

    def _write_status(self, step: StatusStep) -> None:
        current = self._model.find(step.ref)
        if current is None:
            return
        before = current.get("status") or {}
        status = wanted_status(step.wish, before, self._now)
        if status != before:
            self._write_checked(step.ref, {**current, "status": status}, "status")

    def _write_checked(self, ref: Ref, raw: Raw, subresource: str = "") -> None:
        """Writes to an object of the input. One that no API server would hold still gets told what is wrong with it."""
        try:
            self._model.replace(raw, manager=MANAGER, subresource=subresource)
        except ApiError as error:
            self.refusals[ref] = str(error)
            self._model.load(raw)

    def _tell(self, about: Subject | None, type_: str, reason: str, message: str) -> None:
        if about is not None:
            self._events.setdefault(Event(about, type_, reason, message), None)


def _written_by(outcome: Outcome) -> list[Ref]:
    own = [outcome.about.ref] if outcome.about is not None else []
    return own + [apply.ref for apply in outcome.applies] + [delete.ref for delete in outcome.deletes]


def _uid_of(ref: Ref) -> str:
    """A UID that depends on the name alone, so that rendering twice gives the same text."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{ref.group}/{ref.kind}/{ref.namespace}/{ref.name}"))


def _with_owners_named(objects: Sequence[Mapping[str, Any]]) -> list[Raw]:
    """The objects with the UIDs that their owners get, where an owner reference has none since no cluster gave one."""
    uids = {ref: raw["metadata"].get("uid") or _uid_of(ref) for raw in objects for ref in (ref_of(raw),)}
    return [_with_owners(raw, uids) for raw in objects]


def _with_owners(raw: Mapping[str, Any], uids: Mapping[Ref, str]) -> Raw:
    owners = raw["metadata"].get("ownerReferences") or ()
    if all(owner.get("uid") for owner in owners):
        return dict(raw)
    namespace = raw["metadata"].get("namespace") or ""
    named = [{**owner, "uid": owner.get("uid") or _uid_among(uids, owner, namespace)} for owner in owners]
    return {**raw, "metadata": {**raw["metadata"], "ownerReferences": named}}


def _uid_among(uids: Mapping[Ref, str], owner: Mapping[str, Any], namespace: str) -> str:
    """The UID of an owner in the same namespace or in none; "" if it is not there."""
    group, kind, name = group_of(owner["apiVersion"]), owner["kind"], owner["name"]
    refs = (Ref(group, kind, namespace, name), Ref(group, kind, "", name))
    return next((uids[ref] for ref in refs if ref in uids), "")


def _printed(raw: Raw) -> Raw:
    """An object without what only a running API server can know."""
    metadata = {k: v for k, v in raw["metadata"].items() if k not in ("resourceVersion", "managedFields")}
    return {**raw, "metadata": metadata}
