"""A cluster in memory, the loop over it, and the zone that it publishes to: for the tests of the writing of DNS."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Literal

from msgspec import convert
from msgspec.structs import replace

from gatepost.cluster.errors import ApiError
from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey
from gatepost.dns.ownership.txt_format import Cipher
from gatepost.dns.rules import rules
from gatepost.dns.settings import DnsSettings
from gatepost.objects.core import Namespace
from gatepost.objects.gatewayapi import Gateway, GatewayStatus, HTTPRoute, ListenerSet
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem
from gatepost.objects.refs import GroupKind
from gatepost.providers.contract import ProviderError, RecordResult
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.runtime.asked_kinds import NotingEngine
from gatepost.runtime.clock import Clock, LoopClock
from gatepost.runtime.dns.part import DnsPart
from gatepost.runtime.dns.publisher import ZonePublisher
from gatepost.runtime.dns.telling import News
from gatepost.runtime.dns.zones import Zones
from gatepost.runtime.leadership.leading import Leadership
from gatepost.runtime.loop.loop import Loop
from gatepost.writes.outcome import Event, Outcome

KINDS = (HTTPRoute.KIND.group_kind, Gateway.KIND.group_kind, Namespace.KIND.group_kind)


class Provider(EmbeddedProvider):
    """Zones in memory that note each batch, and that can be made to fail."""

    def __init__(self) -> None:
        super().__init__(["example.com"])
        self.batches: list[Changes] = []
        self.listings = 0
        self.failures: list[str] = []
        self.refused: set[EndpointKey] = set()

    async def records(self) -> Sequence[Endpoint]:
        self.listings += 1
        if self.failures:
            raise ProviderError(self.failures.pop(0))
        return await super().records()

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        self.batches.append(changes)
        pairs = [pair for pair in zip(changes.update_old, changes.update_new, strict=True) if self._takes(pair[1])]
        taken = Changes(
            tuple(filter(self._takes, changes.create)),
            tuple(old for old, _ in pairs),
            tuple(new for _, new in pairs),
            tuple(filter(self._takes, changes.delete)),
        )
        refused = [r for r in (*changes.create, *changes.update_new, *changes.delete) if not self._takes(r)]
        results = await super().apply(taken)
        return [*results, *(RecordResult(record.key, "quota exceeded") for record in refused)]

    def _takes(self, record: Endpoint) -> bool:
        return record.key not in self.refused

    async def addresses(self) -> dict[str, tuple[str, ...]]:
        found = await super().records()
        return {record.dns_name: record.targets for record in found if record.record_type == "A"}

    async def texts(self) -> dict[str, str]:
        """The texts of ownership records by their names."""
        found = await super().records()
        return {record.dns_name: record.targets[0] for record in found if record.record_type == "TXT"}


class HandClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._moved = asyncio.Event()
        self._waited_for = asyncio.Event()

    def now(self) -> float:
        return self._now

    async def wait(self, event: asyncio.Event, until: float) -> None:
        while not event.is_set() and self._now < until:
            self._waited_for.set()
            waits = [asyncio.create_task(event.wait()), asyncio.create_task(self._moved.wait())]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()

    async def advance(self, seconds: float) -> None:
        """Moves on, and returns when all that this wakes has been done and the next moment is waited for."""
        self._now += seconds
        self._waited_for.clear()
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()
        await self._waited_for.wait()


class Cluster:
    """A feed in memory, and the loop that it feeds."""

    def __init__(self, loop: Loop, provider: Provider) -> None:
        self.loop = loop
        self.publisher: ZonePublisher
        self.told: list[Problem] = []
        self.events: list[Event] = []
        self.provider = provider
        self.watched: set[GroupKind] = set()
        self._states: dict[GroupKind, ApiError | Literal["missing"] | None] = {}

    def watch(self, group_kind: GroupKind) -> None:
        self.watched.add(group_kind)
        if group_kind in self._states:
            self._tell(group_kind)

    async def stop(self) -> None:
        pass

    def put(self, *objects: KubernetesObject) -> None:
        for obj in objects:
            self.loop.intake.put(obj.ref, obj, None)

    def complete(self, *kinds: GroupKind) -> None:
        for kind in kinds or KINDS:
            self._states[kind] = None
            if kind in self.watched:
                self._tell(kind)

    def fail(self, kind: GroupKind, error: ApiError) -> None:
        """The kind cannot be read, now or as soon as it is asked for."""
        self._states[kind] = error
        if kind in self.watched:
            self._tell(kind)

    def miss(self, kind: GroupKind) -> None:
        """The cluster does not serve the kind; it says so as soon as it is asked."""
        self._states[kind] = "missing"
        if kind in self.watched:
            self._tell(kind)

    def _tell(self, kind: GroupKind) -> None:
        error = self._states[kind]
        if error is None:
            self.loop.intake.complete(kind)
        elif error == "missing":
            self.loop.intake.missing(kind)
        else:
            self.loop.intake.failing(kind, error)

    async def until(self, is_so: Callable[[], Awaitable[bool]]) -> None:
        seen = self.loop.movements.count
        while not await is_so():
            seen = await self.loop.movements.after(seen)

    async def tell(self, news: News) -> None:
        self.told.extend(item for item in news if isinstance(item, Problem))
        self.events.extend(item for item in news if isinstance(item, Event))

    def reasons(self) -> list[str]:
        """Why objects were told something: problems, then events."""
        return [problem.reason for problem in self.told] + [event.reason for event in self.events]

    async def rest(self) -> dict[str, tuple[str, ...]]:
        """The addresses in the zone when nothing is left to do."""
        await self.loop.rest()
        return await self.provider.addresses()


class NoWrites:
    async def carry_out(self, outcome: Outcome) -> None:
        raise AssertionError("nothing here has an outcome")

    async def tell(self, events: Iterable[Event]) -> None:
        pass


def gateway(address: str = "192.0.2.1", name: str = "public") -> Gateway:
    return convert(
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": {"name": name, "namespace": "infra", "uid": name, "generation": 1},
            "spec": {
                "gatewayClassName": "x",
                "listeners": [
                    {"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}
                ],
                "allowedListeners": {"namespaces": {"from": "Same"}},
            },
            "status": {"addresses": [{"type": "IPAddress", "value": address}]},
        },
        Gateway,
    )


def gateway_without_address(name: str = "public") -> Gateway:
    return replace(gateway(name=name), status=GatewayStatus())


def listener_set(name: str = "public") -> ListenerSet:
    """One that the Gateway of the same name takes."""
    accepted = [{"type": "Accepted", "status": "True"}]
    return convert(
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "ListenerSet",
            "metadata": {"name": name, "namespace": "infra", "uid": f"set-{name}", "generation": 1},
            "spec": {
                "parentRef": {"name": name},
                "listeners": [
                    {"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}
                ],
            },
            "status": {"conditions": accepted, "listeners": [{"name": "http", "conditions": accepted}]},
        },
        ListenerSet,
    )


def route(
    name: str,
    *hostnames: str,
    parent_name: str = "public",
    parent_kind: str = "Gateway",
    annotations: dict[str, str] | None = None,
) -> HTTPRoute:
    parent = {"kind": parent_kind, "name": parent_name, "namespace": "infra"}
    accepted = {"type": "Accepted", "status": "True", "observedGeneration": 1}
    metadata = {"name": name, "namespace": "shop", "uid": f"r-{name}", "generation": 1}
    return convert(
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "HTTPRoute",
            "metadata": {**metadata, "annotations": annotations or {}},
            "spec": {"parentRefs": [parent], "hostnames": list(hostnames)},
            "status": {"parents": [{"parentRef": parent, "controllerName": "x/y", "conditions": [accepted]}]},
        },
        HTTPRoute,
    )


def namespace(name: str) -> Namespace:
    return convert({"metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}}}, Namespace)


@asynccontextmanager
async def publishing(
    provider: Provider | None = None,
    *,
    interval_seconds: float = 3600.0,
    batch_seconds: float = 0.01,
    dry_run: bool = False,
    allow: bool = False,
    clock: Clock | None = None,
    cipher: Cipher | None = None,
    leadership: Leadership | None = None,
    **more: Any,
) -> AsyncIterator[Cluster]:
    """The loop at work. `more`: settings of the DNS part."""
    provider = provider or Provider()
    settings = DnsSettings(**{"sources": ("gateway-httproute",), "txt_owner_id": "me", **more})
    made, indexes = rules(settings)
    engine = NotingEngine(made, indexes, datetime.now(UTC))
    loop = Loop(engine, NoWrites(), leadership=leadership)
    clock = clock or LoopClock()
    part = DnsPart(settings, provider, allow=allow, cipher=cipher)
    zones = Zones(engine, loop.kinds, part, clock.now, dry_run=dry_run)
    cluster = Cluster(loop, provider)
    publisher = ZonePublisher(
        zones,
        interval_seconds=interval_seconds,
        batch_seconds=batch_seconds,
        tell=cluster.tell,
        moved=loop.movements.note,
        clock=clock,
    )
    cluster.publisher = publisher
    loop.publish_with(publisher)
    stop = asyncio.Event()
    task = asyncio.create_task(loop.run(cluster, stop))
    await asyncio.sleep(0)
    try:
        yield cluster
    finally:
        stop.set()
        await task
