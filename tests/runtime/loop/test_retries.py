"""The queue of keys: order, repetition, and longer and longer delays."""

from __future__ import annotations

import asyncio

from gatepost.runtime.loop.retries import RetryQueue


def queue_without_chance() -> RetryQueue[str]:
    return RetryQueue(chance=lambda: 0.0)


async def test_a_key_that_waits_is_not_queued_twice() -> None:
    queue = queue_without_chance()
    queue.add("a")
    queue.add("a")
    queue.add("b")
    assert [await queue.next(), await queue.next()] == ["a", "b"]
    queue.done("a")
    queue.done("b")
    assert queue.is_idle


async def test_a_key_added_while_it_is_worked_on_comes_again_afterwards() -> None:
    queue = queue_without_chance()
    queue.add("a")
    await queue.next()
    queue.add("a")
    queue.add("b")
    assert await queue.next() == "b"  # "a" is not given to a second worker
    queue.done("a")
    assert await queue.next() == "a"


async def test_delays_double_from_5_ms_to_1000_s() -> None:
    queue = queue_without_chance()
    delays = [queue.retry("a") for _ in range(20)]
    assert delays[:4] == [0.005, 0.01, 0.02, 0.04]
    assert delays[-1] == 1000.0
    queue.close()


async def test_success_resets_the_delay() -> None:
    queue = queue_without_chance()
    queue.retry("a")
    queue.retry("a")
    queue.succeeded("a")
    assert queue.retry("a") == 0.005
    queue.close()


async def test_the_time_that_a_server_asks_for_is_kept() -> None:
    queue = queue_without_chance()
    assert queue.retry("a", at_least_seconds=7.0) == 7.0
    queue.close()


async def test_all_retries_together_are_limited_to_ten_a_second_after_a_burst_of_a_hundred() -> None:
    queue = queue_without_chance()
    delays = [queue.retry(f"key-{number}") for number in range(120)]
    assert max(delays[:100]) == 0.005
    assert 1.8 < delays[119] <= 2.0
    queue.close()


async def test_a_retry_comes_when_its_time_is_there_and_a_change_makes_it_come_at_once() -> None:
    queue = queue_without_chance()
    queue.retry("soon")
    assert await asyncio.wait_for(queue.next(), 5) == "soon"
    queue.retry("late", at_least_seconds=1000.0)
    queue.add("late")
    assert await asyncio.wait_for(queue.next(), 5) == "late"
