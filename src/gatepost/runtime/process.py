"""One run of gatepost against a cluster, from settings to a clean end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

from msgspec import Struct

from gatepost.cluster.client import Client
from gatepost.cluster.connection import Connection
from gatepost.cluster.locate import find_connection
from gatepost.objects.settings import Settings
from gatepost.runtime import wiring
from gatepost.runtime.controllers import Controllers
from gatepost.runtime.logs import fields

log = logging.getLogger("gatepost.run")


class RunSettings(Struct, frozen=True, kw_only=True):
    """What to run, and against which cluster.

    Attributes:
        controllers: names of `wiring.CONTROLLERS`.
        once: end as soon as nothing is left to do.
    """

    kubeconfig: str | None = None
    context: str | None = None
    controllers: tuple[str, ...] = ()
    cluster_domain: str = "cluster.local"
    system_namespace: str = "knative-serving"
    dry_run: bool = False
    once: bool = False


async def run(settings: RunSettings, stop: asyncio.Event) -> list[str]:
    """Runs until `stop` is set or, with `once`, until nothing is left to do.

    Returns: what did not succeed with `once`, in words; always empty without it.
    Raises: KubeconfigError if no cluster can be found.
    """
    connection = find_connection(settings.kubeconfig, settings.context)
    what = fields(server=connection.endpoint.server, as_told_by=connection.origin, controllers=settings.controllers)
    log.info("gatepost runs", extra={"fields": {**what["fields"], "dry_run": settings.dry_run}})
    async with controllers_of(connection, settings) as controllers:
        stopped = asyncio.create_task(stop.wait())
        work = asyncio.create_task(controllers.work(stop))
        waiting: list[asyncio.Task[object]] = [stopped, work]
        if settings.once:
            waiting.append(asyncio.create_task(controllers.loop.rest()))
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        failures = controllers.loop.failures if settings.once and not stop.is_set() else []
        stop.set()
        await work
        for task in waiting:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
    log.info("gatepost ends", extra=fields(failures=len(failures)))
    return failures


@contextlib.asynccontextmanager
async def controllers_of(connection: Connection, settings: RunSettings) -> AsyncIterator[Controllers]:
    """The controllers of these settings, ready to run, with a client that is closed at the end."""
    async with Client(connection, dry_run=settings.dry_run) as client:
        wired = wiring.together(wiring.reconcilers(settings.controllers))
        surroundings = Settings(cluster_domain=settings.cluster_domain, system_namespace=settings.system_namespace)
        yield Controllers(
            client,
            wired.rules,
            wired.indexes,
            settings=[surroundings],
            written=wiring.written_kinds(settings.controllers),
        )
