"""How far each watched kind is known: what may be concluded from an object that is not there."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any

from gatepost.objects.refs import GroupKind, Ref
from gatepost.objects.unserved import unserved, unserved_ref
from gatepost.runtime.asked_kinds import NotingEngine, kinds_over
from gatepost.state.rule import Rule
from gatepost.state.store import Index


def kinds_in_doubt(
    kinds: Collection[GroupKind], unknown: Collection[GroupKind], missing: Collection[GroupKind]
) -> frozenset[str]:
    """Those of `kinds` of which an object that is not there need not be gone, by their names.

    While one is unknown, that is all of them: without its Gateway, a Route claims nothing either. A kind that is not
    served is in doubt itself: its definition may be on its way to another version. Rules hear of it (`UnservedKind`).
    """
    if unknown:
        return frozenset(kind.kind for kind in kinds)
    return frozenset(kind.kind for kind in missing)


class KnownKinds:
    """How far each watched kind is known.

    | a kind is | when                                                      | then                                |
    | unheard   | its first list has neither come nor failed                | no rule runs                        |
    | unknown   | its first list is not in, or no rule has run on it yet    | nothing that rests on it is written |
    | failing   | it cannot be read now, whether or not it was read before  | what was known of it still counts   |
    | missing   | the cluster does not serve it                             | what was known of it still counts   |

    Attributes:
        failing: with what the cluster said.
        failures: how often any kind could not be read so far.
    """

    def __init__(self, engine: NotingEngine) -> None:
        self._engine = engine
        self.watched: set[GroupKind] = set()
        self._unheard: set[GroupKind] = set()
        self._unknown: set[GroupKind] = set()
        self._came_in: set[GroupKind] = set()
        self.failing: dict[GroupKind, str] = {}
        self.failures = 0
        self.missing: set[GroupKind] = set()

    def start(self, group_kind: GroupKind) -> None:
        self.watched.add(group_kind)
        self._unheard.add(group_kind)
        self._unknown.add(group_kind)

    def complete(self, group_kind: GroupKind) -> None:
        """All its objects are in."""
        self._note_in(group_kind)
        self.missing.discard(group_kind)
        self._engine.remove(unserved_ref(group_kind))

    def miss(self, group_kind: GroupKind) -> None:
        """The cluster does not serve it. What was known of it still counts, and nothing more will come for now."""
        self._note_in(group_kind)
        self.missing.add(group_kind)
        self._engine.put(unserved(group_kind))

    def _note_in(self, group_kind: GroupKind) -> None:
        self._unheard.discard(group_kind)
        self._came_in.add(group_kind)
        self.failing.pop(group_kind, None)

    def recover(self, group_kind: GroupKind) -> None:
        """It can be read again after a failure, without a gap."""
        self.failing.pop(group_kind, None)

    def count_what_came_in(self) -> bool:
        """To be called when the rules have seen what came in: only then is it known. Returns: whether any kind did."""
        counted = bool(self._unknown & self._came_in)
        self._unknown -= self._came_in
        self._came_in.clear()
        return counted

    def fail(self, group_kind: GroupKind, error: str) -> bool:
        """It cannot be read for now. Returns: whether this is new."""
        self.failures += 1
        self._unheard.discard(group_kind)
        is_new = self.failing.get(group_kind) != error
        self.failing[group_kind] = error
        return is_new

    @property
    def unknown(self) -> frozenset[GroupKind]:
        """The watched kinds that are not in yet."""
        return frozenset(self._unknown)

    @property
    def unheard(self) -> frozenset[GroupKind]:
        """The watched kinds that are not in and have not failed either."""
        return frozenset(self._unheard)

    @property
    def all_heard_of(self) -> bool:
        """Whether each kind is in, or has failed at least once: then nothing more is gained by waiting for it."""
        return not self._unheard

    def unknown_below(self, rule: Rule[Any], key: Hashable) -> set[GroupKind]:
        """The kinds that the value of a rule rests on and that are not in yet.

        Nothing may be written on such a value: what looks absent may just not have been read.
        """
        if not self._unknown:
            return set()
        found: set[GroupKind] = set()
        seen: set[Hashable] = set()
        pending: list[tuple[Rule[Any], Hashable]] = [(rule, key)]
        while pending:
            reader, at = pending.pop()
            for cell in self._engine.reads_of(reader, at):
                if isinstance(cell, Ref):
                    found.add(cell.group_kind)
                elif isinstance(cell, GroupKind):
                    found.add(cell)
                elif cell not in seen:
                    seen.add(cell)
                    pending.extend(self._below(cell, found))
        return found & self._unknown

    def _below(self, cell: Any, found: set[GroupKind]) -> list[tuple[Rule[Any], Hashable]]:
        """What a read of a bucket or value rests on: kinds go into `found`, values of rules are returned."""
        name, key = cell
        index = self._engine.indexes.get(name)
        if index is None:
            return [(self._engine.rule(name), key)]
        if isinstance(index.source, str):
            # Any value of that rule may belong in the bucket.
            source = self._engine.rule(index.source)
            found.update(kinds_over([source], [source.over] if isinstance(source.over, Index) else []))
        else:
            found.add(index.source.KIND.group_kind)
        return []
