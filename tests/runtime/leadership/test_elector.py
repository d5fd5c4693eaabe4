"""The elector alone, over a Lease that misbehaves."""

from __future__ import annotations

import asyncio
import logging

import pytest

from gatepost.cluster.connection import Connection, Server
from gatepost.cluster.errors import Unreachable
from gatepost.cluster.lease import FoundLease, Lease
from gatepost.runtime.leadership.election import Election, LeaseTimes
from gatepost.runtime.leadership.leading import Elector
from gatepost.runtime.process import RunSettings, run_on
from mapping_shop import shop

TIMES = LeaseTimes(duration_seconds=1.0, renew_deadline_seconds=0.4, retry_period_seconds=0.02)


class Memory:
    """A Lease in memory. `trouble` is raised, or waited for, in the place of an answer."""

    def __init__(self) -> None:
        self.found: FoundLease | None = None
        self.trouble: Exception | asyncio.Event | None = None

    async def read(self) -> FoundLease | None:
        await self._meet_trouble()
        return self.found

    async def write(self, lease: Lease, over: FoundLease | None) -> FoundLease:
        await self._meet_trouble()
        self.found = FoundLease(lease, "1")
        return self.found

    async def _meet_trouble(self) -> None:
        if isinstance(self.trouble, Exception):
            raise self.trouble
        if self.trouble is not None:
            await self.trouble.wait()


async def ready() -> None:
    return


@pytest.mark.parametrize("trouble", [Unreachable("the network is cut"), asyncio.Event()], ids=["errors", "silence"])
async def test_a_leader_that_cannot_renew_stops_after_the_deadline_and_leads_again_when_it_can(
    trouble: Exception | asyncio.Event,
) -> None:
    lease = Memory()
    elector = Elector(lease, "me", TIMES)
    async with elector.campaigning(ready):
        await elector.gained()
        lease.trouble = trouble
        began = asyncio.get_running_loop().time()
        await elector.lost()
        assert asyncio.get_running_loop().time() - began <= TIMES.renew_deadline_seconds + 0.2
        lease.trouble = None
        await elector.gained()
    assert lease.found is not None
    assert lease.found.lease.holder == ""


async def test_a_replica_asks_for_the_lease_only_when_it_is_ready_to_lead() -> None:
    lease, is_ready = Memory(), asyncio.Event()
    elector = Elector(lease, "me", TIMES)
    async with elector.campaigning(is_ready.wait):
        await asyncio.sleep(0)
        assert lease.found is None
        is_ready.set()
        await elector.gained()


async def test_a_fault_of_the_elector_ends_the_wait_instead_of_following_for_ever() -> None:
    lease = Memory()
    lease.trouble = ZeroDivisionError("a fault of ours")
    elector = Elector(lease, "me", TIMES)
    async with elector.campaigning(ready):
        with pytest.raises(ZeroDivisionError):
            await elector.gained()
        lease.trouble = None


class Stepped:
    """A clock that goes on only when it is told to."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds

    async def wait(self, event: asyncio.Event, until: float) -> None:
        await event.wait()


async def test_a_term_begins_before_the_write_that_won_it_is_sent() -> None:
    """Others may have seen that write long before its answer is here."""
    clock = Stepped()

    class Slow(Memory):
        async def write(self, lease: Lease, over: FoundLease | None) -> FoundLease:
            clock.seconds += 9.0
            return await super().write(lease, over)

    elector = Elector(Slow(), "me", LeaseTimes(), clock=clock)
    async with elector.campaigning(ready):
        await elector.gained()
        clock.seconds = 9.9
        assert elector.is_held
        clock.seconds = 10.0
        assert not elector.is_held


async def test_a_lease_that_cannot_be_reached_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    lease = Memory()
    lease.trouble = Unreachable("the network is cut")
    elector = Elector(lease, "me", TIMES)
    with caplog.at_level(logging.WARNING, "gatepost.leading"):
        async with elector.campaigning(ready):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await elector.gained()
            lease.trouble = None
            await elector.gained()
    assert [record.message for record in caplog.records] == ["the Lease cannot be kept or watched"]


@pytest.mark.parametrize(("dry_run", "leases"), [(False, 1), (True, 0)])
async def test_a_single_run_takes_the_lease_and_gives_it_back_and_a_dry_run_takes_none(
    dry_run: bool, leases: int
) -> None:
    async with shop() as place:
        settings = RunSettings(election=Election(leader_elect=True), once=True, dry_run=dry_run)
        assert await run_on(Connection(Server(place.server.url)), settings, asyncio.Event()) == []
        found = (await place.get("/apis/coordination.k8s.io/v1/namespaces/default/leases"))["items"]
        assert [lease["spec"]["holderIdentity"] for lease in found] == [""] * leases
