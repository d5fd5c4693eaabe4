"""A task for each key that is wanted: it asks the outside world again and again while a rule needs the answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Iterable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from gatepost.log_fields import fields
from gatepost.runtime.loop.movements import Movements

log = logging.getLogger("gatepost.loop")

KeyT = TypeVar("KeyT", bound=Hashable)


class WantedTasks(Generic[KeyT]):
    """Begins a task when its key is wanted for the first time, cancels it when the key is wanted no more.

    Args:
        subject: what a task is of, in its name and in logs: "look-up".
        work: what is done for a key. It calls `note_asked` whenever it has asked, whatever it was told.
        drop: hears of each key that is wanted no more.
        movements: notes each time that something was asked.
    """

    def __init__(
        self,
        subject: str,
        work: Callable[[KeyT], Coroutine[None, None, None]],
        drop: Callable[[KeyT], None],
        movements: Movements,
    ) -> None:
        self._subject = subject
        self._work = work
        self._drop = drop
        self._movements = movements
        self._tasks: dict[KeyT, asyncio.Task[None]] = {}
        self._unasked: set[KeyT] = set()

    def want(self, keys: Iterable[KeyT]) -> None:
        """From now on just these are wanted."""
        wanted = dict.fromkeys(keys)
        for key in [key for key in self._tasks if key not in wanted]:
            self._tasks.pop(key).cancel()
            self._unasked.discard(key)
            self._drop(key)
        for key in wanted:
            if key not in self._tasks:
                self._begin(key)

    def _begin(self, key: KeyT) -> None:
        self._unasked.add(key)
        task = asyncio.create_task(self._work(key), name=f"{self._subject} of {key}")
        task.add_done_callback(lambda ended: self._note_end(key, ended))
        self._tasks[key] = task

    def note_asked(self, key: KeyT) -> None:
        self._unasked.discard(key)
        self._movements.note()

    def have_asked(self, keys: Iterable[KeyT]) -> bool:
        """Whether each of these has asked at least once, whatever it was told."""
        return all(key in self._tasks and key not in self._unasked for key in keys)

    @asynccontextmanager
    async def following(self, want: Callable[[], None]) -> AsyncIterator[None]:
        """Calls `want`, again after each movement, until the end of the context."""

        async def follow() -> None:
            seen = -1
            while True:
                want()
                seen = await self._movements.after(seen)

        following = asyncio.create_task(follow())
        try:
            yield
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
            await self.stop()

    async def stop(self) -> None:
        tasks = list(self._tasks.values())
        self._tasks.clear()
        self._unasked.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _note_end(self, key: KeyT, ended: asyncio.Task[None]) -> None:
        """A task that ends with an error has a fault of ours: what it told last stands, the others go on."""
        error = None if ended.cancelled() else ended.exception()
        if error is not None:
            said = fields(subject=self._subject, key=key)
            log.error("a task stopped; this is a fault of gatepost", exc_info=error, extra=said)
            self.note_asked(key)
