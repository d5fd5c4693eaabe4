"""What providers share whose zones are listed together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from gatepost.dns.endpoint import Endpoint
from gatepost.dns.ownership import OwnershipNames


class ListedZones(ABC):
    """Gives `zones` and `records` from one listing, so that both speak of the same moment.

    A zone that cannot be read is in neither: its records stay as they are.
    """

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

    @abstractmethod
    async def _read_all(self) -> list[Endpoint]:
        """All records of the zones that can be read, which become `_usable`. Raises: ProviderError if none can."""
