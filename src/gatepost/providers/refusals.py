"""Batches that a provider makes whole or not at all: which of them, and who in them, it refuses."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from gatepost.providers.bundles import halves
from gatepost.providers.contract import RecordResult

_T = TypeVar("_T")


class Refusal(Exception):
    """A provider said no, and changed nothing. `is_for_all`: it says so whatever the records are."""

    def __init__(self, message: str, *, is_for_all: bool) -> None:
        super().__init__(message)
        self.is_for_all = is_for_all


async def send_in_halves(
    batches: Iterable[Sequence[_T]],
    send: Callable[[Sequence[_T]], Awaitable[None]],
    results_of: Callable[[_T, str], Iterable[RecordResult]],
) -> list[RecordResult]:
    """Sends batches one after the other; one that is refused in halves, so that only the culprits are left out.

    A refusal that has nothing to do with the records, such as a rate limit that is used up, is the last call: what is
    left is refused with it.
    Args:
        send: sends a batch; raises Refusal.
        results_of: the results of one of its parts, with why it was refused or "".
    Raises: whatever else `send` raises.
    """
    results: list[RecordResult] = []
    waiting = deque(batches)
    refusal = ""
    while waiting:
        batch = waiting.popleft()
        error = refusal
        if not refusal:
            try:
                await send(batch)
            except Refusal as refused:
                if len(batch) > 1 and not refused.is_for_all:
                    waiting.extendleft(reversed(halves(batch)))
                    continue
                error = str(refused)
                refusal = error if refused.is_for_all else ""
        results += [result for part in batch for result in results_of(part, error)]
    return results
