"""Changes that the provider refused: each name is tried again by itself, later and later, and holds up no other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from gatepost.cluster.backoff import Backoff
from gatepost.dns.endpoint import Endpoint, EndpointKey, NameKey
from gatepost.dns.plan import PlannedChange
from gatepost.objects.problems import Problem
from gatepost.runtime.dns.moments import Moments

FIRST_SECONDS, LONGEST_SECONDS = 5.0, 3600.0

_Wish = tuple[str, Endpoint | None, Endpoint | None]


class _Refused(Struct):
    """What was refused of a name, how often in a row, and what its objects are told."""

    wishes: Sequence[_Wish]
    backoff: Backoff
    problems: Sequence[Problem]


class Quarantine:
    """Holds the changes of a name that were refused until their time; a new wish for the name is tried at once."""

    def __init__(self) -> None:
        self.moments = Moments()
        self._refused: dict[NameKey, _Refused] = {}

    def __len__(self) -> int:
        """How many names wait."""
        return len(self._refused)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with all names that wait."""
        return tuple(problem for refused in self._refused.values() for problem in refused.problems)

    def sift(
        self, planned: Collection[NameKey], changes: Sequence[PlannedChange], now: float
    ) -> tuple[PlannedChange, ...]:
        """The changes to make now.

        The changes of a name go or wait together, since a change of type is one wish in two changes.
        Args: planned: the names that were planned; those without a change have nothing to wait for any more.
        """
        by_name: dict[NameKey, list[PlannedChange]] = {}
        for change in changes:
            by_name.setdefault(change.record.name_key, []).append(change)
        for name in [name for name in self._refused if name in planned and name not in by_name]:
            self._release(name)
        waiting = {name for name, found in by_name.items() if self._waits(name, found, now)}
        return tuple(change for change in changes if change.record.name_key not in waiting)

    def note(
        self,
        sent: Iterable[PlannedChange],
        refused: Collection[EndpointKey],
        problems: Mapping[NameKey, Sequence[Problem]],
        now: float,
    ) -> None:
        """Takes note of how changes went. `problems`: what the objects of a refused name are told."""
        failed: dict[NameKey, list[_Wish]] = {}
        for change in sent:
            wishes = failed.setdefault(change.record.name_key, [])
            if change.record.key in refused:
                wishes.append(_wish(change))
        for name, wishes in failed.items():
            if not wishes:
                self._release(name)
                continue
            before = self._refused.get(name)
            is_same = before is not None and all(wish in before.wishes for wish in wishes)
            backoff = before.backoff if before is not None and is_same else Backoff(FIRST_SECONDS, LONGEST_SECONDS)
            self._refused[name] = _Refused(wishes, backoff, problems.get(name, ()))
            self.moments.set(name, now + backoff.next_seconds())

    def _waits(self, name: NameKey, changes: Sequence[PlannedChange], now: float) -> bool:
        refused = self._refused.get(name)
        if refused is None or self.moments.has_come(name, now):
            return False
        return all(_wish(change) in refused.wishes for change in changes)

    def _release(self, name: NameKey) -> None:
        self._refused.pop(name, None)
        self.moments.drop(name)


def _wish(change: PlannedChange) -> _Wish:
    return (change.action, change.old, change.new)
