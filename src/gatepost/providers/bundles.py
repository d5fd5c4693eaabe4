"""What of a plan's changes belongs together: all records of one name, with the ownership records that speak of them.

A bundle goes through whole or not at all where the provider can do that. A record without its ownership record could
never be changed again, and half a change of type leaves a name with the records of two wishes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from msgspec import Struct

from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey
from gatepost.dns.names import record_name
from gatepost.dns.ownership.txt_format import OWNED_RECORD
from gatepost.providers.contract import RecordResult


class RecordChange(Struct, frozen=True):
    """One record set before and after; `old` is None for a creation, `new` for a deletion."""

    old: Endpoint | None
    new: Endpoint | None

    @property
    def record(self) -> Endpoint:
        """The record set as it is to be, or as it was."""
        record = self.new or self.old
        assert record is not None
        return record


class Bundle(Struct, frozen=True):
    """The changes of one name: deletions first, then updates, then creations."""

    name: str
    changes: tuple[RecordChange, ...]

    @property
    def keys(self) -> tuple[EndpointKey, ...]:
        return tuple(change.record.key for change in self.changes)

    def results(self, error: str = "") -> list[RecordResult]:
        """The same result for every record: they share their fate."""
        return [RecordResult(key, error) for key in self.keys]


def bundles_of(changes: Changes) -> list[Bundle]:
    """The bundles of changes, sorted by name.

    Raises: ValueError if the two sides of the updates are not pairs.
    """
    by_name: dict[str, list[RecordChange]] = {}
    for change in _each(changes):
        about = change.record.labels.get(OWNED_RECORD) or change.record.dns_name
        by_name.setdefault(record_name(about), []).append(change)
    return [Bundle(name, tuple(by_name[name])) for name in sorted(by_name)]


def _each(changes: Changes) -> Iterator[RecordChange]:
    updates = list(zip(changes.update_old, changes.update_new, strict=True))
    yield from (RecordChange(old, None) for old in changes.delete)
    yield from (RecordChange(old, new) for old, new in updates)
    yield from (RecordChange(None, new) for new in changes.create)


def batches_of(bundles: Sequence[Bundle], size: int) -> list[list[Bundle]]:
    """The bundles in batches of at most `size` record changes; a larger bundle is a batch of its own."""
    batches: list[list[Bundle]] = []
    room = 0
    for bundle in bundles:
        if len(bundle.changes) > room or not batches:
            batches.append([])
            room = size
        batches[-1].append(bundle)
        room -= len(bundle.changes)
    return batches


_T = TypeVar("_T")


def halves(batch: Sequence[_T]) -> tuple[Sequence[_T], Sequence[_T]]:
    """A batch in two, to find out which name it failed for."""
    middle = len(batch) // 2
    return batch[:middle], batch[middle:]
