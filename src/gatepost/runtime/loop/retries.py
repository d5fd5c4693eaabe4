"""A queue of keys: each is worked on by one worker at a time, again if it was added meanwhile, later if it failed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from gatepost.cluster.rate import TokenBucket

KeyT = TypeVar("KeyT", bound=Hashable)

FIRST_DELAY_SECONDS = 0.005
LONGEST_DELAY_SECONDS = 1000.0
RETRIES_PER_SECOND = 10.0
RETRIES_AT_ONCE = 100
"""Delays of a key and the limit on all retries together. Source: spec of the controllers of knative.dev/pkg."""


class RetryQueue(Generic[KeyT]):
    """Keys that wait for a worker, and keys that wait for their time."""

    def __init__(self, chance: Callable[[], float] = random.random) -> None:
        self._chance = chance
        self._ready: asyncio.Queue[KeyT] = asyncio.Queue()
        self._waiting: set[KeyT] = set()
        self._working: set[KeyT] = set()
        self._again: set[KeyT] = set()
        self._timers: dict[KeyT, asyncio.TimerHandle] = {}
        self._failures: dict[KeyT, int] = {}
        self._budget = TokenBucket(RETRIES_PER_SECOND, RETRIES_AT_ONCE)

    @property
    def is_idle(self) -> bool:
        """Whether no key is worked on or waits, for a worker or for its time."""
        return not (self._waiting or self._working or self._timers)

    @property
    def waiting(self) -> int:
        """How many keys wait, for a worker or for their time."""
        return len(self._waiting) + len(self._timers)

    @property
    def is_working(self) -> bool:
        """Whether a worker has a key."""
        return bool(self._working)

    @property
    def failing(self) -> set[KeyT]:
        """The keys whose last attempt failed."""
        return set(self._failures)

    def add(self, key: KeyT) -> None:
        """Has a key worked on as soon as a worker is free. A retry that waits for its time is done now instead."""
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
        if key in self._working:
            self._again.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._ready.put_nowait(key)

    def retry(self, key: KeyT, at_least_seconds: float = 0.0) -> float:
        """Has a key worked on later: 5 ms after its first failure, twice as long after each more.

        Returns: the delay in seconds.
        """
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        delay = min(FIRST_DELAY_SECONDS * 2.0 ** min(failures - 1, 40), LONGEST_DELAY_SECONDS)
        delay = max(delay * (1 + 0.1 * self._chance()), at_least_seconds, self._budget.take(_now()))
        if key not in self._timers:
            self._timers[key] = asyncio.get_running_loop().call_later(delay, self.add, key)
        return delay

    def succeeded(self, key: KeyT) -> None:
        self._failures.pop(key, None)

    def failed_for_good(self, key: KeyT) -> None:
        """The key is not tried again until it is added again."""
        self._failures[key] = self._failures.get(key, 0) + 1

    def drop(self, key: KeyT) -> None:
        """Forgets a key that no longer exists."""
        self._failures.pop(key, None)
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    async def next(self) -> KeyT:
        """The next key to work on; `done` must follow."""
        key = await self._ready.get()
        self._waiting.discard(key)
        self._working.add(key)
        return key

    def done(self, key: KeyT) -> None:
        self._working.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    def close(self) -> None:
        """Stops all timers."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()


def _now() -> float:
    return asyncio.get_running_loop().time()
