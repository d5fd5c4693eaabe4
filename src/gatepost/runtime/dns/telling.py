"""What is to be told about names, on its way to whoever tells it: the writing of DNS never waits for that."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from gatepost.objects.problems import Problem
from gatepost.writes.outcome import Event

log = logging.getLogger("gatepost.dns")

News = Sequence[Problem | Event]


async def tell_nobody(news: News) -> None:
    """For those who only publish."""


class Telling:
    """Problems and events in the order in which they came.

    Args:
        tell: takes them, many at a time.
        moved: told when some have been taken.
    """

    def __init__(self, tell: Callable[[News], Awaitable[None]], moved: Callable[[], None]) -> None:
        self._tell = tell
        self._moved = moved
        self._waiting: list[Problem | Event] = []
        self._has_news = asyncio.Event()
        self._is_telling = False

    @property
    def is_idle(self) -> bool:
        return not (self._waiting or self._is_telling)

    def add(self, news: News) -> None:
        if news:
            self._waiting.extend(news)
            self._has_news.set()

    async def run(self) -> None:
        """Runs until it is cancelled. That something cannot be told ends nothing."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            news, self._waiting = self._waiting, []
            self._is_telling = True
            try:
                await self._tell(news)
            except Exception:
                log.exception("news about names could not be told; this is a fault of gatepost")
            finally:
                self._is_telling = False
                self._moved()
