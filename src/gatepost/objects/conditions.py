"""The algebra of conditions that Knative's kinds follow: one top condition and the dependents that decide it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from gatepost.objects.meta import Condition


class ConditionSet:
    """The conditions of one object while a pass marks them.

    Marks are applied in the order of the calls, because the top condition carries the reason of the last failure
    marked. A condition that comes out as it went in keeps its transition time; one that changed has None there, and
    the writer puts in the time of the write.
    Source: knative.dev/pkg apis.ConditionSet (living conditions).
    """

    def __init__(self, top: str, dependents: Sequence[str], current: Iterable[Condition]) -> None:
        self._top = top
        self._dependents = tuple(dependents)
        self._before = {condition.type: condition for condition in current}
        self._now = dict(self._before)
        self._age: dict[str, tuple[int, str]] = {
            type_: (-1, condition.last_transition_time or "") for type_, condition in self._before.items()
        }
        self._marks = 0

    def initialize(self) -> None:
        """Adds what is missing: Unknown, or True for dependents of a set whose top condition is already True."""
        top = self._now.get(self._top)
        start = "True" if top is not None and top.status == "True" else "Unknown"
        for type_ in (self._top, *self._dependents):
            if type_ not in self._now:
                self._set(Condition(type_, start))

    def copy(self) -> ConditionSet:
        """A set with the same marks, to see what one more would make of it."""
        other = ConditionSet(self._top, self._dependents, ())
        other._before, other._now, other._age = self._before, dict(self._now), dict(self._age)
        other._marks = self._marks
        return other

    def get(self, type_: str) -> Condition | None:
        return self._now.get(type_)

    def is_true(self, type_: str) -> bool:
        return self._status(type_) == "True"

    def mark_true(self, type_: str, reason: str = "", message: str = "") -> None:
        self._set(Condition(type_, "True", reason, message))
        self._recompute()

    def mark_false(self, type_: str, reason: str, message: str) -> None:
        self._set(Condition(type_, "False", reason, message))
        if type_ in self._dependents:
            self._set(Condition(self._top, "False", reason, message))

    def mark_unknown(self, type_: str, reason: str, message: str) -> None:
        self._set(Condition(type_, "Unknown", reason, message))
        if any(self._status(dependent) == "False" for dependent in self._dependents):
            if self._status(self._top) != "False":
                self._set(Condition(self._top, "False", reason, message))
        elif type_ in self._dependents:
            self._set(Condition(self._top, "Unknown", reason, message))

    def result(self) -> tuple[Condition, ...]:
        """All conditions, sorted by type. Those that equal what was there before keep their old transition time."""
        return tuple(self._settled(self._now[type_]) for type_ in sorted(self._now))

    def _settled(self, condition: Condition) -> Condition:
        before = self._before.get(condition.type)
        return before if before is not None and _same(before, condition) else condition

    def _status(self, type_: str) -> str:
        condition = self._now.get(type_)
        return condition.status if condition is not None else "Unknown"

    def _set(self, condition: Condition) -> None:
        if condition.type != self._top and condition.type not in self._dependents:
            condition = structs.replace(condition, severity="Info")
        present = self._now.get(condition.type)
        if present is not None and _same(present, condition):
            return
        self._now[condition.type] = condition
        self._age[condition.type] = (self._marks, "")
        self._marks += 1

    def _recompute(self) -> None:
        unhappy = self._newest_unhappy()
        if unhappy is not None:
            self._set(Condition(self._top, unhappy.status, unhappy.reason, unhappy.message))
        elif any(dependent not in self._now for dependent in self._dependents):
            self._set(Condition(self._top, "Unknown"))
        else:
            self._set(Condition(self._top, "True"))

    def _newest_unhappy(self) -> Condition | None:
        # By type first: those that changed at the same time are stored in this order, and then the first one counts.
        present = [self._now[type_] for type_ in sorted(self._dependents) if type_ in self._now]
        newest_first = sorted(present, key=lambda condition: self._age[condition.type], reverse=True)
        for status in ("False", "Unknown"):
            for condition in newest_first:
                if condition.status == status:
                    return condition
        return None


def _same(one: Condition, other: Condition) -> bool:
    return (one.type, one.status, one.reason, one.message, one.severity) == (
        other.type,
        other.status,
        other.reason,
        other.message,
        other.severity,
    )
