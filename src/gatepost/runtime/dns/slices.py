"""Long work in slices: the event loop is given back in between, so that leases are renewed and questions answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import TypeVar

SLICE_SECONDS = 0.01

ItemT = TypeVar("ItemT")


async def in_slices(items: Iterable[ItemT], now: Callable[[], float]) -> AsyncIterator[ItemT]:
    """The items, with a moment for all others whenever it took a while to make and use some of them.

    What the items are made of may change in such a moment.
    Args: now: seconds that only grow.
    """
    ends_at = now() + SLICE_SECONDS
    for item in items:
        yield item
        if now() >= ends_at:
            await asyncio.sleep(0)
            ends_at = now() + SLICE_SECONDS
