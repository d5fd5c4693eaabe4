"""What providers share whose zones are listed together."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Collection, Mapping, Sequence

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.names import zone_of
from gatepost.dns.ownership.txt_format import OwnershipNames
from gatepost.dns.served import UnreadZone
from gatepost.providers.as_planned import key_of
from gatepost.providers.bundles import Bundle, bundles_of
from gatepost.providers.contract import RecordResult, RefusedError, ZonesUnknown


class AnswerLost(Exception):
    """No usable answer came, in as many tries as there are; if changes were sent, they may have been made."""


class ListedZones(ABC):
    """Gives `zones` and `records` from one listing, so that both speak of the same moment.

    A zone that cannot be read is in neither: its records stay as they are, and changes in it are refused.
    """

    def __init__(self) -> None:
        self._usable: frozenset[str] = frozenset()
        self._unread: dict[str, UnreadZone] = {}
        self._ownership: OwnershipNames | None = None
        self._just_read: list[Endpoint] | None = None

    def guard(self, names: OwnershipNames | None) -> None:
        """See GuardingProvider.guard."""
        self._ownership = names

    async def zones(self) -> Sequence[str]:
        """The zones in reach that could be read now. Raises: ZonesUnknown if none can, ProviderError."""
        self._just_read = await self._read_all()
        return sorted(self._usable)

    async def records(self) -> Sequence[Endpoint]:
        """See Provider.records. A zone that `zones` leaves out is left out here too."""
        read = self._just_read if self._just_read is not None else await self._read_all()
        self._just_read = None
        return read

    def unread(self) -> Sequence[UnreadZone]:
        """See ZonedProvider.unread."""
        return sorted(self._unread.values())

    async def read_again(self, zone: str) -> Sequence[Endpoint]:
        """See ZonedProvider.read_again."""
        read = await self._read_one(zone)
        if isinstance(read, UnreadZone):
            raise ZonesUnknown([read])
        self._unread.pop(zone, None)
        self._usable |= {zone}
        return read

    def _sorted_out(self, read: Mapping[str, Sequence[Endpoint] | UnreadZone]) -> list[Endpoint]:
        """Takes note of which zones could be read. Returns: their records. Raises: ZonesUnknown if there are none."""
        found = {zone: records for zone, records in read.items() if not isinstance(records, UnreadZone)}
        self._unread = {zone: unread for zone, unread in read.items() if isinstance(unread, UnreadZone)}
        self._usable = frozenset(found)
        if self._unread and not found:
            raise ZonesUnknown(self.unread())
        return [record for records in found.values() for record in records]

    async def _written(
        self, by_zone: Mapping[str, Awaitable[Sequence[RecordResult]]], results: list[RecordResult]
    ) -> list[RecordResult]:
        """Has all zones written at the same time. Returns: `results`, and those of the zones.

        Args: by_zone: for each zone what writes it, and raises AnswerLost if it is not known what was made.
        Raises: ZonesUnknown once all are through, if that happened.
        """
        lost: list[UnreadZone] = []
        for zone, outcome in zip(by_zone, await asyncio.gather(*by_zone.values(), return_exceptions=True), strict=True):
            if isinstance(outcome, AnswerLost):
                lost.append(UnreadZone(zone, f"it is not known whether changes were made: {outcome}"))
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                results += outcome
        if lost:
            self._unread.update((zone.name, zone) for zone in lost)
            self._usable -= {zone.name for zone in lost}
            raise ZonesUnknown(sorted(lost), results)
        return results

    def _by_zone(
        self, changes: Changes, zones: Collection[str], whose: str
    ) -> tuple[dict[str, list[Bundle]], list[RecordResult]]:
        """The changes of each zone, and results for those that have none.

        Args:
            zones: all zones of the provider, also those that could not be read.
            whose: ends the sentence "outside of all zones ...", such as "of this server".
        """
        by_zone: dict[str, list[Bundle]] = {}
        results: list[RecordResult] = []
        for bundle in bundles_of(changes):
            try:
                by_zone.setdefault(self._zone_for(bundle, zones, whose), []).append(bundle)
            except RefusedError as refusal:
                results += bundle.results(str(refusal))
        return by_zone, results

    def _zone_for(self, bundle: Bundle, zones: Collection[str], whose: str) -> str:
        zone = zone_of(bundle.name, zones)
        if zone is None:
            raise RefusedError(f"{bundle.name}: the name is outside of all zones {whose}")
        unread = self._unread.get(zone)
        if unread is not None:
            raise RefusedError(f"{bundle.name}: zone {zone} cannot be read: {unread.why}")
        if zone not in self._usable:
            raise RefusedError(f"{bundle.name}: the domain filter leaves zone {zone} out")
        for change in bundle.changes:
            if zone_of(key_of(change.record)[0], zones) != zone:
                raise RefusedError(
                    f"{bundle.name}: its ownership record {change.record.dns_name} lies outside of {zone}"
                )
        return zone

    @abstractmethod
    async def _read_all(self) -> list[Endpoint]:
        """All records of the zones that can be read, by way of `_sorted_out`. Raises: ZonesUnknown, ProviderError."""

    @abstractmethod
    async def _read_one(self, zone: str) -> Sequence[Endpoint] | UnreadZone:
        """All records of one zone, or why they cannot be read. Raises: ProviderError."""
