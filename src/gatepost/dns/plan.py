"""A plan as a value: what has to change in DNS, and why; what is held back, and why.

Nothing is deleted on doubt: a deletion needs an object that is gone or has let go of the name. What is held back is in
the plan too, with its reason. `planner.py` makes it.
"""

from __future__ import annotations

from msgspec import Struct

from gatepost.dns.endpoint import Endpoint
from gatepost.dns.targets import same_targets
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref

CREATE = "create"
UPDATE = "update"
DELETE = "delete"

POLICY = "policy"


class Cause(Struct, frozen=True):
    """Why a change is due.

    `kind` is one of new, type, targets, ttl, properties, owner, ownership (that it is ours is not written where it
    should be), gone, detached, doubtful; of what is held also policy. `may_end`: a doubt that --delete-grace puts an
    end to. `is_of_another`: see `Standing`.
    """

    kind: str
    message: str
    at: Ref | None = None
    may_end: bool = False
    is_of_another: bool = False


class PlannedChange(Struct, frozen=True):
    """One change of one record. `old` is None for a creation, `new` for a deletion."""

    action: str
    old: Endpoint | None
    new: Endpoint | None
    causes: tuple[Cause, ...]

    @property
    def record(self) -> Endpoint:
        """The record it is about, as it is to be, or as it was."""
        record = self.new or self.old
        assert record is not None
        return record

    @property
    def touches_record(self) -> bool:
        """False if only the ownership has to be written."""
        return any(cause.kind not in ("owner", "ownership") for cause in self.causes)


def removes(change: PlannedChange) -> bool:
    """Whether a change takes a name away from where it points: a deletion, or an update that keeps no target."""
    if change.old is None or change.new is None:
        return change.action == DELETE
    kept = set(change.old.targets) & set(change.new.targets)
    return not kept and not same_targets(change.old.targets, change.new.targets)


class Held(Struct, frozen=True):
    """A change that is not made, and why. `action` is what would have happened to the record."""

    record: Endpoint
    action: str
    cause: Cause


class Stop(Struct, frozen=True):
    """A plan that removes more than it may. It changes nothing until somebody lets it through."""

    removed: int
    own: int
    limit: float

    @property
    def share(self) -> float:
        return self.removed / self.own

    def __str__(self) -> str:
        return (
            f"this plan deletes or points elsewhere {self.removed} of {self.own} own records ({self.share:.0%}), "
            f"more than {self.limit:.0%} is not done unasked; look through it, and let it through with --allow"
        )


class Plan(Struct, frozen=True):
    """What has to change, sorted by name, set identifier and type.

    Attributes:
        changes: everything that is due. If the plan is stopped they are there to be looked at.
        held: records that stay although nothing (certain) wants them, and changes that the policy leaves out.
        problems: names that cannot be served as wanted.
        stopped: None, or why nothing of it may be done.
    """

    changes: tuple[PlannedChange, ...] = ()
    held: tuple[Held, ...] = ()
    problems: tuple[Problem, ...] = ()
    stopped: Stop | None = None

    @property
    def allowed(self) -> tuple[PlannedChange, ...]:
        """The changes that may be made now."""
        return () if self.stopped is not None else self.changes
