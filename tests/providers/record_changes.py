"""Records to write to a provider, and what it said of each."""

from __future__ import annotations

from gatepost.dns.endpoint import Changes, Endpoint, Property
from gatepost.providers.contract import Provider


def a(
    name: str, *targets: str, ttl: int = 0, set_identifier: str = "", properties: tuple[Property, ...] = ()
) -> Endpoint:
    """An A record, of 192.0.2.1 unless targets are given."""
    return Endpoint(name, "A", targets or ("192.0.2.1",), ttl, set_identifier, provider_specific=properties)


async def errors(provider: Provider, changes: Changes) -> list[str]:
    """Why each change was refused, "" where it was not."""
    return [result.error for result in await provider.apply(changes)]
