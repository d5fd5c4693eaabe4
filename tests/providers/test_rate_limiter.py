"""How fast providers are called, by a clock whose time passes only by sleeping."""

from __future__ import annotations

import email.utils
import time

import pytest

from gatepost.dns.capabilities import Rate
from gatepost.providers.rate_limiter import HeldBack, RateLimiter, TryAgain, retry_after_seconds
from sleeping_clock import SleepingClock

NO = LookupError("no")


@pytest.fixture
def clock() -> SleepingClock:
    return SleepingClock()


async def test_a_burst_goes_at_once_and_the_rest_as_fast_as_the_rate_allows(clock: SleepingClock) -> None:
    limiter = RateLimiter(Rate(calls=5, seconds=1.0, burst=3), clock)
    moments = []
    for _ in range(8):
        await limiter.turn()
        moments.append(round(clock.time - 100.0, 3))
    assert moments == [0.0, 0.0, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0]


async def test_a_pause_gives_the_burst_back_and_no_more(clock: SleepingClock) -> None:
    limiter = RateLimiter(Rate(calls=5, seconds=1.0, burst=3), clock)
    for _ in range(3):
        await limiter.turn()
    clock.time += 60.0
    clock.slept.clear()
    for _ in range(4):
        await limiter.turn()
    assert clock.slept == [0.2]


async def test_without_a_rate_nobody_waits(clock: SleepingClock) -> None:
    limiter = RateLimiter(None, clock)
    for _ in range(100):
        await limiter.turn()
    assert clock.slept == []


async def test_what_one_call_was_told_to_wait_holds_for_every_other(clock: SleepingClock) -> None:
    limiter = RateLimiter(None, clock)
    limiter.hold(7.0)
    await limiter.turn()
    assert clock.time == 107.0


async def test_a_call_is_made_again_after_the_time_that_was_asked_for(clock: SleepingClock) -> None:
    answers: list[TryAgain | str] = [TryAgain(NO, 3.0), TryAgain(NO, 1.5), "done"]

    async def make() -> str:
        answer = answers.pop(0)
        if isinstance(answer, TryAgain):
            raise answer
        return answer

    assert await RateLimiter(None, clock).call(make, tries=3) == "done"
    assert clock.slept == [3.0, 1.5]


async def test_without_a_time_the_waits_double(clock: SleepingClock) -> None:
    async def make() -> None:
        raise TryAgain(NO)

    with pytest.raises(LookupError):
        await RateLimiter(None, clock, chance=lambda: 1.0).call(make, tries=8)
    assert clock.slept == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 20.0]


async def test_a_long_wait_is_obeyed_without_waiting_and_without_another_call(clock: SleepingClock) -> None:
    calls = 0

    async def make() -> None:
        nonlocal calls
        calls += 1
        raise TryAgain(NO, 300.0)

    limiter = RateLimiter(None, clock)
    with pytest.raises(LookupError):
        await limiter.call(make, tries=4)
    for _ in range(50):
        with pytest.raises(HeldBack, match="it has asked to be left alone"):
            await limiter.call(make, tries=4)
    assert calls == 1
    clock.time += 300.0
    with pytest.raises(LookupError):
        await limiter.call(make, tries=1)
    assert calls == 2


async def test_a_failure_that_is_not_for_the_rate_holds_nobody_else(clock: SleepingClock) -> None:
    async def make() -> None:
        raise TryAgain(NO, 10.0, is_too_fast=False)

    limiter = RateLimiter(None, clock)
    with pytest.raises(LookupError):
        await limiter.call(make, tries=1)
    await limiter.turn()
    assert clock.slept == []


def test_retry_after_is_a_number_or_a_date() -> None:
    assert retry_after_seconds("30") == 30.0
    assert retry_after_seconds("0.5") == 0.5
    assert retry_after_seconds("-1") == 0.0
    assert retry_after_seconds(None) is None
    assert retry_after_seconds("soon") is None
    in_a_minute = retry_after_seconds(email.utils.formatdate(time.time() + 60, usegmt=True))
    assert in_a_minute is not None
    assert 57 <= in_a_minute <= 61
