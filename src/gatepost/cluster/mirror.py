"""What is known of the cluster: the raw form of what gatepost writes, and which kinds are complete.

The mirror stands between the reflectors and the state. Answers to our own writes go through it too, so that rules see
them at once; an event that is older than such an answer is passed over, or the state would jump back for a moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from gatepost.cluster.decoding import ObjectDecoder, head_in
from gatepost.cluster.errors import ClusterError
from gatepost.cluster.reflector import Sink, WatchedKind
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem, UnreadableObject
from gatepost.objects.refs import GroupKind, Ref

Raw = dict[str, Any]


class Unknown:
    """The object has to be read from the cluster: it is not kept here."""


UNKNOWN = Unknown()


class _Flight:
    """Calls about one object that are on their way, and whether the watch told its end meanwhile."""

    def __init__(self) -> None:
        self.calls = 0
        self.has_ended = False


class Mirror:
    """A sink that keeps raw objects and hands everything on to `downstream`."""

    def __init__(self, downstream: Sink | None = None) -> None:
        self._sink = downstream
        self._watched: dict[GroupKind, tuple[WatchedKind, ObjectDecoder[Any]]] = {}
        self._complete: set[GroupKind] = set()
        self._refs: dict[GroupKind, set[Ref]] = {}
        self._raw: dict[Ref, bytes] = {}
        self._written: dict[Ref, str] = {}
        self._only_answered: dict[Ref, None] = {}
        self._in_flight: dict[Ref, _Flight] = {}

    def hand_on_to(self, downstream: Sink) -> None:
        """Sets where everything goes; must come before the first object."""
        self._sink = downstream

    @property
    def _downstream(self) -> Sink:
        if self._sink is None:
            raise RuntimeError("objects came before it was said where they go")
        return self._sink

    def watch(self, watched: WatchedKind) -> None:
        """Takes note that objects of this kind will come."""
        group_kind = watched.group_kind
        self._watched[group_kind] = (watched, ObjectDecoder(group_kind, watched.type, whole=watched.whole))
        self._refs.setdefault(group_kind, set())

    @property
    def is_settled(self) -> bool:
        """Whether every write of ours has come back by a watch."""
        return not self._written

    def current(self, ref: Ref) -> Raw | Unknown | None:
        """The object as far as it is known: raw, None if there certainly is none, else UNKNOWN."""
        raw = self._raw.get(ref)
        if raw is not None:
            return self._whole(ref, raw)
        return None if self._is_absent(ref) else UNKNOWN

    @contextmanager
    def call(self, ref: Ref) -> Iterator[None]:
        """To be held around a call about an object, from before it is sent until its answer was read back.

        If the watch tells the end of the object meanwhile, the answer is older than that and must not revive it.
        """
        flight = self._in_flight.setdefault(ref, _Flight())
        flight.calls += 1
        try:
            yield
        finally:
            flight.calls -= 1
            if not flight.calls:
                del self._in_flight[ref]

    def read_back(self, ref: Ref, raw: bytes) -> Raw:
        """Takes in what the cluster answered to a write or read of ours. Returns: it in its raw form."""
        flight = self._in_flight.get(ref)
        if not (flight is not None and flight.has_ended) and self._is_news(ref, raw):
            if ref not in self._refs[ref.group_kind]:
                self._only_answered[ref] = None
            self._written[ref] = revision_of(raw)
            self._take_in(ref, raw)
        return self._whole(ref, raw)

    def read_back_gone(self, ref: Ref) -> None:
        """Takes in that a read of ours did not find the object."""
        if ref in self._refs.get(ref.group_kind, ()):
            self._forget(ref)

    # What the reflectors say

    def put(self, ref: Ref, obj: KubernetesObject, raw: bytes | None) -> None:
        if ref in self._written:
            if raw is not None and _is_before(revision_of(raw), self._written[ref]):
                return
            del self._written[ref]
        self._only_answered.pop(ref, None)
        self._refs[ref.group_kind].add(ref)
        if raw is not None:
            self._raw[ref] = raw
        else:
            self._raw.pop(ref, None)
        self._downstream.put(ref, obj, raw)

    def remove(self, ref: Ref) -> None:
        # If this is the end of an earlier object under the name, the next write meets a conflict and reads anew.
        flight = self._in_flight.get(ref)
        if flight is not None:
            flight.has_ended = True
        self._forget(ref)

    def unreadable(self, problem: Problem) -> None:
        self._written.pop(problem.about, None)
        self._only_answered.pop(problem.about, None)
        self._refs[problem.about.group_kind].add(problem.about)
        self._raw.pop(problem.about, None)
        self._downstream.unreadable(problem)

    def complete(self, group_kind: GroupKind) -> None:
        # What we made and the new list lacks was deleted while nobody watched, or the watch has yet to tell of it.
        for ref in [ref for ref in self._only_answered if ref.group_kind == group_kind]:
            self._forget(ref)
        self._complete.add(group_kind)
        self._downstream.complete(group_kind)

    def missing(self, group_kind: GroupKind) -> None:
        self._complete.discard(group_kind)
        self._downstream.missing(group_kind)

    def failing(self, group_kind: GroupKind, error: ClusterError) -> None:
        self._downstream.failing(group_kind, error)

    def recovered(self, group_kind: GroupKind) -> None:
        self._downstream.recovered(group_kind)

    # Inside

    def _take_in(self, ref: Ref, raw: bytes) -> None:
        watched, decoder = self._watched[ref.group_kind]
        try:
            _, obj = decoder.decode(raw)
        except UnreadableObject as error:
            self._downstream.unreadable(error.problem)
            return
        self._refs[ref.group_kind].add(ref)
        self._raw[ref] = raw
        self._downstream.put(ref, obj, raw if watched.keep_raw(obj) else None)

    def _forget(self, ref: Ref) -> None:
        self._written.pop(ref, None)
        self._only_answered.pop(ref, None)
        self._refs[ref.group_kind].discard(ref)
        self._raw.pop(ref, None)
        self._downstream.remove(ref)

    def _is_absent(self, ref: Ref) -> bool:
        group_kind = ref.group_kind
        if group_kind not in self._complete or ref in self._refs[group_kind]:
            return False
        namespace = self._watched[group_kind][0].namespace
        return not namespace or namespace == ref.namespace

    def _is_news(self, ref: Ref, answer: bytes) -> bool:
        """Whether an answer is ahead of what the watch has told: the watch may have been faster."""
        if ref.group_kind not in self._watched:
            return False
        known = self._raw.get(ref)
        if known is None:  # an object whose bytes are not kept: the watch tells it in its own time
            return ref not in self._refs[ref.group_kind]
        return _is_before(revision_of(known), revision_of(answer))

    @staticmethod
    def _whole(ref: Ref, raw: bytes) -> Raw:
        """The raw object with the kind that items of lists of core kinds leave out."""
        found: Raw = msgspec.json.decode(raw)
        return {"kind": ref.kind, **found}


def revision_of(raw: bytes) -> str:
    return head_in(raw).metadata.resource_version


def _is_before(one: str, other: str) -> bool:
    """Whether a revision is certainly older than another.

    Source: Kubernetes API concepts, "Resource versions": those of one kind may be compared as numbers.
    """
    return one.isdecimal() and other.isdecimal() and int(one) < int(other)
