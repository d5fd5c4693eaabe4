"""The outcomes that stand, and who writes which object."""

from __future__ import annotations

from typing import Any, TypeAlias

from gatepost.objects.refs import Ref
from gatepost.state.rule import Key
from gatepost.writes.outcome import Outcome

Place: TypeAlias = tuple[str, Key]
"""Where an outcome comes from: the name of a rule, and its key."""


class Outcomes:
    """One outcome for each place."""

    def __init__(self) -> None:
        self._outcomes: dict[Place, Outcome] = {}
        self._writers: dict[Ref, dict[Place, None]] = {}

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
        else:
            self._outcomes[place] = after

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
