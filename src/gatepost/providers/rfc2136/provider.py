"""A Provider (see contract.py) of the zones of DNS servers that take dynamic updates."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence

import dns.exception
import dns.name
import dns.rcode
import dns.tsig
from msgspec import Struct, field
from msgspec.structs import replace

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.names import zone_of
from gatepost.dns.ownership import OwnershipNames
from gatepost.dns.records import OWNER
from gatepost.providers.bundles import Bundle, RecordChange, batches_of, bundles_of, halves
from gatepost.providers.contract import ProviderError, RecordResult
from gatepost.providers.embedded import RefusedError, canonical_name
from gatepost.providers.rfc2136.contents import Contents, SetKey
from gatepost.providers.rfc2136.refusals import NOT_FOR_ONE_RECORD, Unusable, of_rcode
from gatepost.providers.rfc2136.servers import Server, Servers, Unreachable
from gatepost.providers.rfc2136.settings import Rfc2136Settings
from gatepost.providers.rfc2136.transfers import read_zone
from gatepost.providers.rfc2136.updates import Update, message_of, update_of
from gatepost.providers.targets import listed_form

log = logging.getLogger("gatepost.providers.rfc2136")

UPDATES_AT_ONCE = 20
"""BIND answers nothing at all once more than its update-quota (100) wait; with 20, an update takes no longer."""

TRANSFERS_AT_ONCE = 5
"""BIND gives no more than ten at once to all of its clients (transfers-out)."""

HOPELESS_BUNDLES = 10
"""A batch of at least so many names that is refused to the last one says that the zone takes nothing from us."""

DEFAULT_TTL_SECONDS = 300


class _Zone(Struct):
    """What we know of a zone.

    Attributes:
        contents: as last read; None before that.
        since: the record sets that we have changed since, None for those that are gone.
        problem: why it could not be read when we last tried.
    """

    name: str
    contents: Contents | None = None
    since: dict[SetKey, Endpoint | None] = field(default_factory=dict)
    problem: str = ""

    def find(self, key: SetKey) -> Endpoint | None:
        if key in self.since:
            return self.since[key]
        return self.contents.record_sets.get(key) if self.contents is not None else None


class Rfc2136Provider:
    """Writes by update messages, reads by transfers.

    Raises: ValueError if something is wrong with the settings, a line for each.
    """

    def __init__(self, settings: Rfc2136Settings) -> None:
        wrong = settings.check()
        if wrong:
            raise ValueError("\n".join(wrong))
        self._settings = settings
        self._key = _key(settings)
        servers = [Server(host, settings.rfc2136_port) for host in settings.rfc2136_host]
        self._servers = Servers(servers, self._key, settings.rfc2136_timeout)
        self._zones = {name: _Zone(name) for name in map(canonical_name, settings.rfc2136_zone)}
        self._ownership: OwnershipNames | None = None
        self._reading = asyncio.Lock()
        self._has_just_read = False  # so that `zones` and then `records` read once, and speak of the same moment
        self._sending = asyncio.Semaphore(UPDATES_AT_ONCE)
        self._transferring = asyncio.Semaphore(TRANSFERS_AT_ONCE)

    def guard(self, names: OwnershipNames | None) -> None:
        """See GuardingProvider.guard."""
        self._ownership = names

    # Reading

    async def zones(self) -> Sequence[str]:
        """The zones that could be read now: what another holds is not known, so nothing of it is planned.

        Raises: ProviderError if none can be read.
        """
        await self._read_all()
        self._has_just_read = True
        return sorted(zone.name for zone in self._zones.values() if not zone.problem)

    async def records(self) -> Sequence[Endpoint]:
        """See Provider.records. A zone that `zones` leaves out is left out here too."""
        if not self._has_just_read:
            await self._read_all()
        self._has_just_read = False
        return [
            endpoint
            for zone in self._zones.values()
            if not zone.problem and zone.contents is not None
            for endpoint in zone.contents.record_sets.values()
        ]

    async def _read_all(self) -> None:
        if not self._settings.rfc2136_axfr:
            return
        async with self._reading:
            await asyncio.gather(*(self._read(zone) for zone in self._zones.values()))
        problems = [zone.problem for zone in self._zones.values()]
        if all(problems):
            raise ProviderError("; ".join(dict.fromkeys(problems)))

    async def _read(self, zone: _Zone) -> None:
        before = zone.problem
        try:
            async with self._transferring:
                zone.contents = await self._transferred(zone)
        except (Unreachable, Unusable) as error:
            zone.problem = f"zone {zone.name} cannot be read: {error}"
            level = logging.DEBUG if zone.problem == before else logging.WARNING
            log.log(
                level, "a zone cannot be read, and its records stay as they are", extra={"fields": {"error": error}}
            )
        else:
            zone.problem = ""
            zone.since.clear()

    async def _transferred(self, zone: _Zone) -> Contents:
        """What the zone holds, from the first server that gives all of it. Raises: Unreachable, Unusable"""
        failed: list[Exception] = []
        for server in self._servers.in_order():
            known = zone.contents if zone.contents is not None and zone.contents.origin == str(server) else None
            try:
                async with self._servers.dialogue(server) as dialogue:
                    contents = await read_zone(dialogue, zone.name, known)
            except (Unreachable, Unusable) as error:
                failed.append(error)
            else:
                self._servers.answered(server)
                return contents
        if len(failed) == 1:
            raise failed[0]
        raise Unusable("; ".join(map(str, failed)))

    def adjust(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """Names and targets in canonical form, TTLs that are not too low, no properties: DNS has none."""
        return [self._adjusted(endpoint) for endpoint in endpoints]

    def _adjusted(self, endpoint: Endpoint) -> Endpoint:
        ttl = max(endpoint.record_ttl, self._settings.rfc2136_min_ttl) if endpoint.record_ttl else 0
        return replace(listed_form(endpoint), record_ttl=ttl, provider_specific=())

    # Writing

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        """See Provider.apply. All changes of one name are made, or none of them."""
        self._has_just_read = False
        results: list[RecordResult] = []
        by_zone: dict[str, list[Update]] = {}
        for bundle in bundles_of(changes):
            try:
                update = self._update(bundle)
            except RefusedError as refusal:
                results += bundle.results(str(refusal))
            else:
                by_zone.setdefault(zone_of(bundle.name, self._zones) or "", []).append(update)
        sent = await asyncio.gather(*map(self._send_zone, by_zone, by_zone.values()), return_exceptions=True)
        return [*results, *_joined(sent)]

    async def _send_zone(self, zone: str, updates: Sequence[Update]) -> list[RecordResult]:
        """Sends all batches of a zone. Raises: ProviderError if it is not known whether one of them was made."""
        hopeless = asyncio.Event()
        by_name = {update.bundle.name: update for update in updates}
        batches = batches_of([update.bundle for update in updates], self._settings.rfc2136_batch_change_size)

        async def send(batch: Sequence[Bundle]) -> list[RecordResult]:
            results = await self._send(zone, [by_name[bundle.name] for bundle in batch], hopeless)
            if len(batch) >= HOPELESS_BUNDLES and all(result.error for result in results):
                hopeless.set()
            return results

        # The first goes alone: it shows whether there is any hope.
        first = await asyncio.gather(send(batches[0]), return_exceptions=True)
        return _joined([*first, *await asyncio.gather(*map(send, batches[1:]), return_exceptions=True)])

    def _update(self, bundle: Bundle) -> Update:
        zone = self._zones.get(zone_of(bundle.name, self._zones) or "")
        if zone is None:
            known = ", ".join(sorted(self._zones))
            raise RefusedError(f"{bundle.name}: the name is outside of all zones of this provider ({known})")
        if zone.problem:
            raise RefusedError(f"{bundle.name}: {zone.problem}")

        def guards(record: Endpoint) -> Iterable[Endpoint]:
            return self._guards(zone, record)

        def ttl_seconds(change: RecordChange) -> int:
            return self._ttl_seconds(zone, change)

        return update_of(bundle, zone.name, ttl_seconds, guards)

    def _ttl_seconds(self, zone: _Zone, change: RecordChange) -> int:
        """The TTL that was asked for, else the one that is there, but never below the lowest allowed."""
        assert change.new is not None
        there = None if change.old is None else zone.find(_set_key(change.old)) or change.old
        kept = DEFAULT_TTL_SECONDS if there is None else there.record_ttl
        return max(change.new.record_ttl or kept, self._settings.rfc2136_min_ttl)

    def _guards(self, zone: _Zone, record: Endpoint) -> Iterable[Endpoint]:
        """The ownership record that says whose this record is, as it was read."""
        if self._ownership is None or not record.labels.get(OWNER):
            return
        for name in self._ownership.to_read(canonical_name(record.dns_name), record.record_type):
            found = zone.find((name, "TXT"))
            if found is not None:
                yield found
                return

    async def _send(self, zone: str, updates: Sequence[Update], hopeless: asyncio.Event) -> list[RecordResult]:
        """Sends a batch; where it is refused, its halves, so that only the culprits are left out.

        Args: hopeless: set once it is known that the zone takes nothing; then nobody is looked for any more.
        Raises: ProviderError if it is not known whether it was made.
        """
        try:
            refusal, is_for_all = await self._attempt(zone, updates)
        except dns.exception.TooBig:
            refusal, is_for_all = "the records of this name do not fit into one DNS message of 64 KiB", False
        if not refusal:
            self._follow(zone, updates)
        elif len(updates) > 1 and not is_for_all and not hopeless.is_set():
            one, other = halves(updates)
            return [*await self._send(zone, one, hopeless), *await self._send(zone, other, hopeless)]
        return [result for update in updates for result in update.bundle.results(refusal)]

    async def _attempt(self, zone: str, updates: Sequence[Update]) -> tuple[str, bool]:
        """Returns: why the server refuses, "" if it has made the changes; and whether it refuses whatever is sent."""
        message = message_of(zone, updates)
        try:
            async with self._sending:
                server, answer = await self._servers.update(message)
        except Unreachable as error:
            if error.was_sent:
                text = f"it is not known whether changes to zone {zone} were made: {error}"
                raise ProviderError(text) from error
            return str(error), True
        except Unusable as error:
            return str(error), True
        rcode = answer.rcode()
        if rcode == dns.rcode.NOERROR:
            return "", False
        return of_rcode(rcode, str(server), zone, self._key), rcode in NOT_FOR_ONE_RECORD

    def _follow(self, zone: str, updates: Sequence[Update]) -> None:
        since = self._zones[zone].since
        for update in updates:
            since.update((_set_key(change.old), None) for change in update.bundle.changes if change.old is not None)
            for change, written in zip(update.bundle.changes, update.sets, strict=True):
                if change.new is not None and written.new is not None:
                    since[_set_key(change.new)] = replace(self._adjusted(change.new), record_ttl=written.new.ttl)


def _joined(outcomes: Iterable[list[RecordResult] | BaseException]) -> list[RecordResult]:
    """The results of all that was sent. Raises: the first failure, now that nothing is on its way any more."""
    results: list[RecordResult] = []
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
        results += outcome
    return results


def _set_key(endpoint: Endpoint) -> SetKey:
    return (canonical_name(endpoint.dns_name), endpoint.record_type)


def _key(settings: Rfc2136Settings) -> dns.tsig.Key | None:
    if settings.rfc2136_insecure:
        return None
    algorithm = settings.rfc2136_tsig_secret_alg.rstrip(".").lower()
    return dns.tsig.Key(settings.rfc2136_tsig_keyname, settings.rfc2136_tsig_secret, algorithm)
