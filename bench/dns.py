"""`python -m bench.dns`: from the change of one Route to the answer of the DNS server, embedded and BIND.

The whole way is measured: the Route is handed to the loop as the feed would hand it on; rules, plan and provider do
their work; and a client asks the server over UDP until it has the answer. Each change moves a Route to another name:
two record sets go (the record and its ownership record), two come. BIND runs in its own process.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import pathlib
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import dns.message
import msgspec
from rich.console import Console
from rich.table import Table

sys.path.append(str(pathlib.Path(__file__).parents[1] / "tests" / "providers"))

from dns_proxy import proxy_before
from dns_servers import KEY_NAME, KEY_SECRET, missing, running

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.rules import rules
from gatepost.dns.settings import DnsSettings
from gatepost.objects.core import Namespace
from gatepost.objects.gatewayapi import Gateway, HTTPRoute
from gatepost.objects.refs import GroupKind
from gatepost.providers.contract import Provider
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.providers.rfc2136.provider import Rfc2136Provider
from gatepost.providers.rfc2136.settings import Rfc2136Settings
from gatepost.runtime.kinds import NotingEngine
from gatepost.runtime.loop import Loop
from gatepost.runtime.publisher import ZonePublisher
from gatepost.runtime.zones import Zones
from gatepost.standalone.dnsserver import DnsServer
from gatepost.writes.outcome import Event, Outcome

RESULTS = pathlib.Path(__file__).parent / "results" / "dns.json"
ZONE = "example.com"
ADDRESS = "192.0.2.1"
RECORDS_OF_A_NAME = 2
CHANGES = 200
COUNTED_CHANGES = 20
PAUSE_SECONDS = 0.15  # longer than changes are gathered: each is one by itself


class Result(msgspec.Struct):
    """What one change costs in a zone of `records` record sets. Calls and octets are 0 where there is no network."""

    server: str
    records: int
    listing_seconds: float
    median_ms: float
    p99_ms: float
    calls_per_change: float = 0.0
    octets_per_change: float = 0.0


class Feed:
    """Objects in memory: every kind is complete as soon as it is asked for."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def watch(self, group_kind: GroupKind) -> None:
        self._loop.intake.complete(group_kind)

    async def stop(self) -> None:
        pass


class NoWrites:
    async def carry_out(self, outcome: Outcome) -> None:
        raise AssertionError("nothing here has an outcome")

    async def tell(self, events: Iterable[Event]) -> None:
        pass


# What is there


def name_of(number: int) -> str:
    return f"app-{number}.{ZONE}"


def ownership(number: int) -> str:
    return f'"heritage=external-dns,external-dns/owner=me,external-dns/resource=httproute/shop/route-{number}"'


def gateway() -> Gateway:
    listener = {"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}
    return msgspec.convert(
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": {"name": "public", "namespace": "infra", "uid": "g", "generation": 1},
            "spec": {"gatewayClassName": "x", "listeners": [listener]},
            "status": {"addresses": [{"type": "IPAddress", "value": ADDRESS}]},
        },
        Gateway,
    )


def route(number: int, hostname: str) -> HTTPRoute:
    parent = {"name": "public", "namespace": "infra"}
    accepted = {"type": "Accepted", "status": "True", "observedGeneration": 1}
    return msgspec.convert(
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "HTTPRoute",
            "metadata": {"name": f"route-{number}", "namespace": "shop", "uid": f"r-{number}", "generation": 1},
            "spec": {"parentRefs": [parent], "hostnames": [hostname]},
            "status": {"parents": [{"parentRef": parent, "controllerName": "x/y", "conditions": [accepted]}]},
        },
        HTTPRoute,
    )


# Servers


@contextlib.asynccontextmanager
async def embedded(names: int) -> AsyncIterator[tuple[Provider, int]]:
    """The provider in memory with the server that reads it, and the server's port."""
    provider = EmbeddedProvider([ZONE])
    records = tuple(Endpoint(name_of(number), "A", (ADDRESS,), 300) for number in range(names))
    owned = tuple(Endpoint(f"a-{name_of(number)}", "TXT", (ownership(number),), 300) for number in range(names))
    await provider.apply(Changes(create=(*records, *owned)))
    async with DnsServer(provider) as server:
        yield provider, server.port


def zone_lines(names: int) -> list[str]:
    lines = [f"app-{number} 300 IN A {ADDRESS}" for number in range(names)]
    return lines + [f"a-app-{number} 300 IN TXT {ownership(number)}" for number in range(names)]


def rfc2136(port: int) -> Provider:
    return Rfc2136Provider(
        Rfc2136Settings(
            rfc2136_host=("127.0.0.1",),
            rfc2136_port=port,
            rfc2136_zone=(ZONE,),
            rfc2136_tsig_keyname=KEY_NAME,
            rfc2136_tsig_secret=KEY_SECRET,
            rfc2136_timeout=120,
        )
    )


# The way of a change


@contextlib.asynccontextmanager
async def publishing(provider: Provider, names: int) -> AsyncIterator[tuple[Loop, float]]:
    """The loop with all objects, at rest. Yields it, and how long the first comparison with the server took."""
    settings = DnsSettings(sources=("gateway-httproute",), txt_owner_id="me")
    made, indexes = rules(settings)
    engine = NotingEngine(made, indexes, datetime.now(UTC))
    loop = Loop(engine, NoWrites())
    clock = asyncio.get_running_loop().time
    zones = Zones(engine, loop.kinds, settings, provider, clock, allow=True)
    loop.publish_with(ZonePublisher(zones, interval_seconds=3600.0, moved=loop.movements.note))
    for obj in (msgspec.convert({"metadata": {"name": "shop"}}, Namespace), gateway()):
        loop.intake.put(obj.ref, obj, None)
    for number in range(names):
        made_route = route(number, name_of(number))
        loop.intake.put(made_route.ref, made_route, None)
    stop = asyncio.Event()
    started = clock()
    running_loop = asyncio.create_task(loop.run(Feed(loop), stop))
    try:
        await loop.rest()
        assert not loop.failures, loop.failures
        gc.collect()
        gc.freeze()
        yield loop, clock() - started
    finally:
        stop.set()
        await running_loop


class Client:
    """Asks a DNS server over UDP, with no more work than needed: it shares its processor with what it measures."""

    def __init__(self, port: int) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.connect(("127.0.0.1", port))

    async def until_answered(self, name: str) -> None:
        query = dns.message.make_query(name, "A").to_wire()
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(30):
            while True:
                await loop.sock_sendall(self._socket, query)
                answer = await loop.sock_recv(self._socket, 4096)
                if answer[:2] == query[:2] and int.from_bytes(answer[6:8], "big"):
                    return
                await asyncio.sleep(0.0005)

    def close(self) -> None:
        self._socket.close()


async def time_changes(loop: Loop, client: Client, names: int, count: int, first: int) -> list[float]:
    """Seconds of each change, from the Route to the answer."""
    found: list[float] = []
    for number in range(first, first + count):
        hostname = f"moved-{number}.{ZONE}"
        changed = route(number * 7919 % names, hostname)
        await asyncio.sleep(PAUSE_SECONDS)
        started = time.perf_counter()
        loop.intake.put(changed.ref, changed, None)
        await client.until_answered(hostname)
        found.append(time.perf_counter() - started)
        await loop.rest()
    assert not loop.failures, loop.failures
    return found


async def measure_embedded(records: int) -> Result:
    names = records // RECORDS_OF_A_NAME
    async with embedded(names) as (provider, port), publishing(provider, names) as (loop, listing_seconds):
        return await timed("embedded", records, loop, port, listing_seconds)


async def measure_bind(records: int) -> Result:
    names = records // RECORDS_OF_A_NAME
    with running("bind", {ZONE: zone_lines(names)}) as server:
        async with publishing(rfc2136(server.port), names) as (loop, listing_seconds):
            result = await timed("bind", records, loop, server.port, listing_seconds)
    with running("bind", {ZONE: zone_lines(names)}) as server:
        async with proxy_before(server.port) as proxy, publishing(rfc2136(proxy.port), names) as (loop, _):
            calls, octets = proxy.queries, proxy.octets + proxy.octets_asked
            client = Client(server.port)
            await time_changes(loop, client, names, COUNTED_CHANGES, CHANGES)
            client.close()
            result.calls_per_change = (proxy.queries - calls) / COUNTED_CHANGES
            result.octets_per_change = (proxy.octets + proxy.octets_asked - octets) / COUNTED_CHANGES
    return result


async def timed(server: str, records: int, loop: Loop, port: int, listing_seconds: float) -> Result:
    client = Client(port)
    try:
        seconds = await time_changes(loop, client, records // RECORDS_OF_A_NAME, CHANGES, 0)
    finally:
        client.close()
    p99 = statistics.quantiles(seconds, n=100)[98]
    return Result(server, records, listing_seconds, statistics.median(seconds) * 1e3, p99 * 1e3)


MEASURED: dict[str, Callable[[int], Awaitable[Result]]] = {"embedded": measure_embedded, "bind": measure_bind}

# The command


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.dns")
    parser.add_argument("--sizes", default="100,10000,50000", help="numbers of record sets, separated by commas")
    parser.add_argument("--servers", default="embedded,bind", help="which servers, separated by commas")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        server, size = arguments.one
        result: Any = MEASURED[server](int(size))
        sys.stdout.buffer.write(msgspec.json.encode(asyncio.run(result)))
        return
    servers = [server for server in arguments.servers.split(",") if server == "embedded" or not missing(server)]
    sizes = [int(size) for size in arguments.sizes.split(",")]
    results = [measured_apart(server, size) for server in servers for size in sizes]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=2) + b"\n")
    print_table(results)


def measured_apart(server: str, size: int) -> Result:
    """A fresh process: memory and caches of one size must not colour the next."""
    command = [sys.executable, "-m", "bench.dns", "--one", server, str(size)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Result)


def print_table(results: list[Result]) -> None:
    table = Table(title="From a changed Route to the answer of the DNS server", title_justify="left")
    for heading in ("server", "records", "listing, s", "median, ms", "p99, ms", "calls", "octets"):
        table.add_column(heading, justify="left" if heading == "server" else "right")
    for result in results:
        network = [f"{result.calls_per_change:.1f}", f"{result.octets_per_change:,.0f}"]
        table.add_row(
            result.server,
            f"{result.records:,}",
            f"{result.listing_seconds:.2f}",
            f"{result.median_ms:.1f}",
            f"{result.p99_ms:.1f}",
            *(network if result.calls_per_change else ["-", "-"]),
        )
    Console(width=None if sys.stdout.isatty() else 120).print(table)


if __name__ == "__main__":
    main()
