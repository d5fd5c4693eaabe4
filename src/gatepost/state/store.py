"""The objects that are known, with declared indexes over them."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping
from typing import Any

from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem
from gatepost.objects.refs import GroupKind, Ref
from gatepost.state.failure import Failure, Failures


class Index:
    """Which members an object (or the value of a rule) has in which buckets.

    Args:
        name: unique; part of the record of a read.
        source: the type of the objects, or the name of the rule, that it is built from.
        entries: gives (bucket key, member) pairs of one object or value; a member is whatever readers need, so that a
            change outside it wakes none of them.
    """

    __slots__ = ("entries", "name", "source")

    def __init__(
        self,
        name: str,
        source: type[KubernetesObject] | str,
        entries: Callable[[Any], Iterable[tuple[Hashable, Any]]],
    ) -> None:
        self.name = name
        self.source = source
        self.entries = entries

    def __repr__(self) -> str:
        return f"Index({self.name!r})"


class Buckets:
    """The content of one index: bucket key -> owner -> members of that owner.

    A bucket with one owner is a bare pair: at a hundred thousand names nearly all are, and a mapping each would be the
    largest part of the memory.
    """

    __slots__ = ("_by_key",)

    def __init__(self) -> None:
        self._by_key: dict[Hashable, tuple[Hashable, tuple[Any, ...]] | dict[Hashable, tuple[Any, ...]]] = {}

    def replace(
        self,
        owner: Hashable,
        before: Mapping[Hashable, tuple[Any, ...]],
        after: Mapping[Hashable, tuple[Any, ...]],
    ) -> list[Hashable]:
        """Puts the new members of an owner in the place of its old ones. Returns: the keys whose bucket changed."""
        if before == after:
            return []
        touched = [key for key in before if key not in after]
        for key in touched:
            self._drop(key, owner)
        for key, members in after.items():
            if before.get(key) != members:
                self._put(key, owner, members)
                touched.append(key)
        return touched

    def members(self, key: Hashable) -> tuple[Any, ...]:
        """The members of a bucket in the order of their owners, which does not depend on the order of events."""
        bucket = self._by_key.get(key)
        if bucket is None:
            return ()
        if isinstance(bucket, tuple):
            return bucket[1]
        return tuple(member for owner in sorted(bucket) for member in bucket[owner])  # type: ignore[type-var]

    def keys(self) -> Iterator[Hashable]:
        return iter(self._by_key)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._by_key

    def _put(self, key: Hashable, owner: Hashable, members: tuple[Any, ...]) -> None:
        bucket = self._by_key.get(key)
        if isinstance(bucket, dict):
            bucket[owner] = members
        elif bucket is None or bucket[0] == owner:
            self._by_key[key] = (owner, members)
        else:
            self._by_key[key] = {bucket[0]: bucket[1], owner: members}

    def _drop(self, key: Hashable, owner: Hashable) -> None:
        bucket = self._by_key.get(key)
        if isinstance(bucket, dict):
            bucket.pop(owner, None)
            if len(bucket) == 1:
                self._by_key[key] = next(iter(bucket.items()))
        elif bucket is not None and bucket[0] == owner:
            del self._by_key[key]


def _by_key(entries: Iterable[tuple[Hashable, Any]]) -> dict[Hashable, tuple[Any, ...]]:
    grouped: dict[Hashable, tuple[Any, ...]] = {}
    for key, member in entries:
        grouped[key] = (*grouped[key], member) if key in grouped else (member,)
    return grouped


class KeptIndex:
    """An index with its buckets. What it raises for keeps the entries that it has, and is noted in `failures`."""

    __slots__ = ("_failures", "_standing", "buckets", "index")

    def __init__(self, index: Index, failures: Failures) -> None:
        self.index = index
        self.buckets = Buckets()
        self._failures = failures
        self._standing: dict[Hashable, Any] = {}

    def replace(self, owner: Hashable, old: Any, new: Any) -> list[Hashable]:
        """Puts the entries of a new object or value in the place of those of the old one; None has no entries.

        Returns: the buckets that changed, as (index name, key).
        """
        if owner in self._standing:
            old = self._standing[owner]
        try:
            after = self._entries(new)
        except Exception as error:  # a fault of ours: the others go on
            self._standing[owner] = old
            self._failures[self.index.name, owner] = Failure(self.index, owner, error)
            return []
        if owner in self._standing:
            del self._standing[owner], self._failures[self.index.name, owner]
        return [(self.index.name, key) for key in self.buckets.replace(owner, self._entries(old), after)]

    def _entries(self, value: Any) -> dict[Hashable, tuple[Any, ...]]:
        return _by_key(self.index.entries(value)) if value is not None else {}


class Store:
    """Objects by Ref. A change gives the reads that it touches; nothing else learns of it.

    Args:
        failures: where it is noted that an index raised for an object.
    """

    def __init__(self, failures: Failures) -> None:
        self._failures = failures
        self._objects: dict[Ref, KubernetesObject] = {}
        self._unreadable: dict[Ref, Problem] = {}
        self._outdated: dict[Ref, Problem] = {}
        self._indexes: dict[type[KubernetesObject], list[KeptIndex]] = {}
        self._buckets: dict[str, Buckets] = {}

    def add_index(self, index: Index) -> None:
        """Declares an index over objects. Must come before the first object of its type."""
        if isinstance(index.source, str):
            raise TypeError(f"{index!r} is built from rule {index.source}: the engine keeps it, not the store")
        if index.name in self._buckets:
            raise ValueError(f"{index!r} is declared twice")
        kept = KeptIndex(index, self._failures)
        self._buckets[index.name] = kept.buckets
        self._indexes.setdefault(index.source, []).append(kept)

    def get(self, ref: Ref) -> KubernetesObject | None:
        return self._objects.get(ref)

    def unreadable(self, ref: Ref) -> Problem | None:
        """Why nothing is known of an object though it is there; None if it is known, or is not there."""
        return self._unreadable.get(ref)

    def outdated(self, ref: Ref) -> Problem | None:
        """Why the present form of an object cannot be read, while a former one is known; None if that is not so."""
        return self._outdated.get(ref)

    def unreadable_of(self, group_kind: GroupKind) -> Problem | None:
        """What is wrong with an object of a kind that is there and of which nothing is known; the first of several."""
        return min((found for ref, found in self._unreadable.items() if ref.group_kind == group_kind), default=None)

    def any_unreadable(self, group_kinds: Container[GroupKind], namespace: str = "") -> Problem | None:
        """What is wrong with an object of these kinds whose present form cannot be read; the first of several.

        Args: namespace: where it has to be, "" for anywhere.
        """
        noted = (found for problems in (self._unreadable, self._outdated) for found in problems.items())
        return min(
            (problem for ref, problem in noted if ref.group_kind in group_kinds and namespace in ("", ref.namespace)),
            default=None,
        )

    @property
    def unreadables(self) -> list[Problem]:
        """What is wrong with each object that is there and of which nothing is known, in the order of their coming."""
        return list(self._unreadable.values())

    def members(self, index: Index, key: Hashable) -> tuple[Any, ...]:
        return self._buckets[index.name].members(key)

    def buckets(self, index_name: str) -> Buckets:
        return self._buckets[index_name]

    def items(self) -> Iterator[tuple[Ref, KubernetesObject]]:
        """All objects, in the order in which they first came."""
        return iter(list(self._objects.items()))

    def __len__(self) -> int:
        return len(self._objects)

    def put(self, obj: KubernetesObject, ref: Ref) -> list[Hashable] | None:
        """Stores an object. Returns: the buckets that changed as (index name, key), None if the object is as it was."""
        self._outdated.pop(ref, None)
        old = self._objects.get(ref)
        if old == obj:
            return None
        self._objects[ref] = obj
        self._unreadable.pop(ref, None)
        return self._reindex(ref, type(obj), old, obj)

    def put_unreadable(self, problem: Problem) -> bool:
        """Notes that an object is there in a form that cannot be read. What was known of it before still counts.

        Returns: whether that is news.
        """
        ref = problem.about
        if ref in self._objects:
            self._outdated[ref] = problem
            return False
        if self._unreadable.get(ref) == problem:
            return False
        self._unreadable[ref] = problem
        return True

    def remove(self, ref: Ref) -> list[Hashable] | None:
        """Forgets an object. Returns: as `put`; None if it was not there."""
        was_unreadable = self._unreadable.pop(ref, None) is not None
        self._outdated.pop(ref, None)
        old = self._objects.pop(ref, None)
        if old is None:
            return [] if was_unreadable else None
        return self._reindex(ref, type(old), old, None)

    def _reindex(
        self, ref: Ref, type_: type[KubernetesObject], old: KubernetesObject | None, new: KubernetesObject | None
    ) -> list[Hashable]:
        return [cell for kept in self._indexes.get(type_, ()) for cell in kept.replace(ref, old, new)]
