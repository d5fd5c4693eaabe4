"""Which kinds rules ask for: those that have to be watched, or read, so that the rules can run."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from gatepost.objects.meta import KubernetesObject
from gatepost.objects.refs import GroupKind, Ref
from gatepost.state.engine import Engine
from gatepost.state.rule import Rule
from gatepost.state.store import Index

OWN_GROUP = "gatepost"
"""The group of settings, which live in the store but in no cluster."""


class NotingEngine(Engine):
    """An engine that notes which kinds its rules ask for, so that just these are watched."""

    def __init__(self, rules: Iterable[Rule[Any]], indexes: Iterable[Index], start: datetime) -> None:
        indexes = tuple(indexes)
        super().__init__(rules, indexes, start)
        self.indexes = {index.name: index for index in indexes}
        self._kinds_asked: dict[tuple[str, str], None] = {}

    def object_at(self, ref: Ref) -> KubernetesObject | None:
        self._kinds_asked[ref.group, ref.kind] = None
        return super().object_at(ref)

    def kinds_asked(self) -> list[GroupKind]:
        """The kinds of which objects have been asked for so far, in the order in which they first were."""
        return [GroupKind(group, kind) for group, kind in self._kinds_asked if group != OWN_GROUP]


def kinds_over(rules: Iterable[Rule[Any]], indexes: Iterable[Index]) -> list[GroupKind]:
    """The kinds that give the keys of rules and fill indexes: known before anything has run."""
    sources: list[Any] = [index.source for index in indexes]
    for rule in rules:
        if isinstance(rule.over, tuple):
            sources.extend(rule.over)
        elif isinstance(rule.over, type):
            sources.append(rule.over)
    types: dict[type[KubernetesObject], None] = dict.fromkeys(s for s in sources if isinstance(s, type))
    return [type_.KIND.group_kind for type_ in types if type_.KIND.group != OWN_GROUP]


def kinds_read_whole(rules: Iterable[Rule[Any]]) -> frozenset[GroupKind]:
    """The kinds of whose objects a rule reads what is not kept otherwise."""
    return frozenset(type_.KIND.group_kind for rule in rules for type_ in rule.reads_whole)
