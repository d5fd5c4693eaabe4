"""A Provider (see contract.py) of the zones of DNS servers that take dynamic updates."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import dns.exception
import dns.name
import dns.rcode
import dns.tsig
from msgspec import Struct, field
from msgspec.structs import replace

from gatepost.dns.capabilities import Capabilities
from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.records import OWNER
from gatepost.dns.served import UnreadZone
from gatepost.providers.bundles import Bundle, RecordChange, batches_of, halves
from gatepost.providers.contract import RecordResult, RefusedError
from gatepost.providers.listed_zones import AnswerLost, ListedZones
from gatepost.providers.rfc2136.contents import Contents, SetKey
from gatepost.providers.rfc2136.refusals import NOT_FOR_ONE_RECORD, Unusable, of_rcode
from gatepost.providers.rfc2136.servers import UPDATES_AT_ONCE, Server, Servers, Unreachable
from gatepost.providers.rfc2136.settings import Rfc2136Settings
from gatepost.providers.rfc2136.tls import dot_context
from gatepost.providers.rfc2136.transfers import read_zone
from gatepost.providers.rfc2136.updates import Update, message_of, update_of
from gatepost.providers.spelling import canonical_name, listed_form
from gatepost.providers.tls import TlsSettings

LONGEST_READ_SECONDS = 30.0
"""A zone that takes longer is left to be read by itself, so that the others need not wait for it."""

PATIENCE_SECONDS = 1.0
"""What a zone that could not be read before gets once all others are read: its server is likely to be still gone."""

HOPELESS_BUNDLES = 10
"""A batch of at least so many names that is refused to the last one says that the zone takes nothing from us."""

DEFAULT_TTL_SECONDS = 300


class _Zone(Struct):
    """What we know of a zone.

    Attributes:
        contents: as last read; None before that.
        since: the record sets that we have changed since, None for those that are gone.
    """

    name: str
    contents: Contents | None = None
    since: dict[SetKey, Endpoint | None] = field(default_factory=dict)

    def find(self, key: SetKey) -> Endpoint | None:
        if key in self.since:
            return self.since[key]
        return self.contents.record_sets.get(key) if self.contents is not None else None


class Rfc2136Provider(ListedZones):
    """Writes by update messages, reads by transfers.

    Raises: ValueError if something is wrong with the settings, a line for each.
    """

    def __init__(self, settings: Rfc2136Settings, tls: TlsSettings | None = None) -> None:
        super().__init__()
        tls = tls or TlsSettings()
        wrong = (*settings.check(), *tls.check())
        if wrong:
            raise ValueError("\n".join(wrong))
        self._settings = settings
        self._key = _key(settings)
        skip_verify = settings.rfc2136_skip_tls_verify
        self._servers = Servers(
            [Server(host, settings.rfc2136_port) for host in dict.fromkeys(settings.rfc2136_host)],
            self._key,
            settings.rfc2136_timeout,
            tls=dot_context(tls, skip_verify=skip_verify) if settings.rfc2136_use_tls else None,
            strategy=settings.rfc2136_load_balancing_strategy,
        )
        self._zones = {name: _Zone(name) for name in map(canonical_name, settings.rfc2136_zone)}
        self._usable = frozenset(self._zones)

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            provider="DNS by updates (rfc2136)",
            lists_records=self._settings.rfc2136_axfr,
            set_identifiers=False,
            apex_cname=False,
            properties=(),
        )

    # Reading

    async def _read_all(self) -> list[Endpoint]:
        sound = {zone: asyncio.create_task(self._read_one(zone)) for zone in self._zones if zone not in self._unread}
        doubtful = {zone: asyncio.create_task(self._read_one(zone)) for zone in self._unread}
        tasks = sound | doubtful
        try:
            if sound:
                await asyncio.wait(sound.values(), timeout=LONGEST_READ_SECONDS)
            if doubtful:
                await asyncio.wait(doubtful.values(), timeout=PATIENCE_SECONDS if sound else LONGEST_READ_SECONDS)
            return self._sorted_out({z: task.result() if task.done() else self._late(z) for z, task in tasks.items()})
        finally:
            for task in tasks.values():
                task.cancel()

    def _late(self, zone: str) -> UnreadZone:
        """A zone that was not waited for any longer; why it could not be read before says more than that."""
        before = self._unread.get(zone)
        return before or UnreadZone(zone, f"no server gave all of it within {LONGEST_READ_SECONDS:g} s")

    async def _read_one(self, zone: str) -> Sequence[Endpoint] | UnreadZone:
        if not self._settings.rfc2136_axfr:
            return ()
        known = self._zones[zone]
        try:
            contents = await self._transferred(known)
        except (Unreachable, Unusable) as error:
            return UnreadZone(zone, str(error))
        known.contents = contents
        known.since.clear()
        return list(contents.record_sets.values())

    async def _transferred(self, zone: _Zone) -> Contents:
        """What the zone holds, from the first server that gives all of it. Raises: Unreachable, Unusable"""
        failed: list[Exception] = []
        for server in self._servers.in_order(zone.name):
            known = zone.contents if zone.contents is not None and zone.contents.origin == str(server) else None
            try:
                async with self._servers.transferring(server) as dialogue:
                    contents = await read_zone(dialogue, zone.name, known)
            except (Unreachable, Unusable) as error:
                failed.append(error)
            else:
                self._servers.answered(zone.name, server)
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
        self._just_read = None
        bundles, results = self._by_zone(changes, self._zones, f"of this provider ({', '.join(sorted(self._zones))})")
        return await self._written({zone: self._send_zone(zone, found) for zone, found in bundles.items()}, results)

    async def _send_zone(self, zone: str, bundles: Sequence[Bundle]) -> list[RecordResult]:
        """Sends all batches of a zone. Raises: AnswerLost if it is not known whether one of them was made."""
        hopeless = asyncio.Event()
        lost: list[AnswerLost] = []
        at_once = asyncio.Semaphore(UPDATES_AT_ONCE)
        batches = batches_of(bundles, self._settings.rfc2136_batch_change_size)

        async def send(batch: Sequence[Bundle]) -> list[RecordResult]:
            async with at_once:
                if lost:  # the zone has to be read again anyway, and its server may hang
                    raise lost[0]
                # Messages are made only now, and not for all batches at once: that would hold up everybody for seconds.
                updates, refused = self._updates(self._zones[zone], batch)
                try:
                    results = await self._send(zone, updates, hopeless) if updates else []
                except AnswerLost as error:
                    lost.append(error)
                    raise
            if len(updates) >= HOPELESS_BUNDLES and all(result.error for result in results):
                hopeless.set()
            return [*refused, *results]

        # The first goes alone: it shows whether there is any hope.
        first = await asyncio.gather(send(batches[0]), return_exceptions=True)
        return _joined([*first, *await asyncio.gather(*map(send, batches[1:]), return_exceptions=True)])

    def _updates(self, zone: _Zone, bundles: Sequence[Bundle]) -> tuple[list[Update], list[RecordResult]]:
        """The changes as they are sent, and the results of those that the zone could not hold."""
        updates: list[Update] = []
        refused: list[RecordResult] = []
        for bundle in bundles:
            try:
                updates.append(self._update(zone, bundle))
            except RefusedError as refusal:
                refused += bundle.results(str(refusal))
        return updates, refused

    def _update(self, zone: _Zone, bundle: Bundle) -> Update:
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
        Raises: AnswerLost if it is not known whether it was made.
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
            server, answer = await self._servers.update(zone, message)
        except Unreachable as error:
            if error.was_sent:
                raise AnswerLost(str(error)) from error
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
