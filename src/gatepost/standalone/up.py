"""All of gatepost on one machine: an API server, a gateway, a DNS server and the controllers, started and watched.

The controllers talk to the API server over HTTP, as they do to a cluster; nothing in them knows that they run here.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from msgspec import Struct

from gatepost.kubernetes.values import Raw
from gatepost.objects.core import EndpointSlice, Service
from gatepost.objects.refs import Ref
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.standalone.apiserver.definitions import load_crds
from gatepost.standalone.apiserver.server import ApiServer
from gatepost.standalone.dataplane import Dataplane, DataplanePorts, gateway_objects
from gatepost.standalone.dnsserver import ClusterZone, DnsServer
from gatepost.standalone.errors import ChildExitedError
from gatepost.standalone.ports import free_ports, require_free

HOST = "127.0.0.1"
CLUSTER_DOMAIN = "cluster.local"
DEFAULT_ZONES = ("example.com", "example.org", "example.net", "test")
SERVICE_NAME_LABEL = "kubernetes.io/service-name"
TRAEFIK_TOKEN = "unused"


class UpSettings(Struct, frozen=True):
    """What a person can choose. A port of 0 chooses a free one.

    Attributes:
        data_dir: where the objects are kept over restarts; None keeps them in memory.
        crds_dir: published CustomResourceDefinitions that take the place of gatepost's compact ones.
        zones: the DNS zones that the DNS server is authoritative for.
    """

    api_port: int = 0
    http_port: int = 0
    https_port: int = 0
    local_port: int = 0
    dns_port: int = 0
    data_dir: Path | None = None
    crds_dir: Path | None = None
    zones: tuple[str, ...] = DEFAULT_ZONES

    def check(self) -> str:
        """What is wrong with these settings, "" if nothing is."""
        if repeated := self._repeated_port():
            return f"Port {repeated} is given twice; each server needs one of its own."
        try:
            EmbeddedProvider(self.zones)
        except ValueError as error:
            return f"--zone: {error}"
        return ""

    def _repeated_port(self) -> int:
        """A port that was given to two servers, 0 if there is none."""
        ports = [self.api_port, self.http_port, self.https_port, self.local_port, self.dns_port]
        return next((port for port in ports if port and ports.count(port) > 1), 0)


class Addresses(Struct, frozen=True):
    """Where everything answers: URLs, and host:port for DNS."""

    api: str
    http: str
    https: str
    local: str
    local_https: str
    dns: str


class Standalone:
    """Starts everything, keeps it running, and stops everything, whatever happened. Use it once.

    Args:
        controllers: runs the controllers until cancelled, given the API server's URL, the DNS provider and its zones.
    """

    def __init__(
        self,
        settings: UpSettings,
        controllers: Callable[[str, EmbeddedProvider, tuple[str, ...]], Coroutine[Any, Any, None]],
    ) -> None:
        self._settings = settings
        self._controllers = controllers
        self._provider = EmbeddedProvider(settings.zones)
        self._exits = contextlib.AsyncExitStack()

    async def run(self, when_ready: Callable[[Addresses, ApiServer], Awaitable[None]]) -> None:
        """Runs until it is cancelled.

        Args:
            when_ready: awaited once, when everything answers.
        Raises: StandaloneError or ApiServerError if something cannot be started or ends by itself.
        """
        async with self._exits:
            api = await self._exits.enter_async_context(self._api_server())
            dns = DnsServer(self._provider, ClusterZone(CLUSTER_DOMAIN, _lookup_in(api)), port=self._settings.dns_port)
            await self._exits.enter_async_context(dns)
            ports = self._ports()
            for raw in gateway_objects(ports):
                # Anew at each start: the ports may differ, and what the user added to them stays.
                await api.apply(raw, "gatepost-up")
            plane = await self._exits.enter_async_context(Dataplane(api.url, TRAEFIK_TOKEN, ports))
            await plane.wait_ready()
            watched = asyncio.create_task(self._watch(plane, api.url))
            self._exits.push_async_callback(_cancelled, watched)
            addresses = Addresses(
                api=api.url,
                http=f"http://{HOST}:{ports.external}",
                https=f"https://{HOST}:{ports.tls}",
                local=f"http://{HOST}:{ports.local}",
                local_https=f"https://{HOST}:{ports.local_tls}",
                dns=f"{HOST}:{dns.port}",
            )
            await when_ready(addresses, api)
            await watched

    def _api_server(self) -> ApiServer:
        settings = self._settings
        crds = load_crds(settings.crds_dir) if settings.crds_dir is not None else []
        return ApiServer(host=HOST, port=settings.api_port, data_dir=settings.data_dir, crds=crds)

    def _ports(self) -> DataplanePorts:
        """The ports of the gateway. Raises: PortTakenError before Traefik fails on one in its own words."""
        chosen = self._settings
        for purpose, port in (
            ("HTTP gateway", chosen.http_port),
            ("HTTPS gateway", chosen.https_port),
            ("local gateway", chosen.local_port),
        ):
            if port:
                require_free(purpose, port, HOST)
        external, local, health, tls, local_tls = free_ports(5, HOST)
        return DataplanePorts(
            external=chosen.http_port or external,
            local=chosen.local_port or local,
            health=health,
            tls=chosen.https_port or tls,
            local_tls=local_tls,
        )

    async def _watch(self, plane: Dataplane, url: str) -> None:
        """Runs the controllers and the gateway side by side; either one's end ends both.

        Raises: ChildExitedError, or what the controllers raised.
        """
        controllers = asyncio.create_task(self._controllers(url, self._provider, self._settings.zones))
        exited = asyncio.create_task(plane.exited())
        try:
            await asyncio.wait([controllers, exited], return_when=asyncio.FIRST_COMPLETED)
            if exited.done():
                end = exited.result()
                raise ChildExitedError("Traefik", end.code, end.last_lines)
            await controllers
        finally:
            await _cancelled(controllers)
            await _cancelled(exited)


async def _cancelled(task: asyncio.Task[Any]) -> None:
    """Ends a task and waits for it; what it raised has been told by whoever waited for it."""
    task.cancel()
    await asyncio.wait([task])


def _lookup_in(api: ApiServer) -> Callable[[str, str], tuple[Raw, list[Raw]] | None]:
    """Where the DNS server finds the Services of cluster-local names: straight in the API server's memory."""

    def lookup(namespace: str, name: str) -> tuple[Raw, list[Raw]] | None:
        service = api.find(Ref("", Service.KIND.kind, namespace, name))
        if service is None:
            return None
        slices = api.select(
            EndpointSlice.KIND.group_kind,
            namespace,
            lambda raw: (raw["metadata"].get("labels") or {}).get(SERVICE_NAME_LABEL) == name,
        )
        return service, slices

    return lookup
