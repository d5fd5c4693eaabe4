"""How fast a provider is called: never faster than it declares, and not at all while it asks to be left alone.

One limiter stands before all calls of a provider, so that a `Retry-After` that one call gets holds for every other too.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from email.utils import parsedate_to_datetime
from typing import Protocol, TypeVar

from gatepost.dns.capabilities import Rate

_T = TypeVar("_T")

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 20.0
"""Whoever asks for more than that gets it, but nobody waits for it: what was not made is tried again later."""


class RateClock(Protocol):
    """Tests put in one whose time passes only by sleeping."""

    def now(self) -> float:
        """Seconds that only grow."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class _RealClock:
    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class TryAgain(Exception):
    """A call was not taken, and may be made again.

    Attributes:
        failure: what to raise if it is not.
        after_seconds: when, as far as the provider has said.
        is_too_fast: it was refused for the number of calls, and any other would be too.
    """

    def __init__(self, failure: Exception, after_seconds: float | None = None, *, is_too_fast: bool = True) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.after_seconds = after_seconds
        self.is_too_fast = is_too_fast


class HeldBack(Exception):
    """The provider has asked to be left alone for longer than a call can wait; it was not called."""

    def __init__(self) -> None:
        super().__init__("it has asked to be left alone after too many calls")  # without a number: objects are told


class RateLimiter:
    """Lets calls through one after the other.

    Args:
        rate: how many; None for as many as come.
        chance: numbers from 0 up to 1, so that many that wait do not come back at the same moment.
    """

    def __init__(
        self, rate: Rate | None = None, clock: RateClock | None = None, chance: Callable[[], float] = random.random
    ) -> None:
        self._rate = rate
        self.clock = clock or _RealClock()
        self._chance = chance
        self._booked_until = 0.0
        self._held_until = 0.0

    async def turn(self) -> None:
        """Returns when one more call may be made. Raises: HeldBack"""
        wait = self._book() - self.clock.now()
        if wait > 0:
            await self.clock.sleep(wait)
        while (held := self._held_until - self.clock.now()) > 0:
            if held > LONGEST_WAIT_SECONDS:
                raise HeldBack
            await self.clock.sleep(held)

    def hold(self, seconds: float) -> None:
        """Lets nobody through for so many seconds."""
        self._held_until = max(self._held_until, self.clock.now() + seconds)

    async def call(self, make: Callable[[], Awaitable[_T]], tries: int) -> _T:
        """Makes a call, again while it raises TryAgain and there are tries left.

        Raises: the failure of the last try; HeldBack; and whatever else the call raises.
        """
        for number in range(tries):
            await self.turn()
            try:
                return await make()
            except TryAgain as again:
                wait = self._wait_after(again, number)
                if again.is_too_fast:
                    self.hold(wait)
                if number == tries - 1 or wait > LONGEST_WAIT_SECONDS:
                    raise again.failure from again
                if not again.is_too_fast:
                    await self.clock.sleep(wait)
        raise AssertionError("there is at least one try")

    def _book(self) -> float:
        """The moment of the next call that the rate allows (generic cell rate algorithm)."""
        now = self.clock.now()
        if self._rate is None:
            return now
        apart = self._rate.seconds / self._rate.calls
        start = max(self._booked_until, now)
        self._booked_until = start + apart
        return max(now, start - apart * (self._rate.burst - 1))

    def _wait_after(self, again: TryAgain, number: int) -> float:
        if again.after_seconds is not None:
            return again.after_seconds
        longest = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0**number)
        return longest * (0.5 + self._chance() / 2)


def retry_after_seconds(header: str | None) -> float | None:
    """The seconds of a Retry-After header, a number or a date; None if there is none that can be read.

    Source: RFC 9110 10.2.3.
    """
    text = (header or "").strip()
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
