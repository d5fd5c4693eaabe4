"""A Provider (see contract.py) of the zones of a target of octoDNS, whose blocking calls run in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from gatepost.dns.capabilities import Capabilities
from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.served import UnreadZone
from gatepost.providers.bundles import Bundle
from gatepost.providers.contract import ProviderError, RecordResult
from gatepost.providers.listed_zones import AnswerLost, ListedZones
from gatepost.providers.octodns.records import ALIAS, adjusted
from gatepost.providers.octodns.settings import OctodnsSettings
from gatepost.providers.octodns.target import Target, TargetError


class OctodnsProvider(ListedZones):
    """Reads and writes through octoDNS, one call at a time: its providers are not made for several threads.

    Args: domains: which zones to read and write; those it leaves out stay as they are.
    Raises: ValueError if something is wrong with the settings, a line for each, or if octoDNS is missing.
    """

    def __init__(self, settings: OctodnsSettings, domains: DomainFilter | None = None) -> None:
        super().__init__()
        wrong = settings.check()
        if wrong:
            raise ValueError("\n".join(wrong))
        self._target = Target(settings, domains or DomainFilter())
        self._name = settings.octodns_provider
        self._known: tuple[str, ...] = ()
        self._one_at_a_time = asyncio.Lock()

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            provider=f"{self._name} of octoDNS",
            types=self._target.types,
            set_identifiers=False,
            apex_cname=self._target.has_alias,
            properties=(ALIAS.name,),
        )

    async def _read_all(self) -> list[Endpoint]:
        async with self._one_at_a_time:
            try:
                self._known = tuple(await asyncio.to_thread(self._target.zones))
            except TargetError as error:
                raise ProviderError(str(error)) from error
            return self._sorted_out({zone: await self._read(zone) for zone in self._known})

    async def _read_one(self, zone: str) -> Sequence[Endpoint] | UnreadZone:
        async with self._one_at_a_time:
            return await self._read(zone)

    async def _read(self, zone: str) -> Sequence[Endpoint] | UnreadZone:
        try:
            records = await asyncio.to_thread(self._target.records, zone)
        except TargetError as error:
            return UnreadZone(zone, str(error))
        return UnreadZone(zone, f"{self._name} of octoDNS has no such zone") if records is None else records

    def adjust(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        return [adjusted(endpoint, self._known, has_alias=self._target.has_alias) for endpoint in endpoints]

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        """See Provider.apply. The changes of one name are planned together; many targets make them one by one."""
        self._just_read = None
        if not self._known:
            await self._read_all()
        by_zone, results = self._by_zone(changes, self._known, f"of {self._name}")
        return await self._written({zone: self._write(zone, bundles) for zone, bundles in by_zone.items()}, results)

    async def _write(self, zone: str, bundles: Sequence[Bundle]) -> Sequence[RecordResult]:
        async with self._one_at_a_time:
            try:
                return await asyncio.to_thread(self._target.write, zone, bundles, self._ownership)
            except TargetError as error:
                raise AnswerLost(str(error)) from error
