"""How often DNS is written and listed when gatepost runs with the flags for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from gatepost.cluster.connection import Connection, Server
from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.settings import DnsSettings
from gatepost.providers.contract import RecordResult
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.runtime.dns.pace import Pace
from gatepost.runtime.process import RunSettings, controllers_on
from gatepost.standalone.apiserver.server import ApiServer
from running_controllers import running


class Timed(EmbeddedProvider):
    """Zones in memory that note when they are written and listed."""

    def __init__(self) -> None:
        super().__init__(["example.com"])
        self.writes: asyncio.Queue[float] = asyncio.Queue()
        self.listings: asyncio.Queue[float] = asyncio.Queue()

    async def records(self) -> Sequence[Endpoint]:
        self.listings.put_nowait(asyncio.get_running_loop().time())
        return await super().records()

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        self.writes.put_nowait(asyncio.get_running_loop().time())
        return await super().apply(changes)


def written_down(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "externaldns.k8s.io/v1alpha1",
        "kind": "DNSEndpoint",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"endpoints": [{"dnsName": f"{name}.example.com", "recordType": "A", "targets": ["192.0.2.1"]}]},
    }


@asynccontextmanager
async def publishing(api: ApiServer, provider: Timed, pace: Pace) -> AsyncIterator[None]:
    settings = RunSettings(dns=DnsSettings(sources=("crd",)), pace=pace)
    async with controllers_on(Connection(Server(api.url)), settings, provider) as controllers, running(controllers):
        yield


async def test_two_writes_keep_the_shortest_time_between_them() -> None:
    provider = Timed()
    async with ApiServer() as api, publishing(api, provider, Pace(min_event_sync_interval=0.4)):
        await api.apply(written_down("a"), "test")
        first = await provider.writes.get()
        await api.apply(written_down("b"), "test")
        assert await provider.writes.get() - first >= 0.4


async def test_the_provider_is_listed_at_the_interval() -> None:
    provider = Timed()
    async with ApiServer() as api, publishing(api, provider, Pace(interval=0.2)):
        first = await provider.listings.get()
        assert await provider.listings.get() - first >= 0.2
    assert provider.writes.empty()


async def test_a_cache_holds_a_short_interval_back() -> None:
    provider = Timed()
    async with ApiServer() as api, publishing(api, provider, Pace(interval=0.05, txt_cache_interval=0.3)):
        first = await provider.listings.get()
        assert await provider.listings.get() - first >= 0.3
