"""What gatepost asks of a DNS provider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from msgspec import Struct

from gatepost.dns.capabilities import Capabilities
from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey
from gatepost.dns.ownership.txt_format import OwnershipNames
from gatepost.dns.served import UnreadZone


class RecordResult(Struct, frozen=True):
    """How one change went: `error` is "" when the provider took it, else why not, in words for the record's owner."""

    key: EndpointKey
    error: str = ""


class RefusedError(ValueError):
    """A record set that cannot be in a zone; the text says why, for its owner."""


class ProviderError(Exception):
    """The provider could not be asked, or gave no usable answer; nothing is known about its records."""


class ZonesUnknown(ProviderError):
    """It is not known what some zones hold (any more). Other zones have nothing to do with it.

    Attributes:
        zones: which, and why.
        results: how the changes of other zones went, where changes were made.
    """

    def __init__(self, zones: Sequence[UnreadZone], results: Sequence[RecordResult] = ()) -> None:
        super().__init__("; ".join(dict.fromkeys(zone.why for zone in zones)))
        self.zones = tuple(zones)
        self.results = tuple(results)


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
        Raises: ZonesUnknown if it is not known whether changes to some zones were made; ProviderError if that is not
            known of anything.
        """
        ...


@runtime_checkable
class DeclaringProvider(Provider, Protocol):
    """A provider that says what it can; any other is asked to take whatever is wanted."""

    @property
    def capabilities(self) -> Capabilities: ...


@runtime_checkable
class ZonedProvider(Provider, Protocol):
    """A provider whose zones are read one by one: one that cannot be read keeps no other from being read.

    Its `zones` and `records` leave such zones out; they raise ZonesUnknown if no zone at all can be read.
    """

    def unread(self) -> Sequence[UnreadZone]:
        """The zones that the last listing left out, sorted, and why."""
        ...

    async def read_again(self, zone: str) -> Sequence[Endpoint]:
        """All record sets of one zone that was unread; the others are left alone. Raises: ZonesUnknown."""
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
