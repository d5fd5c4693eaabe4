"""A Provider (see contract.py) of the zones of a PowerDNS server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from gatepost.dns.capabilities import Capabilities
from gatepost.dns.choices import RECORD_TYPES
from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.names import record_name
from gatepost.dns.ownership.txt_format import labels_in
from gatepost.dns.records import OWNER
from gatepost.dns.served import UnreadZone
from gatepost.providers.bundles import Bundle, batches_of
from gatepost.providers.contract import ProviderError, RecordResult, RefusedError
from gatepost.providers.listed_zones import AnswerLost, ListedZones
from gatepost.providers.pdns.api import Api, ApiRecordSet, api
from gatepost.providers.pdns.record_sets import ALIAS, Present, Presents, adjusted, api_changes, key_of, presents_of
from gatepost.providers.pdns.settings import PdnsSettings
from gatepost.providers.rate_limiter import RateLimiter
from gatepost.providers.reach import is_in_reach
from gatepost.providers.refusals import Refusal, send_in_halves
from gatepost.providers.tls import TlsSettings, client_context

CHANGES_IN_ONE_CALL = 500
"""PowerDNS takes bodies of up to 2 MB by default; each call costs it a transaction over the zone."""

NAMES_ASKED_SINGLY = 20
"""Up to here the record sets of each name are asked for by themselves; above, the whole zone is read at once."""


class PdnsProvider(ListedZones):
    """Reads and writes by the HTTP API.

    Args: domains: which zones to read and write; those it leaves out stay as they are.
    Raises: ValueError if something is wrong with the settings, a line for each.
    """

    def __init__(
        self, settings: PdnsSettings, domains: DomainFilter | None = None, tls: TlsSettings | None = None
    ) -> None:
        super().__init__()
        tls = tls or TlsSettings()
        wrong = (*settings.check(), *tls.check())
        if wrong:
            raise ValueError("\n".join(wrong))
        self._settings = settings
        self._tls = client_context(tls, skip_verify=settings.pdns_skip_tls_verify, ca=settings.pdns_tls_ca)
        self._domains = domains or DomainFilter()
        self._limiter = RateLimiter()
        self._zone_ids: dict[str, str] = {}
        # By zone, of record sets with disabled records: asked for by name, they are not told.
        self._disabled: dict[str, Presents] = {}

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(provider="PowerDNS", set_identifiers=False, properties=(ALIAS.name,))

    # Reading

    async def _read_all(self) -> list[Endpoint]:
        async with api(self._settings, self._tls, self._limiter) as calls:
            try:
                self._zone_ids = {record_name(zone.name): zone.id for zone in await calls.zones()}
            except (Refusal, AnswerLost) as error:
                raise ProviderError(str(error)) from error
            names = [name for name in sorted(self._zone_ids) if is_in_reach(name, self._domains)]
            read = await asyncio.gather(*(self._read(calls, name) for name in names))
        return self._sorted_out(dict(zip(names, read, strict=True)))

    async def _read_one(self, zone: str) -> Sequence[Endpoint] | UnreadZone:
        async with api(self._settings, self._tls, self._limiter) as calls:
            return await self._read(calls, zone)

    async def _read(self, calls: Api, zone: str) -> Sequence[Endpoint] | UnreadZone:
        try:
            found = presents_of((await calls.zone(self._zone_ids[zone])).rrsets)
        except (Refusal, AnswerLost) as error:
            return UnreadZone(zone, str(error))
        self._disabled[zone] = {key: present for key, present in found.items() if present.disabled}
        return [present.endpoint for present in found.values() if present.endpoint is not None]

    def adjust(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        return [adjusted(endpoint, self._zone_ids) for endpoint in endpoints]

    # Writing

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        """See Provider.apply. All changes of one name are made, or none of them."""
        self._just_read = None
        async with api(self._settings, self._tls, self._limiter) as calls:
            if not self._zone_ids:
                await self._read_all()
            by_zone, results = self._by_zone(changes, self._zone_ids, "of this server")
            return await self._written({z: self._write(calls, z, bundles) for z, bundles in by_zone.items()}, results)

    async def _write(self, calls: Api, zone: str, bundles: Sequence[Bundle]) -> list[RecordResult]:
        """Raises: AnswerLost if it is not known what was made."""
        results: list[RecordResult] = []
        fitting: list[Bundle] = []
        sent: dict[str, list[ApiRecordSet]] = {}
        try:
            there = await self._there(calls, zone, bundles)
        except Refusal as refusal:
            return [result for bundle in bundles for result in bundle.results(str(refusal))]
        for bundle in bundles:
            try:
                sent[bundle.name] = self._api_changes(bundle, there)
                fitting.append(bundle)
            except RefusedError as refusal:
                results += bundle.results(str(refusal))

        async def send(batch: Sequence[Bundle]) -> None:
            record_sets = sorted((s for bundle in batch for s in sent[bundle.name]), key=lambda s: s.changetype)
            await calls.patch(self._zone_ids[zone], record_sets)

        return [*results, *await send_in_halves(batches_of(fitting, CHANGES_IN_ONE_CALL), send, Bundle.results)]

    async def _there(self, calls: Api, zone: str, bundles: Sequence[Bundle]) -> Presents:
        """What is there now of all names that these changes rest on."""
        zone_id = self._zone_ids[zone]
        names = {name for bundle in bundles for name in self._names(bundle)}
        if len(names) > NAMES_ASKED_SINGLY:
            return presents_of((await calls.zone(zone_id)).rrsets)
        found: Presents = {}
        for read in await asyncio.gather(*(calls.zone(zone_id, f"{name}.") for name in sorted(names))):
            found.update(presents_of(read.rrsets))
        disabled = self._disabled.get(zone, {})
        for key in disabled.keys() & {(name, type_) for name in names for type_ in RECORD_TYPES}:
            there = found.get(key)
            found[key] = Present(there.endpoint if there is not None else None, disabled[key].disabled)
        return found

    def _names(self, bundle: Bundle) -> Iterable[str]:
        for change in bundle.changes:
            yield key_of(change.record)[0]
            if self._ownership is not None and change.record.record_type != "TXT":
                yield self._ownership.for_record(record_name(change.record.dns_name), change.record.record_type)

    def _api_changes(self, bundle: Bundle, there: Presents) -> list[ApiRecordSet]:
        """What to send for a bundle. Deletions go first: a name cannot hold A and CNAME at once (RFC 1034 3.6.2)."""
        changed = {key_of(change.record) for change in bundle.changes}
        sent: list[ApiRecordSet] = []
        for change in bundle.changes:
            self._check_owner(change.record, there, changed)
            sent += api_changes(change, there.get(key_of(change.record)))
        return sorted(sent, key=lambda record_set: record_set.changetype)

    def _check_owner(self, record: Endpoint, there: Presents, changed: set[tuple[str, str]]) -> None:
        """Raises: RefusedError if somebody else has written down meanwhile that the record is theirs."""
        owner = record.labels.get(OWNER, "")
        if self._ownership is None or not owner or record.record_type == "TXT":
            return
        key = (self._ownership.for_record(record_name(record.dns_name), record.record_type), "TXT")
        present = there.get(key)
        if key in changed or present is None or present.endpoint is None:
            return
        for labels in map(labels_in, present.endpoint.targets):
            if labels is not None and labels.get(OWNER, "") != owner:
                theirs = labels.get(OWNER) or "somebody else"
                raise RefusedError(
                    f"{record.record_type} {record.dns_name}: it belongs to {theirs} by now, not {owner}"
                )
