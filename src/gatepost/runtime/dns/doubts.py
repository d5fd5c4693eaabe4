"""How long a doubt about a name has lasted, and when it is given up."""

from __future__ import annotations

from collections.abc import Collection

from gatepost.dns.endpoint import NameKey
from gatepost.dns.plan import Held, Plan, PlannedChange
from gatepost.dns.records import RESOURCE
from gatepost.dns.standing import DOUBTFUL, object_behind
from gatepost.objects.problems import Problem
from gatepost.runtime.dns.moments import Moments


class Doubts:
    """Measures doubts that may end from the plan in which they first show until one in which they do not.

    It is kept in memory alone: a new process knows nothing of how long a doubt has lasted and begins anew.

    Args:
        grace_seconds: how long a doubt holds a record; 0 for ever.
    """

    def __init__(self, grace_seconds: float) -> None:
        self._grace_seconds = grace_seconds
        self.moments = Moments()

    def note(self, planned: Collection[NameKey], plan: Plan, now: float) -> None:
        """Takes note of what a plan over these names doubts."""
        if not self._grace_seconds:
            return
        doubted = {held.record.name_key for held in plan.held if held.cause.may_end}
        # Given up is not yet gone: the plan may be stopped, or the provider refuse it.
        doubted |= {change.record.name_key for change in plan.changes if is_given_up(change)}
        for name in planned:
            if name not in doubted:
                self.moments.drop(name)
            elif name not in self.moments:
                self.moments.set(name, now + self._grace_seconds)


def is_given_up(change: PlannedChange) -> bool:
    """Whether a record goes although its object may still want it."""
    return any(cause.kind == DOUBTFUL for cause in change.causes)


def problem_of(held: Held) -> Problem | None:
    """What the object behind a held record is told; None if the doubt is about no object, or none at all.

    It is told to those who want the name, not to the Gateway that all of them share: `held.cause.at` is in the message.
    """
    record = held.record
    behind = None if held.cause.is_of_another else object_behind(record.labels.get(RESOURCE, ""))
    at = behind or held.cause.at
    if held.cause.kind != DOUBTFUL or held.cause.at is None or at is None:
        return None
    message = f"{record.dns_name} {record.record_type} is kept as it is for now: {held.cause.message}"
    return Problem("RecordHeld", message, at)
