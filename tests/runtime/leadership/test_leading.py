"""Several replicas against one API server: who writes, who takes over, and what the others do meanwhile."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from gatepost.cluster.client import Client
from gatepost.cluster.connection import Connection, Server
from gatepost.cluster.errors import NotLeading, Unreachable
from gatepost.cluster.lease import ClusterLease, FoundLease, Lease, Outpaced
from gatepost.objects.refs import Ref
from gatepost.objects.serving import DomainMapping
from gatepost.runtime.controllers import Controllers
from gatepost.runtime.leadership.election import LeaseTimes
from gatepost.runtime.leadership.leading import Elector
from gatepost.runtime.loop.loop import Loop
from mapping_shop import INGRESSES, RULE, Shop, shop, until_seen

TIMES = LeaseTimes(duration_seconds=1.0, renew_deadline_seconds=0.6, retry_period_seconds=0.05)
MAPPING = Ref("serving.knative.dev", "DomainMapping", "shop", "app.example.com")
WRITTEN = frozenset({DomainMapping.KIND.group_kind})


class Replica:
    """Controllers that share a Lease, and the way to take the Lease from them."""

    def __init__(self, controllers: Controllers, lease: CutOff, stop: asyncio.Event) -> None:
        self.controllers = controllers
        self.lease = lease
        self.stop = stop
        self.work = asyncio.create_task(controllers.work(stop))

    @property
    def leads(self) -> bool:
        return self.controllers.leadership.is_held


class CutOff:
    """A Lease that can get out of reach."""

    def __init__(self, lease: ClusterLease) -> None:
        self._lease = lease
        self.is_cut_off = False

    async def read(self) -> FoundLease | None:
        self._check()
        return await self._lease.read()

    async def write(self, lease: Lease, over: FoundLease | None) -> FoundLease:
        self._check()
        return await self._lease.write(lease, over)

    def _check(self) -> None:
        if self.is_cut_off:
            raise Unreachable("the network is cut")


@asynccontextmanager
async def replica(place: Shop, name: str, times: LeaseTimes = TIMES) -> AsyncIterator[Replica]:
    connection = Connection(Server(place.server.url))
    async with Client(connection) as lease_client:
        lease = CutOff(ClusterLease(lease_client, "default", "gatepost"))
        elector = Elector(lease, name, times)
        async with Client(connection, may_write=lambda: elector.is_held) as client:
            controllers = Controllers(client, [RULE], [], written=WRITTEN, leadership=elector)
            made = Replica(controllers, lease, asyncio.Event())
            try:
                yield made
            finally:
                made.stop.set()
                await made.work


async def until(loop: Loop, is_so: Callable[[], bool]) -> None:
    seen = loop.movements.count
    while not is_so():
        seen = await loop.movements.after(seen)


async def map_and_wait(place: Shop, by: Replica) -> None:
    """Makes a mapping, and waits until a replica that leads has done what follows from it."""
    await place.map("app.example.com")
    await until_seen(by.controllers.loop, by.controllers, MAPPING)


async def holder(place: Shop) -> str:
    found = await place.get("/apis/coordination.k8s.io/v1/namespaces/default/leases/gatepost")
    return str(found["spec"]["holderIdentity"])


async def is_written(place: Shop, name: str) -> bool:
    found = await place.get(INGRESSES)
    return any(item["metadata"]["name"] == name for item in found["items"])


async def test_a_follower_knows_everything_and_writes_nothing() -> None:
    async with shop() as place, replica(place, "one") as one:
        await one.controllers.leadership.gained()
        async with replica(place, "two") as two:
            await two.controllers.loop.warmed_up()
            await map_and_wait(place, one)
            assert await is_written(place, "app.example.com")
            loop = two.controllers.loop
            await until(loop, lambda: loop.engine.store.get(MAPPING) is not None and loop.workers.waiting > 0)
            assert (two.leads, two.controllers.writer.counts.total()) == (False, 0)
            with pytest.raises(NotLeading):
                await two.controllers.client.write("POST", INGRESSES, {}, {})
            assert loop.missing == []  # it is ready: a rollout waits for that


async def test_a_leader_that_is_stopped_hands_over_long_before_the_lease_runs_out() -> None:
    times = LeaseTimes(duration_seconds=600.0, renew_deadline_seconds=400.0, retry_period_seconds=0.05)
    async with shop() as place, replica(place, "two", times) as two:
        await two.controllers.leadership.gained()
        async with replica(place, "one", times) as one:
            await one.controllers.loop.warmed_up()
            two.stop.set()
            await two.work
            await one.controllers.leadership.gained()
            assert await holder(place) == "one"
            await map_and_wait(place, one)
            assert await is_written(place, "app.example.com")
            one.stop.set()
            await one.work
            assert await holder(place) == ""


async def test_when_the_leader_is_cut_off_another_takes_over_and_only_after_the_first_has_stopped() -> None:
    async with shop() as place, replica(place, "one") as one:
        await one.controllers.leadership.gained()
        async with replica(place, "two") as two:
            await two.controllers.loop.warmed_up()
            one.lease.is_cut_off = True
            await two.controllers.leadership.gained()
            assert not one.leads
            await map_and_wait(place, two)
            assert await is_written(place, "app.example.com")
            assert one.controllers.writer.counts.total() == 0


async def test_one_that_lost_the_lead_follows_and_leads_again_when_its_time_comes() -> None:
    async with shop() as place, replica(place, "one") as one:
        await one.controllers.leadership.gained()
        one.lease.is_cut_off = True
        await one.controllers.leadership.lost()
        await place.map("app.example.com")
        loop = one.controllers.loop
        await until(loop, lambda: loop.workers.waiting > 0)
        assert not await is_written(place, "app.example.com")
        one.lease.is_cut_off = False
        await loop.rest()
        assert await is_written(place, "app.example.com")


async def test_of_two_who_write_over_the_same_lease_one_fails() -> None:
    async with shop() as place:
        lease = ClusterLease(place.client, "default", "gatepost")
        assert await lease.read() is None
        first = await lease.write(Lease(holder="one", duration_seconds=15), None)
        with pytest.raises(Outpaced):
            await lease.write(Lease(holder="two", duration_seconds=15), None)
        await lease.write(Lease(holder="one", duration_seconds=15, transitions=1), first)
        with pytest.raises(Outpaced):
            await lease.write(Lease(holder="two", duration_seconds=15), first)
        assert await holder(place) == "one"


async def test_what_others_wrote_into_the_lease_stays() -> None:
    async with shop() as place:
        lease = ClusterLease(place.client, "default", "gatepost")
        await lease.write(Lease(holder="one", duration_seconds=15), None)
        path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/gatepost"
        await place.patch(
            path, {"metadata": {"labels": {"team": "web"}}, "spec": {"strategy": "OldestEmulationVersion"}}
        )
        found = await lease.read()
        assert found is not None
        await lease.write(Lease(holder="two", duration_seconds=15), found)
        raw = json.loads(await place.client.read(path))
        assert raw["metadata"]["labels"] == {"team": "web"}
        assert raw["spec"]["strategy"] == "OldestEmulationVersion"
        assert raw["spec"]["holderIdentity"] == "two"
