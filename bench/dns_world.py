"""What the DNS bench measures: the loop over objects in memory, a server with the records of all of them, a client."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import socket
import sys
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime

import dns.message
import msgspec

sys.path.append(str(pathlib.Path(__file__).parents[1] / "tests" / "providers"))

from dns_proxy import DnsProxy, proxy_before
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
from gatepost.runtime.asked_kinds import NotingEngine
from gatepost.runtime.dns.part import DnsPart
from gatepost.runtime.dns.publisher import ZonePublisher
from gatepost.runtime.dns.zones import Zones
from gatepost.runtime.loop.loop import Loop
from gatepost.standalone.dnsserver import DnsServer
from gatepost.writes.outcome import Event, Outcome

ZONE = "example.com"
ADDRESS = "192.0.2.1"


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


@contextlib.asynccontextmanager
async def bind(names: int) -> AsyncIterator[tuple[Provider, int]]:
    """BIND in a process of its own, a provider that writes to it, and its port."""
    with running("bind", {ZONE: zone_lines(names)}) as server:
        yield rfc2136(server.port), server.port


@contextlib.asynccontextmanager
async def bind_behind_proxy(names: int) -> AsyncIterator[tuple[Provider, int, DnsProxy]]:
    """The same, with a proxy in between that counts; it costs some tenths of a millisecond."""
    with running("bind", {ZONE: zone_lines(names)}) as server:
        async with proxy_before(server.port) as proxy:
            yield rfc2136(proxy.port), server.port, proxy


def is_there(server: str) -> bool:
    """Whether a kind of server can be started here."""
    return server == "embedded" or not missing(server)


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


class Published(msgspec.Struct):
    """A loop at rest, its zones, and how long that took from the start: first pass, listing, comparison."""

    loop: Loop
    zones: Zones
    start_seconds: float


@contextlib.asynccontextmanager
async def publishing(provider: Provider, names: int) -> AsyncIterator[Published]:
    """The loop with all objects, at rest. Each change goes out at once, however soon after another it comes."""
    settings = DnsSettings(sources=("gateway-httproute",), txt_owner_id="me")
    made, indexes = rules(settings)
    engine = NotingEngine(made, indexes, datetime.now(UTC))
    loop = Loop(engine, NoWrites())
    clock = asyncio.get_running_loop().time
    zones = Zones(engine, loop.kinds, DnsPart(settings, provider, allow=True), clock)
    loop.publish_with(ZonePublisher(zones, interval_seconds=3600.0, batch_seconds=0.0, moved=loop.movements.note))
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
        yield Published(loop, zones, clock() - started)
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
