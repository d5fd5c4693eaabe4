"""The latest changes in order, for those who watch."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from typing import Any

import msgspec

from gatepost.kubernetes.errors import ApiError
from gatepost.kubernetes.values import Raw
from gatepost.objects.refs import GroupKind

WINDOW = 2_000
"""Changes that are kept; a watch that starts before them has to list again (410)."""


class Recorded(msgspec.Struct):
    """One write that changed something: the object before it and after it, None for "was not there"."""

    resource_version: int
    group_kind: GroupKind
    before: Raw | None
    after: Raw | None


class History:
    """An ordered window on the changes. Each reader keeps its own place, so a slow one holds nobody up."""

    def __init__(self, resource_version: int, window: int = WINDOW) -> None:
        self._changes: list[Recorded] = []
        self._window = window
        self._arrival = asyncio.Event()
        self._started_at = resource_version
        self.oldest = resource_version
        """Changes after this resourceVersion are all here."""

    def append(self, change: Recorded) -> None:
        """Adds a change; resourceVersions never go down."""
        self._changes.append(change)
        if len(self._changes) > self._window * 2:
            self._forget(len(self._changes) - self._window)
        arrival, self._arrival = self._arrival, asyncio.Event()
        arrival.set()

    def after(self, resource_version: int) -> list[Recorded]:
        """The changes after a resourceVersion, oldest first.

        Raises: ApiError 410 (Expired) if some of them are no longer here.
        """
        if resource_version < self.oldest:
            raise expired(resource_version, self.oldest)
        return self._changes[bisect_right(self._changes, resource_version, key=_resource_version) :]

    async def changed(self) -> Any:
        """Returns when the next change arrives."""
        await self._arrival.wait()

    def _forget(self, count: int) -> None:
        self.oldest = self._changes[count - 1].resource_version
        del self._changes[:count]


def expired(resource_version: int, oldest: int) -> ApiError:
    return ApiError(410, "Expired", f"too old resource version: {resource_version} ({oldest})")


def _resource_version(change: Recorded) -> int:
    return change.resource_version
