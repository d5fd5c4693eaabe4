"""From Gateways and HTTPRoutes to a zone, through the loop: what is written, when, and what is held back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from msgspec import convert

from gatepost.cluster.errors import ApiError
from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.rules import rules
from gatepost.dns.settings import DnsSettings
from gatepost.objects.core import Namespace
from gatepost.objects.gatewayapi import Gateway, HTTPRoute
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem
from gatepost.objects.refs import GroupKind
from gatepost.providers.contract import ProviderError, RecordResult
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.runtime.kinds import NotingEngine
from gatepost.runtime.loop import Loop
from gatepost.runtime.publisher import ZonePublisher
from gatepost.runtime.telling import News
from gatepost.runtime.zones import Zones
from gatepost.writes.outcome import Event, Outcome

KINDS = (HTTPRoute.KIND.group_kind, Gateway.KIND.group_kind, Namespace.KIND.group_kind)


class Provider(EmbeddedProvider):
    """Zones in memory that note each batch, and that can be made to fail."""

    def __init__(self) -> None:
        super().__init__(["example.com"])
        self.batches: list[Changes] = []
        self.listings = 0
        self.failures: list[str] = []
        self.refused = ""

    async def records(self) -> Sequence[Endpoint]:
        self.listings += 1
        if self.failures:
            raise ProviderError(self.failures.pop(0))
        return await super().records()

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        self.batches.append(changes)
        refused = [record for record in changes.create if record.dns_name == self.refused]
        kept = tuple(record for record in changes.create if record not in refused)
        results = await super().apply(Changes(kept, changes.update_old, changes.update_new, changes.delete))
        return [*results, *(RecordResult(record.key, "quota exceeded") for record in refused)]

    async def addresses(self) -> dict[str, tuple[str, ...]]:
        found = await super().records()
        return {record.dns_name: record.targets for record in found if record.record_type == "A"}


class Cluster:
    """A feed in memory, and the loop that it feeds."""

    def __init__(self, loop: Loop, provider: Provider, told: list[Problem]) -> None:
        self.loop = loop
        self.told = told
        self.provider = provider
        self.watched: set[GroupKind] = set()
        self._states: dict[GroupKind, ApiError | None] = {}

    def watch(self, group_kind: GroupKind) -> None:
        self.watched.add(group_kind)
        if group_kind in self._states:
            self._tell(group_kind)

    async def stop(self) -> None:
        pass

    def put(self, *objects: KubernetesObject) -> None:
        for obj in objects:
            self.loop.put(obj.ref, obj, None)

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

    def _tell(self, kind: GroupKind) -> None:
        error = self._states[kind]
        if error is None:
            self.loop.complete(kind)
        else:
            self.loop.failing(kind, error)

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
            },
            "status": {"addresses": [{"type": "IPAddress", "value": address}]},
        },
        Gateway,
    )


def route(name: str, *hostnames: str, parent_name: str = "public") -> HTTPRoute:
    parent = {"name": parent_name, "namespace": "infra"}
    accepted = {"type": "Accepted", "status": "True", "observedGeneration": 1}
    return convert(
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "HTTPRoute",
            "metadata": {"name": name, "namespace": "shop", "uid": f"r-{name}", "generation": 1},
            "spec": {"parentRefs": [parent], "hostnames": list(hostnames)},
            "status": {"parents": [{"parentRef": parent, "controllerName": "x/y", "conditions": [accepted]}]},
        },
        HTTPRoute,
    )


def namespace(name: str) -> Namespace:
    return convert({"metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}}}, Namespace)


@asynccontextmanager
async def publishing(
    provider: Provider | None = None, *, interval_seconds: float = 3600.0, dry_run: bool = False, **more: Any
) -> AsyncIterator[Cluster]:
    provider = provider or Provider()
    settings = DnsSettings(sources=("gateway-httproute",), txt_owner_id="me", **more)
    made, indexes = rules(settings)
    engine = NotingEngine(made, indexes, datetime.now(UTC))
    loop = Loop(engine, NoWrites())
    running = asyncio.get_running_loop()
    zones = Zones(engine, loop.kinds, settings, provider, running.time, dry_run=dry_run)
    told: list[Problem] = []

    async def tell(news: News) -> None:
        told.extend(item for item in news if isinstance(item, Problem))

    publisher = ZonePublisher(
        zones, interval_seconds=interval_seconds, batch_seconds=0.01, tell=tell, moved=loop.note_movement
    )
    loop.publish_with(publisher)
    cluster = Cluster(loop, provider, told)
    stop = asyncio.Event()
    task = asyncio.create_task(loop.run(cluster, stop))
    await asyncio.sleep(0)
    try:
        yield cluster
    finally:
        stop.set()
        await task


async def test_names_of_routes_get_the_address_of_their_gateway_and_an_owner() -> None:
    async with publishing() as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com", "b.example.com"))
        cluster.complete()
        assert await cluster.rest() == {"a.example.com": ("192.0.2.1",), "b.example.com": ("192.0.2.1",)}
        owners = [r for r in await cluster.provider.records() if r.record_type == "TXT"]
        assert {r.dns_name for r in owners} == {"a-a.example.com", "a-b.example.com"}
        assert all("owner=me" in r.targets[0] for r in owners)


async def test_starting_again_on_a_zone_that_is_right_writes_nothing() -> None:
    provider = Provider()
    for _ in range(2):
        async with publishing(provider) as cluster:
            cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
            cluster.complete()
            await cluster.rest()
    assert len(provider.batches) == 1


async def test_changes_that_come_together_are_one_batch_without_a_new_listing() -> None:
    async with publishing() as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"), route("b", "b.example.com"))
        cluster.complete()
        await cluster.rest()
        cluster.put(route("a", "a2.example.com"))
        cluster.put(route("c", "c.example.com"))
        cluster.loop.remove(HTTPRoute.KIND.ref("shop", "b"))
        assert set(await cluster.rest()) == {"a2.example.com", "c.example.com"}
        assert len(cluster.provider.batches) == 2
        assert cluster.provider.listings == 1


async def test_nothing_is_written_before_all_kinds_are_in() -> None:
    async with publishing() as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete(KINDS[0])
        await asyncio.sleep(0)
        assert cluster.provider.listings == 0
        cluster.complete(*KINDS[1:])
        assert set(await cluster.rest()) == {"a.example.com"}


async def test_nothing_is_deleted_while_gateways_cannot_be_read() -> None:
    provider = Provider()
    async with publishing(provider) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await cluster.rest()
    async with publishing(provider) as cluster:
        cluster.put(namespace("shop"), route("a", "a.example.com"))
        cluster.complete(HTTPRoute.KIND.group_kind, Namespace.KIND.group_kind)
        cluster.fail(Gateway.KIND.group_kind, ApiError(500, "InternalError", "etcd is away"))
        assert set(await cluster.rest()) == {"a.example.com"}
        cluster.put(gateway("192.0.2.9"))
        cluster.complete(Gateway.KIND.group_kind)
        assert await cluster.rest() == {"a.example.com": ("192.0.2.9",)}


async def test_a_record_of_a_route_that_went_while_nobody_looked_is_deleted_at_the_start() -> None:
    provider = Provider()
    async with publishing(provider) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"), route("b", "b.example.com"))
        cluster.complete()
        await cluster.rest()
    async with publishing(provider) as cluster:
        cluster.put(namespace("shop"), gateway(), route("b", "b.example.com"))
        cluster.complete()
        assert set(await cluster.rest()) == {"b.example.com"}


async def test_what_others_changed_in_the_zone_is_put_right_at_the_next_comparison() -> None:
    async with publishing(interval_seconds=0.05) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await cluster.rest()
        stray = [r for r in await cluster.provider.records() if r.record_type == "A"]
        await cluster.provider.apply(Changes(delete=tuple(stray)))
        seen = cluster.loop.movements
        while "a.example.com" not in await cluster.provider.addresses():
            seen = await cluster.loop.moved(seen)


async def test_a_provider_that_fails_is_asked_again() -> None:
    provider = Provider()
    provider.failures = ["connection refused"]
    async with publishing(provider) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        assert await cluster.rest() == {}
        assert cluster.loop.failures == ["DNS could not be written"]
        seen = cluster.loop.movements
        while "a.example.com" not in await cluster.provider.addresses():
            seen = await cluster.loop.moved(seen)
        await cluster.loop.rest()
        assert cluster.loop.failures == []


async def test_one_refused_record_does_not_stop_the_others_and_is_tried_again() -> None:
    provider = Provider()
    provider.refused = "b.example.com"
    async with publishing(provider, interval_seconds=0.05) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com", "b.example.com"))
        cluster.complete()
        assert set(await cluster.rest()) == {"a.example.com"}
        assert cluster.loop.failures == ["DNS could not be written"]
        provider.refused = ""
        seen = cluster.loop.movements
        while "b.example.com" not in await cluster.provider.addresses():
            seen = await cluster.loop.moved(seen)


async def test_a_record_without_our_owner_is_left_alone() -> None:
    async with publishing() as cluster:
        await cluster.provider.apply(Changes(create=(Endpoint("b.example.com", "A", ("192.0.2.7",)),)))
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com", "b.example.com"))
        cluster.complete()
        addresses = await cluster.rest()
        assert addresses == {"a.example.com": ("192.0.2.1",), "b.example.com": ("192.0.2.7",)}


async def test_a_dry_run_changes_no_record() -> None:
    async with publishing(dry_run=True) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        assert await cluster.rest() == {}
        assert cluster.provider.batches == []


async def test_a_plan_that_removes_too_much_is_stopped_even_in_small_portions() -> None:
    names = [f"n{number}.example.com" for number in range(20)]
    async with publishing() as cluster:
        cluster.put(namespace("shop"), gateway(), *(route(f"r{n}", name) for n, name in enumerate(names)))
        cluster.complete()
        await cluster.rest()
        for number in range(20):
            cluster.loop.remove(HTTPRoute.KIND.ref("shop", f"r{number}"))
            await cluster.loop.rest()
        left = await cluster.provider.addresses()
        assert len(left) == 14  # 30 % of 20 may go
        assert cluster.loop.failures == ["DNS could not be written"]


async def test_who_loses_a_name_is_told_once() -> None:
    async with publishing() as cluster:
        cluster.put(namespace("shop"), gateway(), gateway("192.0.2.2", "other"))
        cluster.put(route("a", "app.example.com"), route("b", "app.example.com", parent_name="other"))
        cluster.complete()
        assert await cluster.rest() == {"app.example.com": ("192.0.2.1",)}
        cluster.put(route("c", "c.example.com"))
        await cluster.rest()
        (problem,) = cluster.told
        assert problem.reason == "DNSConflict"
        assert problem.about == HTTPRoute.KIND.ref("shop", "b")
