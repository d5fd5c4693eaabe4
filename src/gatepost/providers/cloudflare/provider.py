"""A Provider (see contract.py) of the zones of a Cloudflare account."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from gatepost.dns.capabilities import Capabilities, Rate
from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.names import record_name
from gatepost.dns.served import UnreadZone
from gatepost.providers.as_planned import Key, key_of, ownership_key, require_as_planned
from gatepost.providers.bundles import Bundle
from gatepost.providers.cloudflare.api import Api, api, library
from gatepost.providers.cloudflare.records import (
    COMMENT,
    PROXIED,
    TAGS,
    TYPES,
    Operations,
    Rows,
    adjusted,
    endpoint_of,
    operations,
    rows_of,
)
from gatepost.providers.cloudflare.settings import CloudflareSettings
from gatepost.providers.contract import ProviderError, RecordResult, RefusedError
from gatepost.providers.listed_zones import AnswerLost, ListedZones
from gatepost.providers.rate_limiter import RateLimiter
from gatepost.providers.reach import is_in_reach
from gatepost.providers.refusals import Refusal, send_in_halves

CAPABILITIES = Capabilities(
    provider="Cloudflare",
    types=frozenset(TYPES),
    set_identifiers=False,
    ttls=(60, 86400),  # 30 only in zones of the largest plan
    properties=(COMMENT, PROXIED, TAGS),
    without_effect=("cloudflare-custom-hostname", "cloudflare-region-key"),
    # 1200 calls within five minutes, for all that one user does: the burst counts too.
    rate=Rate(calls=1100, seconds=300.0, burst=100),
)

RECORDS_IN_ONE_CALL = 200
"""What a batch may hold in zones of the smallest plan; a name with more goes alone, and Cloudflare decides."""

NAMES_ASKED_SINGLY = 20
"""Up to here the records of each name are asked for by themselves; above, the whole zone is read."""

_AT_ONCE = 4


class CloudflareProvider(ListedZones):
    """Reads and writes by the official library.

    Args:
        domains: which zones to read and write; those it leaves out stay as they are.
        limiter: stands before every call.
    Raises: ValueError if something is wrong with the settings, a line for each, or if the library is missing.
    """

    def __init__(
        self, settings: CloudflareSettings, domains: DomainFilter | None = None, limiter: RateLimiter | None = None
    ) -> None:
        super().__init__()
        wrong = settings.check()
        if wrong:
            raise ValueError("\n".join(wrong))
        library()
        self._settings = settings
        self._domains = domains or DomainFilter()
        self._limiter = limiter or RateLimiter(CAPABILITIES.rate)
        self._zone_ids: dict[str, str] = {}

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    # Reading

    async def _read_all(self) -> list[Endpoint]:
        try:
            async with api(self._settings, self._limiter) as calls:
                self._zone_ids = {record_name(name): id_ for name, id_ in (await calls.zones()).items()}
                names = [name for name in sorted(self._zone_ids) if is_in_reach(name, self._domains)]
                at_once = asyncio.Semaphore(_AT_ONCE)
                read = await asyncio.gather(*(self._read(calls, name, at_once) for name in names))
        except (Refusal, AnswerLost) as error:
            raise ProviderError(str(error)) from error
        return self._sorted_out(dict(zip(names, read, strict=True)))

    async def _read_one(self, zone: str) -> Sequence[Endpoint] | UnreadZone:
        try:
            async with api(self._settings, self._limiter) as calls:
                return await self._read(calls, zone, asyncio.Semaphore())
        except Refusal as error:
            raise ProviderError(str(error)) from error

    async def _read(self, calls: Api, zone: str, at_once: asyncio.Semaphore) -> Sequence[Endpoint] | UnreadZone:
        try:
            async with at_once:
                rows = rows_of(await calls.records(self._zone_ids[zone]))
        except (Refusal, AnswerLost) as error:
            return UnreadZone(zone, str(error))
        return [endpoint_of(rows[key]) for key in sorted(rows)]

    def adjust(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        proxied, comment = self._settings.cloudflare_proxied, self._settings.cloudflare_record_comment
        return [adjusted(endpoint, proxied=proxied, comment=comment) for endpoint in endpoints]

    # Writing

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        """See Provider.apply. All changes of one name are made, or none of them."""
        self._just_read = None
        if not self._zone_ids:
            await self._read_all()
        by_zone, results = self._by_zone(changes, self._zone_ids, "that the token reaches")
        try:
            async with api(self._settings, self._limiter) as calls:
                written = {zone: self._write(calls, zone, bundles) for zone, bundles in by_zone.items()}
                return await self._written(written, results)
        except Refusal as refusal:
            return [*results, *(r for bundles in by_zone.values() for b in bundles for r in b.results(str(refusal)))]

    async def _write(self, calls: Api, zone: str, bundles: Sequence[Bundle]) -> list[RecordResult]:
        """Raises: AnswerLost if it is not known what was made."""
        results: list[RecordResult] = []
        fitting: list[Bundle] = []
        wanted: dict[str, Operations] = {}
        try:
            there = await self._there(calls, self._zone_ids[zone], bundles)
        except Refusal as refusal:
            return [result for bundle in bundles for result in bundle.results(str(refusal))]
        for bundle in bundles:
            try:
                wanted[bundle.name] = self._operations(bundle, there)
                fitting.append(bundle)
            except RefusedError as refusal:
                results += bundle.results(str(refusal))

        async def send(batch: Sequence[Bundle]) -> None:
            together = Operations()
            for bundle in batch:
                together += wanted[bundle.name]
            await calls.write(self._zone_ids[zone], together)

        return [*results, *await send_in_halves(_batches(fitting, wanted), send, Bundle.results)]

    async def _there(self, calls: Api, zone_id: str, bundles: Sequence[Bundle]) -> Rows:
        """What is there now of all names that these changes rest on."""
        records = [change.record for bundle in bundles for change in bundle.changes]
        keys: set[Key] = {key_of(record) for record in records}
        if self._ownership is not None:
            keys |= {key for record in records if (key := ownership_key(record, self._ownership)) is not None}
        names = sorted({name for name, _ in keys})
        if len(names) > NAMES_ASKED_SINGLY:
            return rows_of(await calls.records(zone_id))
        found: Rows = {}
        for name in names:
            found.update(rows_of(await calls.records(zone_id, name)))
        return found

    def _operations(self, bundle: Bundle, there: Rows) -> Operations:
        def endpoint_there(key: Key) -> Endpoint | None:
            return endpoint_of(there[key]) if key in there else None

        require_as_planned(bundle, endpoint_there, self._ownership)
        wanted = Operations()
        for change in bundle.changes:
            wanted += operations(change, there.get(key_of(change.record), ()))
        return wanted


def _batches(bundles: Sequence[Bundle], wanted: dict[str, Operations]) -> list[list[Bundle]]:
    batches: list[list[Bundle]] = []
    room = 0
    for bundle in bundles:
        size = wanted[bundle.name].size
        if size > room or not batches:
            batches.append([])
            room = RECORDS_IN_ONE_CALL
        batches[-1].append(bundle)
        room -= size
    return batches
