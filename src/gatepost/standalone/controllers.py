"""The controllers of the standalone mode: those of `gatepost run`, against the API server next door."""

from __future__ import annotations

import asyncio

from gatepost.cluster.connection import Connection, Server
from gatepost.dns.settings import DnsSettings
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.runtime.dns.pace import Pace
from gatepost.runtime.process import RunSettings, run_on
from gatepost.runtime.wiring import CONTROLLERS
from gatepost.standalone.dataplane.gateway_objects import EXTERNAL_GATEWAY

SOURCES = ("gateway-httproute", "gateway-grpcroute", "gateway-tlsroute", "crd")
INTERVAL_SECONDS = 60.0


async def run_controllers(url: str, provider: EmbeddedProvider, zones: tuple[str, ...], *, probe: bool = True) -> None:
    """Runs all controllers and the DNS part until cancelled.

    Args:
        url: of the API server.
        zones: names outside them are nobody's business here.
        probe: whether a KIngress is Ready only once the gateway itself says so. Traefik says in a status that it
            accepts a route shortly before it serves it.
    """
    dns = DnsSettings(
        sources=SOURCES,
        # The local Gateway serves names of Services, which the DNS server answers from the Services themselves.
        gateway_name=EXTERNAL_GATEWAY,
        domain_filter=zones,
        policy="sync",
    )
    settings = RunSettings(
        controllers=tuple(CONTROLLERS),
        dns=dns,
        pace=Pace(interval=INTERVAL_SECONDS),
        # The zones live and die with this process: there is nothing to protect from a plan that removes a lot.
        allow=True,
        loopback_gateways=True,
        probe=probe,
        # Whoever tries something out here has a backend of their own, with nothing of Knative in front of it.
        trust_silent_backends=True,
    )
    stop = asyncio.Event()
    work = asyncio.create_task(run_on(Connection(Server(url), origin="gatepost up"), settings, stop, provider))
    try:
        await asyncio.shield(work)
    finally:
        stop.set()
        await work
