"""What a rule sees: objects, buckets, the values of earlier rules, settings and the time. Every look is recorded."""

from __future__ import annotations

from collections.abc import Hashable
from datetime import datetime
from typing import Any, Protocol, TypeVar, cast

from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem
from gatepost.objects.refs import GroupKind, Ref
from gatepost.state.rule import Rule
from gatepost.state.run import Run
from gatepost.state.store import Index

ObjectT = TypeVar("ObjectT", bound=KubernetesObject)
ValueT = TypeVar("ValueT")


class Reads(Protocol):
    """Where a View looks things up. The engine is the one implementation."""

    def object_at(self, ref: Ref) -> KubernetesObject | None:
        """Raises: UnreadableObject."""
        ...

    def unreadable_of(self, group_kind: GroupKind) -> Problem | None: ...

    def bucket(self, index: Index, key: Hashable, reader: Rule[Any]) -> tuple[Any, ...]: ...

    def asked(self, rule: Rule[Any], key: Hashable, reader: Rule[Any]) -> tuple[Run, Hashable]: ...

    def answer(self, run: Run) -> Any: ...

    @property
    def clock(self) -> datetime: ...


class View:
    """One run's window on the state. What was not there is recorded like what was.

    The record says all that the run's value rests on: while none of it changes, the value stands.
    """

    __slots__ = ("_reads", "_rule", "_source", "until")

    def __init__(self, source: Reads, rule: Rule[Any]) -> None:
        self._source = source
        self._rule = rule
        self._reads: dict[Hashable, None] = {}
        self.until: datetime | None = None

    @property
    def reads(self) -> tuple[Hashable, ...]:
        """What was read, in order, each once: a Ref, a GroupKind, an (index name, key) or a (rule, key)."""
        return tuple(self._reads)

    def has_read(self, cell: Hashable) -> bool:
        return cell in self._reads

    def get(self, type_: type[ObjectT], ref: Ref) -> ObjectT | None:
        """The object of that Ref as the given type, or None if it does not exist (now).

        Raises: UnreadableObject if it is there, but in a form that cannot be read. Let it pass unless there is
            something better to say: the last value of the run stands, and who asks for it meets the same error.
        Raises: TypeError if the store holds it as another type; that is a fault of the rule.
        """
        self._reads[ref] = None
        obj = self._source.object_at(ref)
        if obj is None or isinstance(obj, type_):
            return obj
        raise TypeError(f"{ref} is held as {type(obj).__name__}, not {type_.__name__}")

    def named(self, type_: type[ObjectT], namespace: str, name: str) -> ObjectT | None:
        """`get` by the names, for a type that knows its kind."""
        return self.get(type_, type_.KIND.ref(namespace, name))

    def unreadable_of(self, type_: type[KubernetesObject]) -> Problem | None:
        """Why one of the objects of a kind is in no index: it is there, in a form that cannot be read.

        To be asked by who concludes from an empty bucket that something may go.
        """
        self._reads[type_.KIND.group_kind] = None
        return self._source.unreadable_of(type_.KIND.group_kind)

    def select(self, index: Index, key: Hashable) -> tuple[Any, ...]:
        """The members of a bucket of an index, in a stable order; empty if nothing is in it (now)."""
        self._reads[index.name, key] = None
        return self._source.bucket(index, key, self._rule)

    def value(self, rule: Rule[ValueT], key: Hashable) -> ValueT:
        """What another rule says of a key. Only rules of a lower rank can be asked.

        Raises: DependencyFailed if that rule failed and never had a value. Let it pass: the run of who asks then
            counts as failed too, and runs again when there is an answer.
        Raises: UnreadableObject if that rule needs an object that cannot be read; see `get`.
        """
        run, cell = self._source.asked(rule, key, self._rule)
        try:
            return cast("ValueT", self._source.answer(run))
        finally:
            self._reads[cell] = None  # not before: an answer that is worked out just now is no change to who asks

    def now(self, until: datetime | None = None) -> datetime:
        """The time of this pass. `until` is when the answer of the rule ceases to hold; the earliest given counts."""
        if until is not None and (self.until is None or until < self.until):
            self.until = until
        return self._source.clock

    def has_passed(self, moment: datetime) -> bool:
        """Whether a moment has come; if not, the run is stale as soon as it has."""
        if self._source.clock >= moment:
            return True
        self.now(until=moment)
        return False
