"""What gatepost asks of a DNS provider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from msgspec import Struct

from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey
from gatepost.dns.ownership import OwnershipNames


class RecordResult(Struct, frozen=True):
    """How one change went: `error` is "" when the provider took it, else why not, in words for the record's owner."""

    key: EndpointKey
    error: str = ""


class ProviderError(Exception):
    """The provider could not be asked, or gave no usable answer; nothing is known about its records."""


class Provider(Protocol):
    """A place that holds DNS zones."""

    async def zones(self) -> Sequence[str]:
        """The names of the zones that it can write, without final dots. Raises: ProviderError."""
        ...

    async def records(self) -> Sequence[Endpoint]:
        """All record sets of its zones, TXT ones included, complete or not at all. Raises: ProviderError."""
        ...

    def adjust(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """The wanted record sets in the form in which `records` would report them once they are written."""
        ...

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        """Makes the changes, each record on its own: one refused record does not stop the others.

        Returns: one result for each record set of `changes` (for an update, of its new side).
        Raises: ProviderError if it is not known whether anything was changed.
        """
        ...


@runtime_checkable
class RemoteProvider(Provider, Protocol):
    """A provider behind another process, which alone knows how it adjusts endpoints and which names it serves."""

    async def adjust_remotely(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """What `adjust` is for other providers, asked for once for many names. Raises: ProviderError."""
        ...

    async def domains(self) -> DomainFilter:
        """The names that it serves; an empty filter stands for all. Raises: ProviderError."""
        ...


@runtime_checkable
class GuardingProvider(Provider, Protocol):
    """A provider that can make a change only if the ownership record behind it is still as it was read."""

    def guard(self, names: OwnershipNames | None) -> None:
        """Sets that condition from now on. `names`: where ownership is written; None if there is no registry."""
        ...
