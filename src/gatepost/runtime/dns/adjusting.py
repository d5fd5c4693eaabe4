"""How a provider would list what is wanted, asked of it once for many names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gatepost.dns.endpoint import Endpoint, NameKey
from gatepost.dns.planner import Adjust
from gatepost.dns.records import RecordSet
from gatepost.providers.contract import Provider, RemoteProvider


async def adjuster(provider: Provider, wanted: Iterable[RecordSet]) -> Adjust:
    """What a planner needs to bring these record sets, name by name, into the form of the provider.

    An endpoint that comes back under a name that no record set asks for is left out: it would have no claim.
    Raises: ProviderError
    """
    if not isinstance(provider, RemoteProvider):
        return provider.adjust
    asked = [endpoint for record_set in wanted for endpoint in record_set.endpoints]
    by_name: dict[NameKey, list[Endpoint]] = {}
    for endpoint in await provider.adjust_remotely(asked):
        by_name.setdefault(endpoint.name_key, []).append(endpoint)

    def adjust(endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        names = dict.fromkeys(endpoint.name_key for endpoint in endpoints)
        return [endpoint for name in names for endpoint in by_name.get(name, ())]

    return adjust
