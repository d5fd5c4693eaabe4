"""What providers share whose zones are listed together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import ClassVar

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.names import zone_of
from gatepost.dns.ownership import OwnershipNames
from gatepost.providers.as_planned import key_of
from gatepost.providers.bundles import Bundle, bundles_of
from gatepost.providers.contract import RecordResult
from gatepost.providers.embedded import RefusedError


class ListedZones(ABC):
    """Gives `zones` and `records` from one listing, so that both speak of the same moment.

    A zone that cannot be read is in neither: its records stay as they are, and changes in it are refused.
    """

    why_unusable: ClassVar[str] = "could not be read, or the domain filter leaves it out"
    """What may have kept a zone from being read, for those whose zones cannot tell."""

    def __init__(self) -> None:
        self._usable: frozenset[str] = frozenset()
        self._ownership: OwnershipNames | None = None
        self._just_read: list[Endpoint] | None = None

    def guard(self, names: OwnershipNames | None) -> None:
        """See GuardingProvider.guard."""
        self._ownership = names

    async def zones(self) -> Sequence[str]:
        """The zones in reach that could be read now. Raises: ProviderError if none can."""
        self._just_read = await self._read_all()
        return sorted(self._usable)

    async def records(self) -> Sequence[Endpoint]:
        """See Provider.records. A zone that `zones` leaves out is left out here too."""
        read = self._just_read if self._just_read is not None else await self._read_all()
        self._just_read = None
        return read

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
        if zone not in self._usable:
            raise RefusedError(f"{bundle.name}: zone {zone} {self.why_unusable}")
        for change in bundle.changes:
            if zone_of(key_of(change.record)[0], zones) != zone:
                raise RefusedError(
                    f"{bundle.name}: its ownership record {change.record.dns_name} lies outside of {zone}"
                )
        return zone

    @abstractmethod
    async def _read_all(self) -> list[Endpoint]:
        """All records of the zones that can be read, which become `_usable`. Raises: ProviderError if none can."""
