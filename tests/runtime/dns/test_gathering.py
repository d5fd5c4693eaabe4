"""When changes of DNS go out: a single one at once, those that follow shortly after it together."""

from __future__ import annotations

import asyncio

from gatepost.runtime.clock import LoopClock
from publishing_cluster import gateway, namespace, publishing, route


class ClockAhead(LoopClock):
    """Runs with the loop, some seconds ahead of it."""

    ahead_seconds = 0.0

    def now(self) -> float:
        return super().now() + self.ahead_seconds


async def test_a_single_change_is_written_at_once() -> None:
    clock = ClockAhead()
    async with publishing(batch_seconds=60.0, clock=clock) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await cluster.rest()
        clock.ahead_seconds = 700.0
        cluster.put(route("b", "b.example.com"))
        async with asyncio.timeout(50):  # less than it would be gathered for
            assert set(await cluster.rest()) == {"a.example.com", "b.example.com"}


async def test_what_changes_shortly_after_a_write_is_written_together() -> None:
    async with publishing(batch_seconds=0.3) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await cluster.rest()
        assert len(cluster.provider.batches) == 1
        for name in ("b", "c", "d"):
            cluster.put(route(name, f"{name}.example.com"))
            await asyncio.sleep(0)
        assert len(await cluster.rest()) == 4
        assert len(cluster.provider.batches) == 2
