"""What gatepost asks of a store of ownership."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from gatepost.dns.endpoint import EndpointKey
from gatepost.dns.ownership.stored import Entry
from gatepost.providers.contract import ProviderError


class RegistryError(ProviderError):
    """The store could not be asked, or it is not known what it did. No record may be changed on what it said before."""


class EntryResult(Struct, frozen=True):
    """How it went with one entry.

    Attributes:
        entry: as it is in the store now, with its id there.
        error: "" if it is as asked, else why not, in words for who wants the record.
        is_new: nobody had an entry there before.
    """

    entry: Entry
    error: str = ""
    is_new: bool = False


class OwnershipStore(Protocol):
    """A place that keeps an entry for each record, with its owner."""

    async def read(self) -> Sequence[Entry]:
        """All entries, of all owners, complete or not at all. Raises: RegistryError."""
        ...

    async def claim(self, entries: Sequence[Entry]) -> Sequence[EntryResult]:
        """Makes these entries, or brings them up to date if they are their owner's already; each by itself.

        Returns: one result for each, in the same order. An entry that another owner holds stays as it is.
        Raises: RegistryError if it is not known which were made; claiming again settles that.
        """
        ...

    async def release(self, entries: Sequence[Entry]) -> Sequence[EntryResult]:
        """Deletes these entries where they are still their owner's; one that is gone is no error.

        Returns, raises: as `claim`.
        """
        ...

    async def settle(self, outcomes: Mapping[EndpointKey, str]) -> None:
        """Notes how the provider took the records of claims: "", or why not. Raises: RegistryError; nothing is lost."""
        ...
