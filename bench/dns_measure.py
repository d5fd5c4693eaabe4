"""Times changes, one after the other, and a comparison with the whole zone."""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import msgspec

from bench.dns_world import ZONE, Client, Published, bind, bind_behind_proxy, embedded, publishing, route
from bench.measure import resident_bytes
from gatepost.dns.endpoint import Changes
from gatepost.providers.contract import Provider

RECORDS_OF_A_NAME = 2
CHANGES = 200
COUNTED_CHANGES = 20
TICK_SECONDS = 0.001


class Result(msgspec.Struct):
    """What it costs in a zone of `records` record sets. What goes over the network is 0 where there is none.

    Attributes:
        start_seconds: first pass over all Routes, listing of the zone, comparison.
        median_ms, p99_ms: from a changed Route to the answer of the server.
        own_ms: the part of it that is gatepost's: up to the moment in which its message is on the way, the median.
        comparison_seconds: listing the zone again, and planning all of it.
        stall_ms: the longest time in a comparison in which the event loop did nothing else, as processor time of its
            thread: what other processes take of the machine is not in it.
        memory_mib: of the process, BIND apart.
    """

    server: str
    records: int
    start_seconds: float
    median_ms: float
    p99_ms: float
    own_ms: float
    comparison_seconds: float
    stall_ms: float
    memory_mib: float
    calls_per_change: float = 0.0
    octets_per_change: float = 0.0


async def measure_embedded(records: int) -> Result:
    names = records // RECORDS_OF_A_NAME
    async with embedded(names) as (provider, port), publishing(provider, names) as published:
        sent = note_calls(provider)
        result = await measured("embedded", records, published, port)
        result.own_ms = own_ms(await time_changes(published, port, names, COUNTED_CHANGES, CHANGES), sent)
    return result


async def measure_bind(records: int) -> Result:
    names = records // RECORDS_OF_A_NAME
    async with bind(names) as (provider, port), publishing(provider, names) as published:
        result = await measured("bind", records, published, port)
    async with bind_behind_proxy(names) as (provider, port, proxy), publishing(provider, names) as published:
        sent: list[float] = []
        proxy.on_update = lambda wire: sent.append(time.perf_counter())
        calls, octets = proxy.queries, proxy.octets + proxy.octets_asked
        result.own_ms = own_ms(await time_changes(published, port, names, COUNTED_CHANGES, 0), sent)
        result.calls_per_change = (proxy.queries - calls) / COUNTED_CHANGES
        result.octets_per_change = (proxy.octets + proxy.octets_asked - octets) / COUNTED_CHANGES
    return result


MEASURED: dict[str, Callable[[int], Awaitable[Result]]] = {"embedded": measure_embedded, "bind": measure_bind}


class Change(msgspec.Struct):
    """When a Route changed, and when the server answered with it; by the performance counter."""

    at: float
    answered_at: float

    @property
    def milliseconds(self) -> float:
        return (self.answered_at - self.at) * 1e3


async def measured(server: str, records: int, published: Published, port: int) -> Result:
    changes = await time_changes(published, port, records // RECORDS_OF_A_NAME, CHANGES, 0)
    times = [change.milliseconds for change in changes]
    started = time.perf_counter()
    async with stalls() as found:
        await published.zones.list_anew()
        written = await published.zones.write(None)
    comparison_seconds = time.perf_counter() - started
    assert not written.changes, "a comparison after all changes finds nothing to do"
    return Result(
        server=server,
        records=records,
        start_seconds=published.start_seconds,
        median_ms=statistics.median(times),
        p99_ms=statistics.quantiles(times, n=100)[98],
        own_ms=0.0,
        comparison_seconds=comparison_seconds,
        stall_ms=max(found) * 1e3,
        memory_mib=resident_bytes() / 2**20,
    )


async def time_changes(published: Published, port: int, names: int, count: int, first: int) -> list[Change]:
    """Makes changes number `first` and following, each as soon as the one before is answered and all is at rest."""
    loop, client = published.loop, Client(port)
    found: list[Change] = []
    with contextlib.closing(client):
        for number in range(first, first + count):
            hostname = f"moved-{number}.{ZONE}"
            changed = route(number * 7919 % names, hostname)
            started = time.perf_counter()
            loop.intake.put(changed.ref, changed, None)
            await client.until_answered(hostname)
            found.append(Change(started, time.perf_counter()))
            await loop.rest()
    assert not loop.failures, loop.failures
    return found


def note_calls(provider: Provider) -> list[float]:
    """Returns: the moments in which the provider is told of changes from now on."""
    moments: list[float] = []
    apply = provider.apply

    async def noted(changes: Changes) -> object:
        moments.append(time.perf_counter())
        return await apply(changes)

    provider.apply = noted  # type: ignore[method-assign,assignment]
    return moments


def own_ms(changes: list[Change], sent: list[float]) -> float:
    """The median time from a change to the first message that was sent after it."""
    return statistics.median(next(moment for moment in sent if moment >= c.at) - c.at for c in changes) * 1e3


@contextlib.asynccontextmanager
async def stalls() -> AsyncIterator[list[float]]:
    """Yields a list that takes how long this thread worked between two ticks, for each two in the block; in seconds."""
    worked: list[float] = [0.0]

    async def tick() -> None:
        while True:
            began = time.thread_time()
            await asyncio.sleep(TICK_SECONDS)
            worked.append(time.thread_time() - began)

    task = asyncio.create_task(tick())
    await asyncio.sleep(0)
    try:
        yield worked
        await asyncio.sleep(TICK_SECONDS)  # the last stall is known only when it has ended
    finally:
        task.cancel()
