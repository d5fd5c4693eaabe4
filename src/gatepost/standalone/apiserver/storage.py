"""The way of a write: into the model, onto the disk, then into sight.

    request -> ApiModel (rules) -> journal (durable) -> published objects and history -> answer and watches

Reads see only what has been published, so nothing is shown that a kill could take back. Objects are replaced and never
changed, so the model, the published objects and the history share them.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from gatepost.kubernetes.api import ApiModel, Change
from gatepost.kubernetes.builtin import builtin_resources
from gatepost.kubernetes.crds import CRD
from gatepost.kubernetes.store import DELETED
from gatepost.kubernetes.values import Raw
from gatepost.objects.refs import GroupKind, Ref, ref_of
from gatepost.objects.times import timestamp
from gatepost.standalone.apiserver.events import EVENT_KINDS, outlived
from gatepost.standalone.apiserver.history import History, Recorded
from gatepost.standalone.apiserver.journal import Entry, Journal

TIDY_AFTER_SECONDS = 2.0
"""How long after a write what nobody needs any more is looked for."""

Result = TypeVar("Result")


class Storage:
    """All objects of one server.

    Args:
        journal: where they are kept; None keeps them in memory.
        window: how many changes can be watched from the past.
    """

    def __init__(self, journal: Journal | None, window: int) -> None:
        self.resources = builtin_resources()
        self._model = ApiModel(self.resources, _now, _new_uid, namespaces_must_exist=True)
        self._journal = journal
        self._published: dict[GroupKind, dict[tuple[str, str], Raw]] = {}
        self._tidying: asyncio.TimerHandle | None = None
        if journal is not None:
            self._load(journal)
        self.version = self._model.resource_version
        """The resourceVersion of the latest change that can be seen."""
        self.history = History(self.version, window)

    @property
    def recovered(self) -> str:
        """What was cut off the log when it was opened; "" if nothing."""
        return self._journal.torn if self._journal is not None else ""

    # Reading

    def find(self, ref: Ref) -> Raw | None:
        """The object itself: the caller must not change it."""
        return self._published.get(ref.group_kind, {}).get((ref.namespace, ref.name))

    def select(self, group_kind: GroupKind, namespace: str, matches: Callable[[Raw], bool]) -> list[Raw]:
        """The objects of a kind that match, by namespace and name; "" means all namespaces. Not to be changed."""
        objects = self._published.get(group_kind, {})
        return [
            objects[key] for key in sorted(objects) if (not namespace or key[0] == namespace) and matches(objects[key])
        ]

    # Writing

    async def write(self, action: Callable[[ApiModel], Result]) -> Result:
        """Does something to the model, with all that follows from it; returns when it is kept and can be seen.

        Raises: ApiError of the action; DataDirUnusable if it cannot be kept.
        """
        result = self.write_now(action)
        if self._journal is not None:
            await self._journal.settled()
        return result

    def write_now(self, action: Callable[[ApiModel], Result]) -> Result:
        """As `write`, without waiting for the disk."""
        self.raise_if_failed()
        try:
            result = action(self._model)
            self._model.collect_garbage()
        finally:
            self._take_changes()
        return result

    async def settled(self) -> None:
        """Returns when all writes so far are kept. Raises: DataDirUnusable."""
        if self._journal is not None:
            await self._journal.settled()

    def raise_if_failed(self) -> None:
        """Raises: DataDirUnusable if a write could not be kept: from then on memory and disk differ."""
        if self._journal is not None:
            self._journal.raise_if_failed()

    async def close(self) -> None:
        self.history.close()
        if self._tidying is not None:
            self._tidying.cancel()
        if self._journal is not None:
            await self._journal.close()

    def _load(self, journal: Journal) -> None:
        loaded = journal.take_loaded()
        # Kinds first: they say how their objects are to be read.
        for raw in sorted(loaded.objects, key=lambda raw: ref_of(raw).group_kind != CRD):
            self._model.load(raw)
        self._model.reach_version(loaded.resource_version)
        journal.snapshot = lambda: (self._model.resource_version, list(self._model.stored()))
        for raw in self._model.stored():
            self._publish_one(ref_of(raw), raw)

    def _take_changes(self) -> None:
        changes = self._model.take_changes(shared=True)
        if not changes:
            return
        if self._journal is None:
            self._publish(changes)
        else:
            self._journal.append(map(_entry, changes), lambda: self._publish(changes))
        if self._tidying is None:
            self._tidying = asyncio.get_running_loop().call_later(TIDY_AFTER_SECONDS, self._tidy)

    def _tidy(self) -> None:
        """What a cluster does in its own time: objects go whose owner does not exist, and events of the past."""
        self._tidying = None
        for kind in EVENT_KINDS:
            for ref in outlived(self._published.get(kind, {}).values(), datetime.now(UTC)):
                if self._model.find(ref) is not None:
                    self._model.delete(ref)
        self._model.collect_garbage(unknown_owners_are_gone=True)
        self._take_changes()

    def _publish(self, changes: list[Change]) -> None:
        for change in changes:
            raw = change.new if change.new is not None else change.old
            assert raw is not None  # a change has one of them
            ref = ref_of(raw)
            self._publish_one(ref, change.new)
            self.history.append(Recorded(change.resource_version, ref.group_kind, change.old, change.new))
            self.version = change.resource_version

    def _publish_one(self, ref: Ref, raw: Raw | None) -> None:
        objects = self._published.setdefault(ref.group_kind, {})
        if raw is None:
            objects.pop((ref.namespace, ref.name), None)
        else:
            objects[(ref.namespace, ref.name)] = raw


def _entry(change: Change) -> Entry:
    if change.type == DELETED and change.old is not None:
        ref = ref_of(change.old)
        return Entry(change.resource_version, delete=(ref.group, ref.kind, ref.namespace, ref.name))
    return Entry(change.resource_version, put=change.new)


def _now() -> str:
    return timestamp(datetime.now(UTC))


def _new_uid(_ref: Ref) -> str:
    return str(uuid.uuid4())
