"""The outcomes that stand, who writes which object, and which events have been told."""

from __future__ import annotations

from typing import Any, TypeAlias

from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.state.rule import Key
from gatepost.writes.outcome import Event, Outcome

Place: TypeAlias = tuple[str, Key]
"""Where an outcome comes from: the name of a rule, and its key."""


class Outcomes:
    """One outcome for each place."""

    def __init__(self) -> None:
        self._outcomes: dict[Place, Outcome] = {}
        self._writers: dict[Ref, dict[Place, None]] = {}
        self._told: dict[Place, frozenset[Event]] = {}
        self._said: dict[Place, frozenset[Problem]] = {}

    def get(self, place: Place) -> Outcome | None:
        return self._outcomes.get(place)

    def writers_of(self, ref: Ref) -> tuple[Place, ...]:
        """The places whose outcome has a say in an object."""
        return tuple(self._writers.get(ref, ()))

    def replace(self, place: Place, old: Any, new: Any) -> None:
        """Puts a new value in the place of an old one; values that are no outcomes count as none."""
        before = old if isinstance(old, Outcome) else None
        after = new if isinstance(new, Outcome) else None
        for ref in refs_written_by(before):
            self._drop_writer(ref, place)
        for ref in refs_written_by(after):
            self._writers.setdefault(ref, {})[place] = None
        if after is None:
            self._outcomes.pop(place, None)
            self._told.pop(place, None)
            self._said.pop(place, None)
        else:
            self._outcomes[place] = after

    def take_untold(self, place: Place, outcome: Outcome) -> list[Event]:
        """The events of an outcome that were not in the one told before; they count as told from now on."""
        told = self._told.get(place, frozenset())
        if outcome.events:
            self._told[place] = frozenset(outcome.events)
        else:
            self._told.pop(place, None)
        return [event for event in dict.fromkeys(outcome.events) if event not in told]

    def take_unsaid(self, place: Place, outcome: Outcome) -> list[Problem]:
        """The problems of an outcome that were not in the one logged before; they count as logged from now on."""
        said = self._said.get(place, frozenset())
        if outcome.problems:
            self._said[place] = frozenset(outcome.problems)
        else:
            self._said.pop(place, None)
        return [problem for problem in dict.fromkeys(outcome.problems) if problem not in said]

    def _drop_writer(self, ref: Ref, place: Place) -> None:
        writers = self._writers.get(ref)
        if writers is not None:
            writers.pop(place, None)
            if not writers:
                del self._writers[ref]


def refs_written_by(outcome: Outcome | None) -> list[Ref]:
    """The objects that an outcome has a say in: its own, those to apply, those to delete."""
    if outcome is None:
        return []
    own = [outcome.about.ref] if outcome.about is not None else []
    return own + [apply.ref for apply in outcome.applies] + [delete.ref for delete in outcome.deletes]
