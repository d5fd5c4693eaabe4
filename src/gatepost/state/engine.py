"""The memo of runs: which rule ran for which key, what it read, what it said, and what a change makes stale.

A change touches cells: an object's Ref, a bucket of an index, the value of a rule for a key, a moment. The runs that
read a touched cell are stale and run again, in the order of their ranks; a run whose value is the same as before
touches nothing (early cut-off). So the work follows the change, not the number of objects.
Source of the idea: build systems with recorded dependencies, such as Salsa and Skyframe.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from datetime import datetime
from typing import Any, TypeVar, cast

from msgspec import Struct

from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem, UnreadableObject
from gatepost.objects.refs import GroupKind, Ref
from gatepost.state.failure import DependencyFailed, Failure, Failures
from gatepost.state.readers import Readers
from gatepost.state.rule import Rule
from gatepost.state.run import Run
from gatepost.state.store import Buckets, Index, KeptIndex, Store
from gatepost.state.timers import Timers
from gatepost.state.view import View

ValueT = TypeVar("ValueT")


class Change(Struct, frozen=True, gc=False):
    """A value that came out other than before. `new` is None when the key is gone, `old` when it is new."""

    rule: Rule[Any]
    key: Hashable
    old: Any
    new: Any


class Engine:
    """Keeps the values of rules up to date with a store of objects.

    Args:
        rules: all rules, in any order; their names must differ.
        indexes: over objects and over values of rules.
        start: the time of the first pass.

    Attributes:
        failures: rules and indexes that raised.
        stopped: by the name of a rule and a key, the object that cannot be read and that the run has to know.
    """

    def __init__(self, rules: Iterable[Rule[Any]], indexes: Iterable[Index], start: datetime) -> None:
        self.failures: Failures = {}
        self.stopped: dict[tuple[str, Hashable], Problem] = {}
        self.store = Store(self.failures)
        self.clock = start
        self._rules = {rule.name: rule for rule in rules}
        self._runs: dict[str, dict[Hashable, Run]] = {name: {} for name in self._rules}
        self._readers = Readers()
        self._stale: dict[int, deque[Run]] = {
            rank: deque() for rank in sorted({rule.rank for rule in self._rules.values()})
        }
        self.runs_of: dict[str, int] = dict.fromkeys(self._rules, 0)
        """How often each rule has run."""
        self._before: dict[Run, Any] = {}
        self._gone: dict[tuple[str, Hashable], Any] = {}
        self._executing: list[tuple[Run, View]] = []
        self._timers = Timers()
        self._value_indexes: dict[str, list[KeptIndex]] = {}
        self._value_buckets: dict[str, Buckets] = {}
        self._rules_over_type: dict[type[KubernetesObject], list[Rule[Any]]] = {}
        self._rules_over_index: dict[str, list[Rule[Any]]] = {}
        self._declare(list(indexes))

    def _declare(self, indexes: list[Index]) -> None:
        for index in indexes:
            if isinstance(index.source, str):
                if index.source not in self._rules:
                    raise ValueError(f"{index!r} is built from rule {index.source!r}, which is not there")
                kept = KeptIndex(index, self.failures)
                self._value_buckets[index.name] = kept.buckets
                self._value_indexes.setdefault(index.source, []).append(kept)
            else:
                self.store.add_index(index)
            if index.name in self._rules:
                raise ValueError(f"{index!r} has the name of a rule: records of reads could not tell them apart")
        for rule in self._rules.values():
            if isinstance(rule.over, Index):
                self._rules_over_index.setdefault(rule.over.name, []).append(rule)
            else:
                types = rule.over if isinstance(rule.over, tuple) else (rule.over,)
                for type_ in types:
                    self._rules_over_type.setdefault(type_, []).append(rule)

    # Changes from outside

    def put(self, obj: KubernetesObject, ref: Ref | None = None) -> bool:
        """Takes an object in. Returns: whether it differs from what was known. Runs nothing yet."""
        ref = ref if ref is not None else obj.ref
        is_new = self.store.get(ref) is None
        was_unreadable = self.store.unreadable(ref) is not None
        touched = self.store.put(obj, ref)
        if touched is None:
            return False
        self._touch(ref)
        if was_unreadable:
            self._touch(ref.group_kind)
        if is_new:
            for rule in self._rules_over_type.get(type(obj), ()):
                self._want(rule, ref)
        self._touch_buckets(touched)
        return True

    def remove(self, ref: Ref) -> bool:
        """Takes note that an object is gone. Returns: whether it was known. Runs nothing yet."""
        old = self.store.get(ref)
        was_unreadable = self.store.unreadable(ref) is not None
        touched = self.store.remove(ref)
        if touched is None:
            return False
        self._touch(ref)
        if was_unreadable:
            self._touch(ref.group_kind)
        for rule in self._rules_over_type.get(type(old), ()) if old is not None else ():
            self._unwant(rule, ref)
        self._touch_buckets(touched)
        return True

    def put_unreadable(self, problem: Problem) -> bool:
        """Takes note of an object that is there in a form that cannot be read; the problem is about it.

        What was known of it before still counts. Returns: whether this is news. Runs nothing yet.
        """
        is_news = self.store.put_unreadable(problem)
        if is_news:
            self._touch(problem.about)
            self._touch(problem.about.group_kind)
        return is_news

    def advance(self, now: datetime) -> None:
        """Moves the time on; runs whose answer held only until then are stale. The time never goes back."""
        self.clock = max(self.clock, now)
        for run in self._timers.take(self.clock):
            self._make_stale(run)

    def next_moment(self) -> datetime | None:
        """When the next run gets stale by time alone, None if none does."""
        return self._timers.next()

    # Running

    def run_stale(self) -> list[Change]:
        """Runs whatever is stale until nothing is. Returns: the values that changed, in the order in which they did."""
        while (run := self._next_stale()) is not None:
            if not run.stale:
                continue
            if self._is_needed(run):
                self._execute(run)
            elif self._runs[run.rule.name].get(run.key) is run:
                self._forget(run)
        return self._take_changes()

    def _next_stale(self) -> Run | None:
        """The stale run that comes next: lowest rank first, so that a run sees settled values; then first come."""
        for queue in self._stale.values():
            if queue:
                return queue.popleft()
        return None

    def _take_changes(self) -> list[Change]:
        before, self._before = self._before, {}
        gone, self._gone = self._gone, {}
        changes = [Change(run.rule, run.key, old, run.value) for run, old in before.items() if old != run.value]
        changes += [Change(self._rules[name], key, old, None) for (name, key), old in gone.items() if old is not None]
        return changes

    def value(self, rule: Rule[ValueT], key: Hashable) -> ValueT | None:
        """The value that a rule has for a key, None if it does not run for that key."""
        run = self._runs[rule.name].get(key)
        return cast("ValueT | None", run.value) if run is not None else None

    def values(self, rule: Rule[ValueT]) -> Iterator[tuple[Hashable, ValueT]]:
        """All keys and values of a rule."""
        return ((run.key, cast("ValueT", run.value)) for run in list(self._runs[rule.name].values()))

    def reads_of(self, rule: Rule[Any], key: Hashable) -> tuple[Hashable, ...]:
        """What the value of a rule for a key rests on: the answer to "why"."""
        run = self._runs[rule.name].get(key)
        return run.reads if run is not None else ()

    @property
    def faults(self) -> list[Failure]:
        """The failures to tell of: each fault once, where it is, and not at those who ask in vain for its value."""
        return [failure for failure in self.failures.values() if failure.is_cause]

    def rule(self, name: str) -> Rule[Any]:
        """Raises: KeyError if no rule has that name."""
        return self._rules[name]

    @property
    def rules(self) -> Iterable[Rule[Any]]:
        return self._rules.values()

    # What a View asks

    def object_at(self, ref: Ref) -> KubernetesObject | None:
        obj = self.store.get(ref)
        if obj is None and (problem := self.store.unreadable(ref)) is not None:
            raise UnreadableObject(problem)
        return obj

    def unreadable_of(self, group_kind: GroupKind) -> Problem | None:
        return self.store.unreadable_of(group_kind)

    def bucket(self, index: Index, key: Hashable, reader: Rule[Any]) -> tuple[Any, ...]:
        if not isinstance(index.source, str):
            return self.store.members(index, key)
        self._check_rank(self._rules[index.source], reader)
        return self._value_buckets[index.name].members(key)

    def asked(self, rule: Rule[Any], key: Hashable, reader: Rule[Any]) -> tuple[Run, Hashable]:
        """The run that a reader asks, and the cell to record for it; all its readers share that one cell."""
        self._check_rank(rule, reader)
        run = self._runs[rule.name].get(key)
        if run is None:
            run = self._new_run(rule, key)
            run.stale = True
        if run.cell is None:
            run.cell = (rule.name, run.key)
        return run, run.cell

    def answer(self, run: Run) -> Any:
        """
        Raises: UnreadableObject if the run has to know an object that cannot be read.
        Raises: DependencyFailed if the run failed and has no value of an earlier time.
        """
        if run.stale:
            self._execute(run)
        if self.stopped and (problem := self.stopped.get((run.rule.name, run.key))) is not None:
            raise UnreadableObject(problem)
        if not run.has_value:
            raise DependencyFailed(run.rule, run.key)
        return run.value

    def _check_rank(self, asked: Rule[Any], reader: Rule[Any]) -> None:
        if asked.rank >= reader.rank:
            raise ValueError(
                f"{reader!r} of rank {reader.rank} asks {asked!r} of rank {asked.rank}: only lower ranks can be asked"
            )

    # Inside: which runs there are

    def _want(self, rule: Rule[Any], key: Hashable) -> None:
        run = self._runs[rule.name].get(key)
        if run is None:
            run = self._new_run(rule, key)
            self._make_stale(run)
        run.wanted = True

    def _new_run(self, rule: Rule[Any], key: Hashable) -> Run:
        run = self._runs[rule.name][key] = Run(rule, key)
        if self._gone and (rule.name, key) in self._gone:  # it went and came back within one pass
            self._before[run] = self._gone.pop((rule.name, key))
        return run

    def _unwant(self, rule: Rule[Any], key: Hashable) -> None:
        run = self._runs[rule.name].get(key)
        if run is not None:
            run.wanted = False
            self._make_stale(run)

    def _is_needed(self, run: Run) -> bool:
        return run.wanted or run.cell in self._readers

    def _forget(self, run: Run) -> None:
        place = (run.rule.name, run.key)
        del self._runs[run.rule.name][run.key]
        self._record(run, (), None)
        self.failures.pop(place, None)
        self.stopped.pop(place, None)
        self._set_value(run, None)
        self._gone[place] = self._before.pop(run, None)

    # Inside: one run

    def _execute(self, run: Run) -> None:
        run.stale = False
        self.runs_of[run.rule.name] += 1
        view = View(self, run.rule)
        self._executing.append((run, view))
        failure: Failure | None = None
        unreadable: Problem | None = None
        try:
            value = run.rule.run(run.key, view)
        except UnreadableObject as error:
            unreadable = error.problem
        except Exception as error:  # a fault of ours: this key keeps its last value, the others go on
            failure = Failure(run.rule, run.key, error)
        finally:
            self._executing.pop()
        self._note_end(run, failure, unreadable)
        self._record(run, view.reads, view.until)
        if failure is None and unreadable is None:
            had_value, run.has_value = run.has_value, True
            if not had_value and value is None and run.cell is not None:
                self._touch(run.cell)  # None where there was no answer at all is an answer
            self._set_value(run, value)

    def _note_end(self, run: Run, failure: Failure | None, unreadable: Problem | None) -> None:
        """Takes note of whether a run failed, or stopped at an object that cannot be read; its value stands then."""
        place = (run.rule.name, run.key)
        if failure is not None:
            self.failures[place] = failure
        elif self.failures:
            self.failures.pop(place, None)
        if unreadable == self.stopped.get(place):
            return
        if unreadable is not None:
            self.stopped[place] = unreadable
        else:
            del self.stopped[place]
        if run.cell is not None:
            self._touch(run.cell)  # who asks hears of it, though the value is as it was

    def _record(self, run: Run, reads: tuple[Hashable, ...], until: datetime | None) -> None:
        old = run.reads
        if reads != old:
            run.reads = reads
            for cell in self._readers.replace(run, old, reads):
                self._note_unread(cell)
        if until != run.until:
            run.until = until
            if until is not None:
                self._timers.add(until, run)

    def _note_unread(self, cell: Hashable) -> None:
        """Nobody reads a cell any more: a run that ran only because it was asked is swept."""
        if isinstance(cell, tuple) and cell[0] in self._runs:
            asked = self._runs[cell[0]].get(cell[1])
            if asked is not None and not asked.wanted:
                self._make_stale(asked)

    def _set_value(self, run: Run, value: Any) -> None:
        old = run.value
        if value == old:
            return
        run.value = value
        self._before.setdefault(run, old)
        if run.cell is not None:
            self._touch(run.cell)
        for kept in self._value_indexes.get(run.rule.name, ()):
            self._touch_buckets(kept.replace(run.key, old, value))

    # Inside: what a change touches

    def _touch(self, cell: Hashable) -> None:
        for run, view in self._executing:
            if view.has_read(cell):
                self._make_stale(run)  # it looked before this change and must look again
        for reader in self._readers.of(cell):
            self._make_stale(reader)

    def _touch_buckets(self, cells: Iterable[Hashable]) -> None:
        for cell in cells:
            self._touch(cell)
            index_name, key = cast("tuple[str, Hashable]", cell)
            for rule in self._rules_over_index.get(index_name, ()):
                if self._is_in_bucket(index_name, key):
                    self._want(rule, key)
                else:
                    self._unwant(rule, key)

    def _is_in_bucket(self, index_name: str, key: Hashable) -> bool:
        buckets = self._value_buckets.get(index_name)
        return key in (buckets if buckets is not None else self.store.buckets(index_name))

    def _make_stale(self, run: Run) -> None:
        if not run.stale:
            run.stale = True
            self._stale[run.rule.rank].append(run)
