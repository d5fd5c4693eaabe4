"""Names that wait for a moment of their own."""

from __future__ import annotations

from gatepost.dns.endpoint import NameKey


class Moments:
    """When which name is due. Each moment comes once: a name that has been taken waits for whatever else wakes it."""

    def __init__(self) -> None:
        self._at: dict[NameKey, float] = {}
        self._taken: set[NameKey] = set()

    def __contains__(self, name: NameKey) -> bool:
        return name in self._at

    def __bool__(self) -> bool:
        return bool(self._at)

    def set(self, name: NameKey, at: float) -> None:
        self._at[name] = at
        self._taken.discard(name)

    def drop(self, name: NameKey) -> None:
        self._at.pop(name, None)
        self._taken.discard(name)

    def has_come(self, name: NameKey, now: float) -> bool:
        """Whether the name waits for nothing: its moment has come, or it never had one."""
        return self._at.get(name, now) <= now

    def past(self, now: float) -> frozenset[NameKey]:
        """The names whose moment has come, taken or not."""
        return frozenset(name for name, at in self._at.items() if at <= now)

    def take(self, now: float) -> frozenset[NameKey]:
        """The names whose moment has come since it was last asked."""
        taken = self.past(now) - self._taken
        self._taken |= taken
        return taken

    def next(self) -> float | None:
        """The next moment that has not been taken, None if there is none."""
        return min((at for name, at in self._at.items() if name not in self._taken), default=None)
