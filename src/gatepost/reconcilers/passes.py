"""What every kind of Knative has around its own reconcile: conditions made ready before, status put together after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gatepost.objects.conditions import ConditionSet
from gatepost.objects.problems import Problem
from gatepost.objects.serving import DomainMapping, Route
from gatepost.writes.outcome import Apply, Outcome, condition_fields

READY = "Ready"
INTERNAL_ERROR = "InternalError"
NEW_OBSERVED_GENERATION = "NewObservedGenFailure"


class Pass:
    """One pass over an object: its wish, its conditions and the status that has been found so far.

    Before anything else, missing conditions become Unknown and a new generation takes Ready back, so that a pass that
    stops early does not leave the Ready of an older spec standing.
    Source: the generated reconcilers of knative.dev/pkg.
    """

    def __init__(self, obj: DomainMapping | Route, dependents: Sequence[str]) -> None:
        self.out = Outcome.of(obj)
        self.status: dict[str, Any] = {}
        self.conditions = ConditionSet(READY, dependents, obj.status.conditions)
        self.conditions.initialize()
        self._generation = obj.metadata.generation
        self._is_put_off = False
        self.is_new_generation = obj.metadata.generation != obj.status.observed_generation
        if self.is_new_generation:
            # As a mark like any other: while a dependent is False, Ready is False too, but for this reason.
            self.conditions.mark_unknown(
                READY, NEW_OBSERVED_GENERATION, "The new generation has not been reconciled yet."
            )

    def stop(self, problem: Problem) -> None:
        """Ends the pass with an error, told in an event; conditions of later steps stay as they are."""
        self.out.block(problem)
        self.out.warn(INTERNAL_ERROR, str(problem))

    def fail(self, condition: str, problem: Problem) -> None:
        """Marks a condition False and ends the pass with an error. Condition and event tell the same."""
        self.conditions.mark_false(condition, problem.reason, str(problem))
        self.stop(problem)

    def wait(self, problem: Problem) -> None:
        """Ends the pass without an error: what is missing will wake it."""
        self.out.block(problem)

    def put_off(self, note: str) -> None:
        """Ends the pass without a word in the status: what it wants now wakes it, and then there is more to say."""
        self.out.note = note
        self._is_put_off = True

    def finish(self) -> Outcome:
        """The outcome with its status. The generation counts as observed whether or not the pass was stopped."""
        if self._is_put_off:
            return self.out
        self.out.status = self._status_with(self.conditions)
        return self.out

    def if_refused(self, apply: Apply, condition: str, problem: Problem, *, is_failure: bool = True) -> None:
        """What the status says instead while the server refuses an object: the pass as it is, and this mark.

        Args:
            is_failure: False for an Unknown, where the refusal leaves the condition open.
        """
        conditions = self.conditions.copy()
        mark = conditions.mark_false if is_failure else conditions.mark_unknown
        mark(condition, problem.reason, str(problem))
        self.out.status_if_refused[apply.ref] = self._status_with(conditions)

    def _status_with(self, conditions: ConditionSet) -> dict[str, Any]:
        return {
            **self.status,
            "conditions": condition_fields(conditions.result()),
            "observedGeneration": self._generation,
        }


def unchanged(obj: DomainMapping | Route, problem: Problem) -> Outcome:
    """Leaves the object and all that it owns as they are: a setting that decides about them cannot be read."""
    out = Outcome.of(obj)
    out.block(problem)
    return out
