"""What has been said already: a log line or an event comes once, not each time that the same is found again."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
ItemT = TypeVar("ItemT", bound=Hashable)


class Said(Generic[KeyT, ItemT]):
    """What was said last of each key."""

    def __init__(self) -> None:
        self._said: dict[KeyT, tuple[ItemT, ...]] = {}

    def of(self, key: KeyT) -> tuple[ItemT, ...]:
        return self._said.get(key, ())

    def take_news(self, key: KeyT, items: Iterable[ItemT]) -> list[ItemT]:
        """Those of `items` that were not said last time, each once.

        From now on all of them count as said, and nothing else: what went and came back is news again.
        """
        before = self.of(key)
        now = tuple(dict.fromkeys(items))
        if now:
            self._said[key] = now
        else:
            self.forget(key)
        return [item for item in now if item not in before]

    def forget(self, key: KeyT) -> None:
        self._said.pop(key, None)
