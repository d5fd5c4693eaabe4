"""From record sets that are wanted to a zone on a real server, in one go: list, plan, apply."""

from __future__ import annotations

from collections.abc import Sequence

from dns_servers import API_KEY, KEY_NAME, KEY_SECRET, DnsServer
from msgspec import Struct

from gatepost.dns.endpoint import NameKey
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership.changes import changes_for
from gatepost.dns.ownership.registry import inventory
from gatepost.dns.plan import Plan
from gatepost.dns.planner import Planner
from gatepost.dns.records import Claimant, Record, RecordSet
from gatepost.dns.served import Served
from gatepost.dns.settings import DnsSettings
from gatepost.dns.standing import GONE, Standing
from gatepost.objects.gatewayapi import HTTPRoute
from gatepost.providers.contract import GuardingProvider, RecordResult
from gatepost.providers.pdns.provider import PdnsProvider
from gatepost.providers.pdns.settings import PdnsSettings
from gatepost.providers.rfc2136.provider import Rfc2136Provider
from gatepost.providers.rfc2136.settings import Rfc2136Settings


def owned_by(owner: str, **others: str) -> DnsSettings:
    return DnsSettings(sources=("gateway-httproute",), txt_owner_id=owner, **others)  # type: ignore[arg-type]


def provider_of(server: DnsServer, port: int = 0) -> Rfc2136Provider | PdnsProvider:
    """The provider for a server. `port`: where to find it instead, behind a proxy."""
    if server.kind == "pdns":
        return PdnsProvider(PdnsSettings(pdns_server=server.api_url, pdns_api_key=API_KEY))
    return Rfc2136Provider(
        Rfc2136Settings(
            rfc2136_host=("127.0.0.1",),
            rfc2136_port=port or server.port,
            rfc2136_zone=server.zones,
            rfc2136_tsig_keyname=KEY_NAME,
            rfc2136_tsig_secret=KEY_SECRET,
        )
    )


def wanted(name: str, *targets: str, type_: str = "A", ttl: int = 0, route: str = "cart") -> RecordSet:
    """What HTTPRoute shop/ROUTE wants under a name."""
    claimant = Claimant("2026-01-01T00:00:00Z", HTTPRoute.KIND.ref("shop", route))
    return RecordSet(name, "", (Record(type_, targets or ("192.0.2.1",), ttl),), (claimant,))


class Listed(Struct):
    """What was read of a provider at one moment; planning against it later is planning on old news."""

    provider: GuardingProvider
    settings: DnsSettings
    zones: tuple[str, ...]
    inventory: Inventory

    def plan(self, *record_sets: RecordSet) -> Plan:
        """The plan for exactly these record sets; objects behind other records count as gone."""
        served = Served(frozenset(self.zones))
        return Planner(self.settings, _gone, self.provider.adjust, served).plan_all(
            self.inventory, record_sets, allow=True
        )

    async def publish(self, *record_sets: RecordSet) -> Sequence[RecordResult]:
        """Makes the changes of that plan, and follows them."""
        changes = changes_for(self.plan(*record_sets).allowed, self.inventory)
        results = await self.provider.apply(changes)
        self.inventory.take(changes, {result.key for result in results if result.error})
        return results


async def listed(provider: GuardingProvider, settings: DnsSettings) -> Listed:
    zones = tuple(await provider.zones())
    held = inventory(settings, await provider.records(), zones)
    provider.guard(held.txt.names if held.txt is not None else None)
    return Listed(provider, settings, zones, held)


def _gone(resource: str, key: NameKey) -> Standing:
    return Standing(GONE, f"{resource} is gone")
