"""A Provider (see contract.py) of the zones of a target of octoDNS, whose blocking calls run in a thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.providers.contract import ProviderError, RecordResult
from gatepost.providers.listed_zones import ListedZones
from gatepost.providers.octodns.records import adjusted
from gatepost.providers.octodns.settings import OctodnsSettings
from gatepost.providers.octodns.target import Target, TargetError

log = logging.getLogger("gatepost.providers.octodns")


class OctodnsProvider(ListedZones):
    """Reads and writes through octoDNS, one call at a time: its providers are not made for several threads.

    Args: domains: which zones to read and write; those it leaves out stay as they are.
    Raises: ValueError if something is wrong with the settings, a line for each, or if octoDNS is missing.
    """

    why_unusable = "could not be read"  # the filter has left nothing out: the target knows only zones within it

    def __init__(self, settings: OctodnsSettings, domains: DomainFilter | None = None) -> None:
        super().__init__()
        wrong = settings.check()
        if wrong:
            raise ValueError("\n".join(wrong))
        self._target = Target(settings, domains or DomainFilter())
        self._name = settings.octodns_provider
        self._known: tuple[str, ...] = ()
        self._one_at_a_time = asyncio.Lock()

    async def _read_all(self) -> list[Endpoint]:
        async with self._one_at_a_time:
            try:
                self._known = tuple(await asyncio.to_thread(self._target.zones))
            except TargetError as error:
                raise ProviderError(str(error)) from error
            read = {zone: await self._read(zone) for zone in self._known}
        found = {zone: records for zone, records in read.items() if records is not None}
        if self._known and not found:
            raise ProviderError(f"{self._name} of octoDNS lets none of its zones be read: {', '.join(self._known)}")
        self._usable = frozenset(found)
        return [record for records in found.values() for record in records]

    async def _read(self, zone: str) -> list[Endpoint] | None:
        error = "the target has no such zone"
        try:
            records = await asyncio.to_thread(self._target.records, zone)
        except TargetError as failure:
            records, error = None, str(failure)
        if records is None:
            message = "a zone cannot be read, and its records stay as they are"
            log.warning(message, extra={"fields": {"zone": zone, "error": error}})
        return records

    def adjust(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        return [adjusted(endpoint, self._known, has_alias=self._target.has_alias) for endpoint in endpoints]

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        """See Provider.apply. The changes of one name are planned together; many targets make them one by one."""
        self._just_read = None
        if not self._known:
            await self._read_all()
        by_zone, results = self._by_zone(changes, self._known, f"of {self._name}")
        async with self._one_at_a_time:
            for zone, bundles in by_zone.items():
                try:
                    results += await asyncio.to_thread(self._target.write, zone, bundles, self._ownership)
                except TargetError as error:
                    raise ProviderError(f"it is not known whether changes were made: {error}") from error
        return results
