"""Zones that could not be read: each is tried again by itself, later and later, and nothing else waits for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from gatepost.cluster.backoff import Backoff
from gatepost.dns.endpoint import Endpoint
from gatepost.dns.served import UnreadZone
from gatepost.log_fields import fields
from gatepost.providers.contract import Provider, ProviderError, ZonedProvider

log = logging.getLogger("gatepost.dns")

FIRST_SECONDS, LONGEST_SECONDS = 1.0, 300.0


class Reread(Struct, frozen=True):
    """How an attempt at one zone went: its records, or why there are still none."""

    zone: str
    endpoints: Sequence[Endpoint] = ()
    error: str = ""


class _Wait(Struct):
    """A zone that is unread. `at` is the moment of the next attempt, None while one is under way."""

    at: float | None
    why: str


class Rereading:
    """Reads zones again in the background, one attempt at a time for each.

    Args: monotonic: seconds that only grow.
    """

    def __init__(self, provider: Provider, monotonic: Callable[[], float]) -> None:
        self._provider = provider
        self._monotonic = monotonic
        self._waits: dict[str, _Wait] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ended: list[Reread] = []
        self._backoffs: dict[str, Backoff] = {}
        self.wake: Callable[[], None] = lambda: None

    def note_listing(self, unread: Iterable[UnreadZone]) -> None:
        """Takes note of a new listing of all zones; attempts under way are of no use any more."""
        found = {zone.name: zone for zone in unread}
        for name in [name for name in self._waits if name not in found]:
            self._backoffs.pop(name, None)
        self._cancel()
        self._waits.clear()
        self._ended.clear()
        for zone in found.values():
            self._wait(zone.name, zone.why)

    def note_lost(self, zones: Iterable[UnreadZone]) -> None:
        """Takes note of zones of which nothing is known since changes were sent. If that happens again and again, they
        wait longer and longer, although they can be read in between.
        """
        for zone in zones:
            self._wait(zone.name, zone.why)

    def note_written(self, zones: Iterable[str]) -> None:
        """Takes note of zones that have taken changes: what was wrong with them is over."""
        for zone in zones:
            self._backoffs.pop(zone, None)

    def next(self) -> float | None:
        """When the next attempt is due, None if none is."""
        return min((wait.at for wait in self._waits.values() if wait.at is not None), default=None)

    def start_due(self) -> None:
        """Begins the attempts whose time has come; `wake` is called as each ends."""
        if not isinstance(self._provider, ZonedProvider):
            return
        now = self._monotonic()
        for name, wait in self._waits.items():
            if wait.at is not None and wait.at <= now:
                wait.at = None
                self._tasks[name] = asyncio.create_task(self._read(self._provider, name))

    def take(self) -> list[Reread]:
        """What the attempts gave that ended since it was last asked, without those that gave the same as before."""
        ended, self._ended = self._ended, []
        return ended

    def stop(self) -> None:
        """Ends all attempts; those that were under way are due anew."""
        for name in self._tasks:
            self._waits[name].at = self._monotonic()
        self._cancel()

    def _wait(self, name: str, why: str) -> None:
        if isinstance(self._provider, ZonedProvider):  # any other reads its zones together, at the next comparison
            backoff = self._backoffs.setdefault(name, Backoff(FIRST_SECONDS, LONGEST_SECONDS))
            self._waits[name] = _Wait(self._monotonic() + backoff.next_seconds(), why)

    async def _read(self, provider: ZonedProvider, name: str) -> None:
        try:
            endpoints = await provider.read_again(name)
        except ProviderError as error:
            before = self._waits[name].why
            self._wait(name, str(error))
            if before != str(error):
                self._ended.append(Reread(name, error=str(error)))
        except Exception:
            log.exception("a zone could not be read; this is a fault of gatepost", extra=fields(zone=name))
            self._wait(name, self._waits[name].why)
        else:
            del self._waits[name]
            log.info("a zone can be read again", extra=fields(zone=name))
            self._ended.append(Reread(name, endpoints))
        del self._tasks[name]
        self.wake()  # also where nothing came of it: there is a new moment to wait for

    def _cancel(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()
