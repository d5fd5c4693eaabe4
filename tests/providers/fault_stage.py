"""Clusters, instances of gatepost and a zone on a real server; the proxies between all of them can misbehave."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta

from api_cluster import Cluster, cluster_at
from api_proxy import ApiProxy
from dns_proxy import DnsProxy, proxy_before
from dns_servers import KEY_NAME, KEY_SECRET, ZONE, DnsServer
from zone_referee import Referee

from gatepost.cluster.connection import Connection, Server
from gatepost.dns.settings import DnsSettings
from gatepost.providers.rfc2136.provider import Rfc2136Provider
from gatepost.providers.rfc2136.settings import Rfc2136Settings
from gatepost.runtime.dns.pace import Pace
from gatepost.runtime.loop.loop import Loop
from gatepost.runtime.process import RunSettings, controllers_on
from running_controllers import running

ADDRESSES = {"east": "192.0.2.1", "west": "198.51.100.2"}
LASTING = 3  # names of each owner that are asked for from beginning to end; so few that no cap on removals helps
COMPARE_SECONDS = 0.05
PATIENCE_SECONDS = 20.0
LOOK_SECONDS = 0.02


class WallClock:
    """The time of day as gatepost sees it, wrong by some seconds."""

    def __init__(self) -> None:
        self.wrong_by = 0.0

    def time(self) -> float:
        return time.time() + self.wrong_by

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.wrong_by)

    @contextlib.contextmanager
    def right(self) -> Iterator[None]:
        """For those who look from outside."""
        wrong_by, self.wrong_by = self.wrong_by, 0.0
        yield
        self.wrong_by = wrong_by


class Instance:
    """A gatepost that runs, with the proxies through which it sees its cluster and the zone."""

    def __init__(self, loop: Loop, dns: DnsProxy, api: ApiProxy, stack: contextlib.AsyncExitStack) -> None:
        self.loop = loop
        self.dns = dns
        self.api = api
        self._stack = stack

    async def stop(self) -> None:
        await self._stack.aclose()

    async def compares(self) -> None:
        """Returns when it has asked the server anew and compared everything, at least once from beginning to end.

        It asks for the next comparison only when all that followed from the last one has been done.
        """
        seen = self.dns.queries
        await until(lambda: self.dns.queries > seen + 2)

    async def sees(self, is_so: Callable[[Loop], bool]) -> None:
        """Returns when something is so in what it knows, and it has compared everything since."""
        await until(lambda: is_so(self.loop))
        await self.compares()


class Stage:
    """One zone, a cluster for each owner, and who asks for what. `clock` is that of all instances."""

    def __init__(
        self, server: DnsServer, clusters: dict[str, Cluster], clock: WallClock, stack: contextlib.AsyncExitStack
    ) -> None:
        self.clock = clock
        self.referee = Referee(server, dict(ADDRESSES))
        self.clusters = clusters
        self._server = server
        self._stack = stack
        self._dropped: set[str] = set()

    async def start(
        self, owner: str, *, batch_size: int = 50, trouble: Callable[[DnsProxy, ApiProxy], None] | None = None
    ) -> Instance:
        """An instance of gatepost. `trouble`: sets its proxies to what it meets from the beginning."""
        stack = contextlib.AsyncExitStack()
        await self._stack.enter_async_context(stack)
        dns = await stack.enter_async_context(proxy_before(self._server.port))
        dns.on_update = lambda wire: self.referee.judge(owner, wire)
        api = await stack.enter_async_context(ApiProxy(self.clusters[owner].server.url).serving())
        if trouble is not None:
            trouble(dns, api)
        settings = RunSettings(
            dns=DnsSettings(sources=("gateway-httproute",), txt_owner_id=owner),
            pace=Pace(interval=COMPARE_SECONDS),
        )
        provider = Rfc2136Provider(
            Rfc2136Settings(
                rfc2136_host=("127.0.0.1",),
                rfc2136_port=dns.port,
                rfc2136_zone=(ZONE,),
                rfc2136_tsig_keyname=KEY_NAME,
                rfc2136_tsig_secret=KEY_SECRET,
                rfc2136_batch_change_size=batch_size,
                rfc2136_timeout=5,
            )
        )
        controllers = await stack.enter_async_context(controllers_on(Connection(Server(api.url)), settings, provider))
        loop = await stack.enter_async_context(running(controllers))
        return Instance(loop, dns, api, stack)

    # What people do

    async def move_gateway(self, owner: str, address: str) -> None:
        """The Gateway has another address from now on."""
        self.referee.addresses[owner] = address
        await self.clusters[owner].give_address(address)

    async def ask(self, owner: str, route: str, *names: str) -> None:
        """A Route asks for these names and no others from now on."""
        asked = self.referee.asked[owner]
        is_there = route in asked.values()
        self._forget(owner, [name for name, by in asked.items() if by == route and name not in names])
        cluster = self.clusters[owner]
        await (cluster.move_route(route, *names) if is_there else cluster.make_route(route, *names))
        asked.update(dict.fromkeys(names, route))

    async def delete(self, owner: str, route: str) -> None:
        self._forget(owner, [name for name, by in self.referee.asked[owner].items() if by == route])
        await self.clusters[owner].delete_route(route)

    def _forget(self, owner: str, names: list[str]) -> None:
        for name in names:
            del self.referee.asked[owner][name]
        self._dropped.update(names)

    # What must be so

    async def is_as_wanted(self) -> None:
        """Returns when the zone is as it has to be."""
        with contextlib.suppress(TimeoutError):
            await until(lambda: self.referee.zone() == self.referee.wanted())
        there, wanted = self.referee.zone(), self.referee.wanted()
        assert there == wanted, f"too many: {sorted(there - wanted)}; missing: {sorted(wanted - there)}"

    def judge(self) -> None:
        """Fails if anything was done since the beginning that must not be done."""
        assert not self.referee.offences, self.referee.offences
        lasting = {name for asked in self.referee.asked.values() for name in asked} - self._dropped
        offences = self.referee.offences_of_history(lasting)
        assert not offences, offences


async def until(is_so: Callable[[], bool]) -> None:
    """Looks again and again: what is outside of this process tells nobody when it changes. Raises: TimeoutError."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            if is_so():
                return
            await asyncio.sleep(LOOK_SECONDS)


@contextlib.asynccontextmanager
async def stage_before(server: DnsServer, clock: WallClock) -> AsyncIterator[Stage]:
    """Each owner asks for a few names, and has not published them yet."""
    async with contextlib.AsyncExitStack() as stack:
        clusters = {owner: await stack.enter_async_context(cluster_at(address)) for owner, address in ADDRESSES.items()}
        stage = Stage(server, clusters, clock, stack)
        for owner in clusters:
            for number in range(LASTING):
                await stage.ask(owner, f"route{number}", f"{owner}{number}.{ZONE}")
        yield stage
