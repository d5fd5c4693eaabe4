"""DNS is written by the replica that leads, which begins with what the provider holds then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from gatepost.dns.endpoint import Changes, Endpoint
from publishing_cluster import (
    Cluster,
    HandClock,
    Provider,
    gateway,
    gateway_without_address,
    namespace,
    publishing,
    route,
)


class ByHand:
    """A leadership that a test gives and takes."""

    leader = ""

    def __init__(self) -> None:
        self.is_held = False
        self._changed = asyncio.Event()

    def give(self, is_held: bool) -> None:
        self.is_held = is_held
        self._changed.set()

    async def gained(self) -> None:
        while not self.is_held:
            await self._change()

    async def lost(self) -> None:
        while self.is_held:
            await self._change()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    @asynccontextmanager
    async def campaigning(self, ready: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
        yield


async def test_a_follower_neither_lists_nor_writes_and_publishes_all_when_it_leads() -> None:
    leadership = ByHand()
    async with publishing(leadership=leadership) as cluster:
        cluster.put(namespace("shop"), namespace("infra"), gateway(), route("cart", "cart.example.com"))
        cluster.complete()
        await cluster.loop.warmed_up()
        assert (cluster.provider.listings, cluster.provider.batches) == (0, [])
        assert cluster.loop.missing == []
        leadership.give(True)
        assert await cluster.rest() == {"cart.example.com": ("192.0.2.1",)}


async def test_who_leads_again_lists_anew_and_undoes_what_came_in_between() -> None:
    leadership = ByHand()
    leadership.give(True)
    async with publishing(leadership=leadership) as cluster:
        cluster.put(namespace("shop"), namespace("infra"), gateway(), route("cart", "cart.example.com"))
        cluster.complete()
        await cluster.rest()
        await take(leadership, cluster)
        there = next(r for r in await Provider.records(cluster.provider) if r.record_type == "A")
        foreign = Endpoint(there.dns_name, "A", ("198.51.100.7",), there.record_ttl)
        await Provider.apply(cluster.provider, Changes(update_old=(there,), update_new=(foreign,)))
        leadership.give(True)
        assert await cluster.rest() == {"cart.example.com": ("192.0.2.1",)}
        assert cluster.provider.listings == 3  # one of them by this test


async def test_a_doubt_is_measured_anew_after_another_has_led() -> None:
    """Whether it lasted meanwhile, nobody here knows."""
    leadership, clock = ByHand(), HandClock()
    leadership.give(True)
    async with publishing(leadership=leadership, clock=clock, delete_grace=60) as cluster:
        cluster.put(namespace("shop"), namespace("infra"), gateway(), route("cart", "cart.example.com"))
        cluster.complete()
        await cluster.rest()
        cluster.put(gateway_without_address())
        await cluster.rest()
        await clock.advance(40)
        await take(leadership, cluster)
        leadership.give(True)
        await cluster.rest()
        await clock.advance(40)
        assert await cluster.rest() == {"cart.example.com": ("192.0.2.1",)}
        await clock.advance(21)
        assert await cluster.rest() == {}


async def take(leadership: ByHand, cluster: Cluster) -> None:
    """Takes the leadership away, and returns when nothing is written any more."""
    seen = cluster.loop.movements.count
    leadership.give(False)
    await cluster.loop.movements.after(seen)
