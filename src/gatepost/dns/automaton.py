"""Finds a regular expression in a text in time that grows with the text alone, as RE2 does.

Python's `re` goes back and tries again, which may take for ever: `^([a-z]+-?)+$` on sixty letters and a dot. The names
that an expression is held against come from whoever may write an object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

MOST_STEPS = 20_000
"""Steps of one expression; `(a{1000}){1000}` would have a million."""
_MOST_MOVES = 10_000

Letter = Callable[[str], bool]
"""Whether one letter fits."""


class Place(Struct, frozen=True):
    """Between two letters: the one before and the one after, "" at the ends of the text."""

    before: str
    after: str


class One(Struct, frozen=True):
    """A single letter."""

    fits: Letter


class Here(Struct, frozen=True):
    """No letter, but a condition on the place."""

    holds: Callable[[Place], bool]


class All(Struct, frozen=True):
    """One part after the other."""

    parts: tuple[Part, ...]


class Any(Struct, frozen=True):
    """One of several."""

    parts: tuple[Part, ...]


class Many(Struct, frozen=True):
    """A part, again and again. `most`: None for any number of times."""

    part: Part
    least: int
    most: int | None


Part = One | Here | All | Any | Many


class TooLarge(ValueError):
    """An expression with more steps than `MOST_STEPS`."""


class _Step(Struct):
    """Where one may stand: `fits` a letter to go on, `holds` a condition to go on, or just go on."""

    on: list[int]
    fits: Letter | None = None
    holds: Callable[[Place], bool] | None = None


class Automaton:
    """All ways through an expression, followed at once.

    Sets of steps and the moves between them are remembered, so that names, which are much alike, cost a look-up for
    each letter.
    """

    def __init__(self, part: Part) -> None:
        """Raises: TooLarge"""
        self._steps: list[_Step] = [_Step([])]  # the first is the end
        self._start = self._add(part, 0)
        self._moves: dict[tuple[frozenset[int], str, str], frozenset[int] | None] = {}

    def search(self, text: str) -> bool:
        """Whether the expression is anywhere in the text."""
        standing: frozenset[int] = frozenset()
        before = ""
        for after in (*text, ""):
            move = (standing, before, after)
            if move not in self._moves:
                if len(self._moves) >= _MOST_MOVES:
                    self._moves.clear()
                self._moves[move] = self._moved(standing, Place(before, after))
            found = self._moves[move]
            if found is None:
                return True
            standing, before = found, after
        return False

    def _moved(self, standing: frozenset[int], place: Place) -> frozenset[int] | None:
        """Where one stands after the letter, None if the end was there before it."""
        waiting = [self._start, *standing]
        seen = set(waiting)
        on: set[int] = set()
        while waiting:
            number = waiting.pop()
            if number == 0:
                return None
            step = self._steps[number]
            if step.fits is not None:
                if place.after and step.fits(place.after):
                    on.update(step.on)
            elif step.holds is None or step.holds(place):
                waiting += [next_ for next_ in step.on if next_ not in seen]
                seen.update(step.on)
        return frozenset(on)

    # From the parts to steps, last part first, so that each knows where it leads

    def _add(self, part: Part, then: int) -> int:
        if isinstance(part, One):
            return self._new(_Step([then], fits=part.fits))
        if isinstance(part, Here):
            return self._new(_Step([then], holds=part.holds))
        if isinstance(part, All):
            for inner in reversed(part.parts):
                then = self._add(inner, then)
            return then
        if isinstance(part, Any):
            return self._new(_Step([self._add(inner, then) for inner in part.parts]))
        return self._add_many(part, then)

    def _add_many(self, many: Many, then: int) -> int:
        if many.most is None:
            again = self._new(_Step([then]))
            self._steps[again].on.append(self._add(many.part, again))
            then = again
        else:
            end = then
            for _ in range(many.most - many.least):
                then = self._new(_Step([self._add(many.part, then), end]))
        for _ in range(many.least):
            then = self._add(many.part, then)
        return then

    def _new(self, step: _Step) -> int:
        if len(self._steps) >= MOST_STEPS:
            raise TooLarge(f"it would have more than {MOST_STEPS} steps")
        self._steps.append(step)
        return len(self._steps) - 1


def parts_in_order(parts: Sequence[Part]) -> Part:
    return parts[0] if len(parts) == 1 else All(tuple(parts))
