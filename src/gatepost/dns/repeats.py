"""Updates that never take: a provider that does not give back what it was sent would be hammered in every round."""

from __future__ import annotations

from collections.abc import Iterable

from gatepost.dns.endpoint import Endpoint, EndpointKey
from gatepost.dns.plan import UPDATE, PlannedChange
from gatepost.objects.problems import Problem

_PATIENCE = 3


class Repeats:
    """Notices updates that are planned again and again as if they had never been made.

    It remembers one update for each record, and forgets it as soon as the record comes out otherwise.
    """

    def __init__(self) -> None:
        self._seen: dict[EndpointKey, tuple[Endpoint, Endpoint, int]] = {}

    def sift(self, changes: Iterable[PlannedChange]) -> tuple[tuple[PlannedChange, ...], tuple[Problem, ...]]:
        """The changes worth making, and a problem for each update that has been made three times to no effect.

        Call it once for each round, with the changes that are about to be sent.
        """
        worth: list[PlannedChange] = []
        problems: list[Problem] = []
        for change in changes:
            if change.action != UPDATE or change.old is None or change.new is None:
                self._seen.pop(change.record.key, None)
                worth.append(change)
                continue
            old, new, times = self._seen.get(change.new.key, (change.old, change.new, 0))
            times = times + 1 if (old, new) == (change.old, change.new) else 1
            self._seen[change.new.key] = (change.old, change.new, times)
            if times <= _PATIENCE:
                worth.append(change)
            else:
                problems += _problem(change)
        return tuple(worth), tuple(problems)

    def forget(self, keys: Iterable[EndpointKey]) -> None:
        """These updates were not made after all, because the provider refused them."""
        for key in keys:
            self._seen.pop(key, None)

    def keep_only(self, keys: Iterable[EndpointKey]) -> None:
        """Forgets all records but those that are still to be changed now that the provider was asked anew.

        Only rounds in a row count: what took and was undone by somebody later is drift, and is repaired.
        """
        still = set(keys)
        self._seen = {key: seen for key, seen in self._seen.items() if key in still}


def _problem(change: PlannedChange) -> list[Problem]:
    about = next((cause.at for cause in change.causes if cause.at is not None), None)
    if about is None:
        return []
    differing = "; ".join(f"{cause.kind}: {cause.message}" for cause in change.causes)
    message = (
        f"{change.record.dns_name} {change.record.record_type} was updated {_PATIENCE} times to no effect ({differing})"
    )
    hint = "The provider does not give back what it was sent; take the setting away, or mend the provider."
    return [Problem("UpdateDoesNotTake", message, about, hint=hint)]
