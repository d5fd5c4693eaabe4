"""The order in which an outcome is carried out, for whoever does it.

    finalizers that come -> applies, all of them -> deletes -> finalizers that go -> status
                                     |
                                     +-- one was refused -> the status for that, if the outcome has one

Each step rests on those before it: what is deleted has its replacement, what a finalizer guards is cleaned up, and a
status speaks of what is there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from gatepost.objects.refs import Ref
from gatepost.writes.outcome import Apply, Delete, Outcome


class FinalizersStep(Struct, frozen=True):
    """Sets the finalizers of an object: at first only those that come, in the end all as wanted."""

    ref: Ref
    wanted: tuple[str, ...]
    releases: bool

    def after(self, present: Sequence[str]) -> tuple[str, ...]:
        """The finalizers that the object has after this step; as they are if nothing is to be written."""
        if set(present) == set(self.wanted):
            return tuple(present)  # their order means nothing
        if self.releases:
            return self.wanted
        return (*present, *(name for name in self.wanted if name not in present))


class StatusStep(Struct, frozen=True):
    """Writes the wish for a status."""

    ref: Ref
    wish: Mapping[str, Any]


FirstStep: TypeAlias = FinalizersStep | Apply
LastStep: TypeAlias = Delete | FinalizersStep | StatusStep


def first_steps(outcome: Outcome) -> tuple[FirstStep, ...]:
    """What can be done whatever comes of it. An apply that is refused keeps no other from being done."""
    coming: list[FirstStep] = []
    if outcome.about is not None and outcome.finalizers is not None:
        coming.append(FinalizersStep(outcome.about.ref, outcome.finalizers, releases=False))
    return (*coming, *outcome.applies)


def last_steps(outcome: Outcome, refused: Collection[Ref]) -> tuple[LastStep, ...]:
    """What comes after the first steps. With an apply `refused`, nothing goes and nothing is called done."""
    about = outcome.about.ref if outcome.about is not None else None
    if refused:
        told = next((outcome.status_if_refused[ref] for ref in refused if ref in outcome.status_if_refused), None)
        return (StatusStep(about, told),) if about is not None and told else ()
    steps: list[LastStep] = list(outcome.deletes)
    if about is not None and outcome.finalizers is not None:
        steps.append(FinalizersStep(about, outcome.finalizers, releases=True))
    if about is not None and outcome.status:
        steps.append(StatusStep(about, outcome.status))
    return tuple(steps)
