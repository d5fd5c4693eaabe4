"""A zone whose owners are kept in a book beside it: a store in memory, through answers that get lost, with a referee.

The referee holds what must never happen to the book: a change of an entry of another owner, and the release of an entry
whose record is there as its owner made it, which then would be nobody's for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from faulty_zone import ANSWER_IS_LOST, HALF_IS_MADE, LISTING_FAILS, NOTHING_IS_SENT, SOME_ARE_REFUSED, Faulty, Zone
from msgspec import structs

from gatepost.dns.endpoint import EndpointKey
from gatepost.dns.ownership.stored import Entry
from gatepost.registries.contract import EntryResult, RegistryError


class BookedZone(Zone):
    """The zone, and its book: entries by what they are about."""

    def __init__(self) -> None:
        super().__init__()
        self.book: dict[EndpointKey, Entry] = {}

    def store_for(self, actor: str) -> Book:
        return Book(self, actor)

    async def owner_of(self, name: str) -> str:
        entry = self.book.get(EndpointKey(name, "A"))
        return entry.owner if entry is not None else ""

    def owners(self) -> dict[str, str]:
        """The owners of all entries, by name."""
        return {key.dns_name: entry.owner for key, entry in self.book.items()}

    async def release(self, actor: str, entry: Entry) -> None:
        """Takes an entry out of the book, and notes if that must not be done."""
        there = self.book.pop(entry.key)
        if there.owner != actor:
            self.offences.append(f"{actor} releases {entry.key} of {there.owner}")
        targets = (await self.contents()).get(entry.key)
        if targets is not None and targets == there.record.targets:
            self.offences.append(f"{actor} releases {entry.key}, whose record is there")


class Book(Faulty):
    """The book as one instance reaches it: an OwnershipStore whose next call may go wrong."""

    def __init__(self, zone: BookedZone, actor: str) -> None:
        self.calls = 0
        self.settled: dict[EndpointKey, str] = {}
        self._zone = zone
        self._actor = actor

    async def read(self) -> Sequence[Entry]:
        if self._fault(LISTING_FAILS):
            raise RegistryError("the scan breaks off")
        return list(self._zone.book.values())

    async def claim(self, entries: Sequence[Entry]) -> Sequence[EntryResult]:
        return await self._each(entries, is_claim=True)

    async def release(self, entries: Sequence[Entry]) -> Sequence[EntryResult]:
        return await self._each(entries, is_claim=False)

    async def settle(self, outcomes: Mapping[EndpointKey, str]) -> None:
        self.settled.update(outcomes)

    async def _each(self, entries: Sequence[Entry], *, is_claim: bool) -> list[EntryResult]:
        self.calls += 1
        self._zone.note_writing(self._actor, self.is_led)
        if is_claim:
            self._zone.note_sending(self._actor)
        await asyncio.sleep(0)
        if self._fault(NOTHING_IS_SENT):
            raise RegistryError("no route to host")
        half, refusing = self._fault(HALF_IS_MADE), self._fault(SOME_ARE_REFUSED)
        results: list[EntryResult] = []
        for number, entry in enumerate(entries):
            if half is not None and number == half.at:
                raise RegistryError("connection reset")
            if refusing is not None and (number + refusing.at) % 3 == 0:
                results.append(EntryResult(entry, "throttled"))
            else:
                results.append(await (self._claim(entry) if is_claim else self._release(entry)))
        if half is not None or self._fault(ANSWER_IS_LOST):
            raise RegistryError("no answer in time")
        return results

    async def _claim(self, entry: Entry) -> EntryResult:
        there = self._zone.book.get(entry.key)
        if there is not None and there.owner != entry.owner:
            return EntryResult(entry, f"it belongs to {there.owner}")
        made = structs.replace(entry, id=str(entry.key))
        self._zone.book[entry.key] = made
        return EntryResult(made, is_new=there is None)

    async def _release(self, entry: Entry) -> EntryResult:
        there = self._zone.book.get(entry.key)
        if there is not None and there.owner != entry.owner:
            return EntryResult(entry, f"it belongs to {there.owner}")
        if there is not None:
            await self._zone.release(self._actor, entry)
        return EntryResult(entry)
