"""All that a provider holds, and which names it serves, read at one moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from gatepost.dns.capabilities import Capabilities
from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.endpoint import Endpoint
from gatepost.dns.inventory import Inventory
from gatepost.dns.names import record_name
from gatepost.dns.served import Served, UnreadZone
from gatepost.providers.contract import DeclaringProvider, Provider, RemoteProvider, ZonedProvider, ZonesUnknown
from gatepost.runtime.dns.slices import in_slices


class Read(Struct, frozen=True):
    """The records of all zones that could be read, and what is served."""

    endpoints: tuple[Endpoint, ...]
    served: Served


async def read_provider(provider: Provider) -> Read:
    """Reads everything. Raises: ProviderError if the provider itself cannot be asked; a zone that fails is unread."""
    try:
        zones = await provider.zones()
        endpoints = await provider.records()
        unread = provider.unread() if isinstance(provider, ZonedProvider) else ()
    except ZonesUnknown as error:
        zones, endpoints, unread = (), (), error.zones
    return Read(tuple(endpoints), await _served(provider, zones, unread))


async def take_in(holdings: Inventory, endpoints: Iterable[Endpoint], now: Callable[[], float]) -> None:
    """Has an inventory know these records beside what it holds, and how many of all are ours; in slices."""
    async for endpoint in in_slices(endpoints, now):
        holdings.learn((endpoint,))
    async for _ in in_slices(holdings.counting_own(), now):
        pass


async def _served(provider: Provider, zones: Sequence[str], unread: Sequence[UnreadZone]) -> Served:
    capabilities = provider.capabilities if isinstance(provider, DeclaringProvider) else Capabilities()
    known = frozenset(map(record_name, (*zones, *(zone.name for zone in unread))))
    by_name = {record_name(zone.name): zone for zone in unread}
    if isinstance(provider, RemoteProvider):
        # Its zones are only the domains that it names, and may be none although it serves every name.
        return Served(known or None, by_name, await provider.domains(), capabilities)
    return Served(known, by_name, DomainFilter(), capabilities)
