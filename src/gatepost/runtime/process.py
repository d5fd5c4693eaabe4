"""One run of gatepost against a cluster, from settings to a clean end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import AsyncIterator
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from gatepost.cluster.client import Client
from gatepost.cluster.connection import Connection
from gatepost.cluster.lease import ClusterLease
from gatepost.cluster.locate import find_connection
from gatepost.cluster.rate import TokenBucket
from gatepost.cluster.settings import ApiSettings
from gatepost.dns.settings import DnsSettings
from gatepost.log_fields import fields
from gatepost.objects.settings import Settings
from gatepost.providers.contract import Provider
from gatepost.runtime import wiring
from gatepost.runtime.controllers import Controllers
from gatepost.runtime.dns.pace import Pace
from gatepost.runtime.dns.part import DnsPart
from gatepost.runtime.dns.registries import RegistrySettings, store_named
from gatepost.runtime.dns.txt_encryption import cipher_for
from gatepost.runtime.leadership.election import Election
from gatepost.runtime.leadership.leading import Alone, Elector, Leadership, own_identity
from gatepost.runtime.listening import in_url, listening
from gatepost.runtime.status_pages import status_pages

log = logging.getLogger("gatepost.run")


class RunSettings(Struct, frozen=True, kw_only=True):
    """What to run, and against which cluster.

    Attributes:
        controllers: names of `wiring.CONTROLLERS`.
        dns: the settings of the DNS part, None to run without one.
        registries: where ownership is kept, for registries outside of DNS.
        pace: how often DNS is written, and compared with what the provider really holds.
        allow: lets DNS plans through however much they remove.
        loopback_gateways: see `objects.settings.Settings`.
        probe: ask the data plane whether it serves what KIngresses want.
        trust_silent_backends: where a backend does not answer probes, that requests reach it is enough.
        once: end as soon as nothing is left to do.
        api: how the Kubernetes API is called.
        election: whether replicas settle who of them writes.
        status_address: host ("" for all) and port where probes and metrics are served, None for nowhere; with `once`
            they never are.
    """

    kubeconfig: str | None = None
    context: str | None = None
    server: str = ""
    controllers: tuple[str, ...] = ()
    cluster_domain: str = "cluster.local"
    system_namespace: str = "knative-serving"
    dns: DnsSettings | None = None
    registries: RegistrySettings = MappingProxyType({})
    pace: Pace = Pace()
    allow: bool = False
    loopback_gateways: bool = False
    probe: bool = False
    trust_silent_backends: bool = False
    dry_run: bool = False
    once: bool = False
    api: ApiSettings = ApiSettings()
    election: Election = Election()
    status_address: tuple[str, int] | None = None


async def run(settings: RunSettings, stop: asyncio.Event, provider: Provider | None = None) -> list[str]:
    """Finds the cluster and runs against it, see `run_on`. Raises: KubeconfigError if no cluster can be found."""
    connection = find_connection(settings.kubeconfig, settings.context, server=settings.server)
    return await run_on(connection, settings, stop, provider)


async def run_on(
    connection: Connection, settings: RunSettings, stop: asyncio.Event, provider: Provider | None = None
) -> list[str]:
    """Runs until `stop` is set or, with `once`, until nothing is left to do.

    Args: provider: where DNS is written; needed if there are settings for it.
    Returns: what did not succeed with `once`, in words; always empty without it.
    Raises: CannotListen at `status_address`.
    """
    said = fields(
        server=connection.server.url,
        as_told_by=connection.origin,
        controllers=settings.controllers,
        sources=settings.dns.sources if settings.dns is not None else (),
        dry_run=settings.dry_run,
    )
    log.info("gatepost runs", extra=said)
    async with (
        controllers_on(connection, settings, provider) as controllers,
        _telling_status(settings, controllers),
    ):
        work = asyncio.create_task(controllers.work(stop))
        waiting: list[asyncio.Task[None]] = [work]
        if settings.once:
            waiting.append(asyncio.create_task(controllers.loop.rest()))
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            failures = controllers.loop.failures if settings.once and not stop.is_set() else []
        finally:
            stop.set()
            await work
            for task in waiting[1:]:
                task.cancel()
    log.info("gatepost ends", extra=fields(failures=len(failures)))
    return failures


@contextlib.asynccontextmanager
async def controllers_on(
    connection: Connection, settings: RunSettings, provider: Provider | None = None
) -> AsyncIterator[Controllers]:
    """The controllers of these settings, ready to run, with a client that is closed at the end."""
    parts = [wiring.reconcilers(settings.controllers)]
    if settings.probe:
        parts.append(wiring.probing(settings.controllers))
    dns: DnsPart | None = None
    if settings.dns is not None and provider is not None:
        parts.append(wiring.dns_part(settings.dns, writes_status=True))
        cipher = cipher_for(settings.dns)
        dns = DnsPart(settings.dns, provider, settings.pace, settings.allow, cipher)
    wired = wiring.together(*parts)
    surroundings = Settings(
        cluster_domain=settings.cluster_domain,
        system_namespace=settings.system_namespace,
        loopback_gateways=settings.loopback_gateways,
        probe=settings.probe,
    )
    async with leadership_on(connection, settings) as leadership, _client(connection, settings, leadership) as client:
        if dns is not None:
            dns = replace(dns, store=store_named(dns.settings.registry, settings.registries, client))
        yield Controllers(
            client,
            wired.rules,
            wired.indexes,
            settings=[surroundings],
            written=wiring.written_kinds(settings.controllers, dns.settings if dns is not None else None),
            dns=dns,
            trust_silent_backends=settings.trust_silent_backends,
            leadership=leadership,
        )


@contextlib.asynccontextmanager
async def leadership_on(connection: Connection, settings: RunSettings) -> AsyncIterator[Leadership]:
    """What decides whether this process writes. It has a client of its own, so that nothing holds up its calls."""
    election = settings.election
    if not election.leader_elect or settings.dry_run:
        yield Alone()
        return
    async with Client(connection) as client:
        namespace = election.leader_elect_resource_namespace or connection.namespace
        lease = ClusterLease(client, namespace, election.leader_elect_resource_name)
        yield Elector(lease, own_identity(), election.times)


@contextlib.asynccontextmanager
async def _telling_status(settings: RunSettings, controllers: Controllers) -> AsyncIterator[None]:
    """Serves probes and metrics while the controllers work, if the settings say where."""
    if settings.status_address is None or settings.once:
        yield
        return
    from gatepost.runtime.metrics import metrics_of  # the library is loaded by those who serve metrics alone

    host, port = settings.status_address
    pages = status_pages(metrics_of(controllers), lambda: controllers.loop.missing)
    async with listening(pages, "--metrics-address", host, port) as at:
        log.info("probes and metrics are served", extra=fields(address=f"{in_url(host)}:{at}"))
        yield


def _client(connection: Connection, settings: RunSettings, leadership: Leadership) -> Client:
    api = settings.api
    return Client(
        connection,
        dry_run=settings.dry_run,
        answer_seconds=api.kube_api_request_timeout,
        may_write=lambda: leadership.is_held,
        limit=TokenBucket(api.kube_api_qps, api.kube_api_burst) if api.kube_api_qps < math.inf else None,
    )
