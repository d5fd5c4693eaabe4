"""Controllers at work for the length of a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gatepost.runtime.controllers import Controllers
from gatepost.runtime.loop.loop import Loop


@asynccontextmanager
async def running(controllers: Controllers) -> AsyncIterator[Loop]:
    """The loop at work; it is stopped at the end of the context. Raises: a fault of the loop itself."""
    stop = asyncio.Event()
    task = asyncio.create_task(controllers.work(stop))
    try:
        yield controllers.loop
    finally:
        stop.set()
        await task
