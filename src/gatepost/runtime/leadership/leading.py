"""Leading in practice: the Lease is tried again and again, and whoever writes asks here whether it may."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import random
import socket
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Protocol

from gatepost.cluster.errors import ClusterError
from gatepost.cluster.lease import FoundLease, Lease, Outpaced
from gatepost.log_fields import fields
from gatepost.runtime.clock import Clock, LoopClock
from gatepost.runtime.leadership.candidate import Candidate
from gatepost.runtime.leadership.election import RETRY_JITTER, LeaseTimes

log = logging.getLogger("gatepost.leading")


class Leadership(Protocol):
    """Whether this process is the one that writes."""

    @property
    def is_held(self) -> bool: ...

    @property
    def leader(self) -> str:
        """Who leads as far as is known, "" for nobody."""
        ...

    async def gained(self) -> None:
        """Returns as soon as it is held."""
        ...

    async def lost(self) -> None:
        """Returns as soon as it is held no more."""
        ...

    def campaigning(self, ready: Callable[[], Awaitable[object]]) -> AbstractAsyncContextManager[None]:
        """Tries to hold it inside the block, from when `ready` returns; gives it back at the end of the block."""
        ...


class Alone:
    """The leadership of a process that shares its work with no other."""

    @property
    def is_held(self) -> bool:
        return True

    @property
    def leader(self) -> str:
        return ""

    @contextlib.asynccontextmanager
    async def campaigning(self, ready: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
        yield

    async def gained(self) -> None:
        return

    async def lost(self) -> None:
        await asyncio.Event().wait()


class Leases(Protocol):
    """Where the Lease is, see `cluster.lease.ClusterLease`."""

    async def read(self) -> FoundLease | None: ...

    async def write(self, lease: Lease, over: FoundLease | None) -> FoundLease: ...


class Elector:
    """A leadership that is won and kept through a Lease.

    It ends by itself when its time is over, whether or not the cluster answers, or anything here runs.
    """

    def __init__(
        self,
        leases: Leases,
        identity: str,
        times: LeaseTimes,
        *,
        clock: Clock | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._leases = leases
        self._times = times
        self._candidate = Candidate(identity, times)
        self._clock = clock or LoopClock()
        self._now = now
        self._chance = chance
        self._changed = asyncio.Event()
        self._campaigning: asyncio.Task[None] | None = None
        self._leader_said = ""
        self._error_said = ""

    @property
    def is_held(self) -> bool:
        return self._candidate.is_leading(self._clock.now())

    @property
    def leader(self) -> str:
        return self._candidate.leader

    async def gained(self) -> None:
        while not self.is_held:
            if self._campaigning is not None and self._campaigning.done():
                self._campaigning.result()  # a fault of ours: without it this replica would follow for ever
            await self._until_changed(math.inf)

    async def lost(self) -> None:
        while self.is_held:
            await self._until_changed(self._candidate.leads_until)

    async def _until_changed(self, until: float) -> None:
        self._changed.clear()
        if until == math.inf:
            await self._changed.wait()
        else:
            await self._clock.wait(self._changed, until)

    @contextlib.asynccontextmanager
    async def campaigning(self, ready: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
        """See `Leadership`. Nothing may be written any more when the block ends, for others lead at once."""
        task = self._campaigning = asyncio.create_task(self._campaign(ready))
        task.add_done_callback(lambda _: self._changed.set())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await self._resign()

    async def _campaign(self, ready: Callable[[], Awaitable[object]]) -> None:
        await ready()
        while True:
            await self._try()
            self._say_leader()
            jitter = 1.0 if self.is_held else 1.0 + (RETRY_JITTER - 1.0) * self._chance()
            await asyncio.sleep(self._times.retry_period_seconds * jitter)

    async def _try(self) -> None:
        """Reads the Lease and takes or renews it if that may be done. No failure of the cluster ends it."""
        try:
            async with asyncio.timeout(self._times.renew_deadline_seconds / 2):  # so a hanging call can be tried again
                await self._bid()
        except Outpaced as outpaced:
            log.debug("another replica was faster", extra=fields(error=outpaced))
        except (ClusterError, TimeoutError) as error:
            self._say_error(str(error) or "no answer in time")
        else:
            self._error_said = ""

    async def _bid(self) -> None:
        candidate = self._candidate
        candidate.see(await self._leases.read(), self._clock.now())
        self._changed.set()
        if not candidate.may_take(self._clock.now()):
            return
        lease, over = candidate.bid(self._now())
        sent_at = self._clock.now()
        candidate.won(await self._leases.write(lease, over), sent_at)
        self._changed.set()

    async def _resign(self) -> None:
        try:
            async with asyncio.timeout(self._times.renew_deadline_seconds / 2):
                # Read anew: a renewal may have been cut off on its way, and is there or not.
                self._candidate.see(await self._leases.read(), self._clock.now())
                left = self._candidate.resignation(self._now())
                if left is None:
                    return
                await self._leases.write(*left)
        except (ClusterError, TimeoutError) as error:
            message = "the Lease could not be given back; others take it when it runs out"
            log.warning(message, extra=fields(lease=self._leases, error=str(error) or "no answer in time"))
        else:
            log.info("the Lease was given back", extra=fields(lease=self._leases))

    def _say_leader(self) -> None:
        leader = self._candidate.identity if self.is_held else self._candidate.leader
        if leader == self._leader_said:
            return
        self._leader_said = leader
        if self.is_held:
            log.info("this replica leads", extra=fields(lease=self._leases, identity=leader))
        elif leader:
            log.info("another replica leads; this one follows", extra=fields(lease=self._leases, leader=leader))

    def _say_error(self, error: str) -> None:
        level = logging.DEBUG if error == self._error_said else logging.WARNING
        self._error_said = error
        log.log(level, "the Lease cannot be kept or watched", extra=fields(lease=self._leases, error=error))


def own_identity() -> str:
    """An identity that no other process has, and that shows where this one runs. Source: client-go, as its users do."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"
