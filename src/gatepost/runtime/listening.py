"""HTTP that gatepost serves beside its work: an address, and an application on it for as long as a block lasts."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from aiohttp import web

from gatepost.call_faults import reason_of_system

_IDLE_SECONDS = 30.0


class CannotListen(Exception):
    """An address is taken, or is none of this machine. The text begins with the flag that it was given with."""


@contextlib.asynccontextmanager
async def listening(app: web.Application, flag: str, host: str, port: int) -> AsyncIterator[int]:
    """Serves an application inside the block.

    Args:
        flag: what sets the address.
        host: "" for all addresses of this machine.
        port: 0 for one that the system chooses.
    Yields: the port.
    Raises: CannotListen
    """
    runner = web.AppRunner(app, access_log=None, keepalive_timeout=_IDLE_SECONDS, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host or None, port).start()
        except OSError as error:
            raise CannotListen(f"{flag} {in_url(host)}:{port}: {reason_of_system(error)}") from error
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


def in_url(host: str) -> str:
    """The host as it stands in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host
