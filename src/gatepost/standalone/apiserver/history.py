"""The latest changes in order, for those who watch."""

from __future__ import annotations

import asyncio
from bisect import bisect_right

import msgspec

from gatepost.kubernetes.errors import ApiError
from gatepost.kubernetes.values import Raw
from gatepost.objects.refs import GroupKind

WINDOW = 2_000
"""Changes that are kept; a watch that starts before them has to list again (410)."""

_KEPT_ENCODED = 64


class Recorded(msgspec.Struct):
    """A write that changed something: the object before it and after it, None for "was not there"."""

    resource_version: int
    group_kind: GroupKind
    before: Raw | None
    after: Raw | None
    encoded: dict[str, bytes] = msgspec.field(default_factory=dict)
    """The frame of the change by apiVersion: encoded once, however many watch."""


class History:
    """An ordered window on the changes. Each reader keeps its own place, so a slow one holds nobody up."""

    def __init__(self, resource_version: int, window: int = WINDOW) -> None:
        self._changes: list[Recorded] = []
        self._window = window
        self._arrival = asyncio.Event()
        self.oldest = resource_version
        """Changes after this resourceVersion are all here."""
        self.is_closed = False

    def append(self, change: Recorded) -> None:
        """Adds a change; resourceVersions never go down."""
        self._changes.append(change)
        if len(self._changes) > _KEPT_ENCODED:
            self._changes[-_KEPT_ENCODED].encoded.clear()  # those who keep up have read it
        if len(self._changes) > self._window * 2:
            self._forget(len(self._changes) - self._window)
        self._wake()

    def after(self, resource_version: int) -> list[Recorded]:
        """The changes after a resourceVersion, oldest first.

        Raises: ApiError 410 (Expired) if some of them are no longer here.
        """
        if resource_version < self.oldest:
            message = f"too old resource version: {resource_version} ({self.oldest})"
            raise ApiError(410, "Expired", message)
        return self._changes[bisect_right(self._changes, resource_version, key=_resource_version) :]

    @property
    def arrival(self) -> asyncio.Event:
        """Is set when the next change arrives. Take it before you read, so that nothing gets lost in between."""
        return self._arrival

    def close(self) -> None:
        """Sends everybody who watches home."""
        self.is_closed = True
        self._wake()

    def _wake(self) -> None:
        arrival, self._arrival = self._arrival, asyncio.Event()
        arrival.set()

    def _forget(self, count: int) -> None:
        self.oldest = self._changes[count - 1].resource_version
        del self._changes[:count]


def _resource_version(change: Recorded) -> int:
    return change.resource_version
