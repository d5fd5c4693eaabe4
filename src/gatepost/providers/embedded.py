"""DNS zones held in memory: the provider behind the DNS server of the standalone mode, and a strict one to test with.

It refuses what a DNS server could not serve, record by record, in words for the owner of the record. Whoever serves
the zones reads them in place (`zone_of`, `EmbeddedZone.record_sets`) and compares `version` to learn of a change.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import dns.rdata
from msgspec import Struct
from msgspec.structs import replace

from gatepost.dns.capabilities import Capabilities
from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey
from gatepost.providers.contract import RecordResult, RefusedError
from gatepost.providers.spelling import canonical_name, parent_name, rdata_of

# DNAME is missing: it would need answers that are made up below its name, which nobody here asks for.
RECORD_TYPES = ("A", "AAAA", "CNAME", "MX", "NAPTR", "NS", "PTR", "SRV", "TXT")
_AT_ONCE = 256  # changes that are made without a pause: some 20 ms
_MAX_TTL_SECONDS = 2**31 - 1  # RFC 2181, section 8


class RecordSet(Struct, frozen=True):
    """A record set as it is stored, with its targets read: `rdatas` are in the order of `endpoint.targets`."""

    endpoint: Endpoint
    rdatas: tuple[dns.rdata.Rdata, ...]


RecordSets = Mapping[str, tuple[RecordSet, ...]]
"""The record sets of one name by record type; several of one type are sorted by their set identifiers, which differ."""


class EmbeddedZone:
    """One zone. `serial` is that of its SOA: it rises with each batch that changed the zone."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.serial = 1
        self._nodes: dict[str, dict[str, tuple[RecordSet, ...]]] = {}
        self._below: Counter[str] = Counter()

    def record_sets(self, name: str) -> RecordSets | None:
        """What the zone holds under a canonical name (see `canonical_name`); wildcards are not applied.

        Returns: empty for a name that only has names below it, and for the apex without records; None where there is no
            such name (RFC 4592, section 2.2.2: the former exists and has no data, the latter does not exist).
        """
        sets = self._nodes.get(name)
        if sets is None and (name == self.name or name in self._below):
            return {}
        return sets

    def __iter__(self) -> Iterator[RecordSet]:
        """All record sets, sorted by name, type and set identifier."""
        for name in sorted(self._nodes):
            for record_type in sorted(self._nodes[name]):
                yield from self._nodes[name][record_type]

    def find(self, key: EndpointKey) -> RecordSet | None:
        """The record set of a key in canonical form."""
        sets = self._nodes.get(key.dns_name, {}).get(key.record_type, ())
        return next((s for s in sets if s.endpoint.set_identifier == key.set_identifier), None)

    def add(self, record_set: RecordSet) -> None:
        """Puts in a record set whose key is free. Raises: RefusedError if DNS does not allow it beside the others."""
        key = record_set.endpoint.key
        types = self._nodes.get(key.dns_name, {})
        if key.record_type == "CNAME":
            _check_alone(self.name, key.dns_name, [t for t in types if t != "CNAME"])
        elif "CNAME" in types:
            raise RefusedError("the name has a CNAME record, which allows no other beside it (RFC 1034, 3.6.2)")
        if not types:
            self._nodes[key.dns_name] = types
            self._below.update(self._ancestors(key.dns_name))
        sets = (*types.get(key.record_type, ()), record_set)
        types[key.record_type] = tuple(sorted(sets, key=lambda s: s.endpoint.set_identifier))

    def remove(self, record_set: RecordSet) -> None:
        """Takes out a record set that is in the zone."""
        key = record_set.endpoint.key
        types = self._nodes[key.dns_name]
        types[key.record_type] = tuple(s for s in types[key.record_type] if s is not record_set)
        if not types[key.record_type]:
            del types[key.record_type]
        if not types:
            del self._nodes[key.dns_name]
            for ancestor in self._ancestors(key.dns_name):
                self._below[ancestor] -= 1
                if not self._below[ancestor]:
                    del self._below[ancestor]

    def _ancestors(self, name: str) -> Iterator[str]:
        while name != self.name:
            name = parent_name(name)
            yield name


class EmbeddedProvider:
    """A Provider (see contract.py) whose zones live in this process and end with it.

    `version` rises with every batch that changed anything in any zone.

    Args:
        zones: names of the zones; a name belongs to the longest zone that it is in.
    Raises: ValueError if a zone's name is none.
    """

    def __init__(self, zones: Sequence[str]) -> None:
        self.version = 0
        self._zones = {name: EmbeddedZone(name) for name in map(canonical_name, zones)}

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(provider="gatepost's own DNS server", types=frozenset(RECORD_TYPES), apex_cname=False)

    def zone_of(self, name: str) -> EmbeddedZone | None:
        """The longest zone that holds a canonical name, compared label by label; None if it is in no zone."""
        while name:
            if (zone := self._zones.get(name)) is not None:
                return zone
            name = parent_name(name)
        return None

    async def zones(self) -> Sequence[str]:
        return sorted(self._zones)

    async def records(self) -> Sequence[Endpoint]:
        """All record sets, sorted. Labels are not stored: keeping them is the registry's job, as with any provider."""
        return [record_set.endpoint for name in sorted(self._zones) for record_set in self._zones[name]]

    def adjust(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """Names in canonical form, properties sorted; names that are none stay as they are, `apply` refuses them."""
        return [_adjusted(endpoint) for endpoint in endpoints]

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        """See Provider.apply. Results come in the order create, update, delete.

        Raises: ValueError if the two sides of the updates are not pairs; nothing was changed then.
        """
        updates = list(zip(changes.update_old, changes.update_new, strict=True))
        touched: set[EmbeddedZone] = set()
        # Deletes go first: a name cannot hold A and CNAME at once, and a change of type is a delete and a create.
        deleted = [await self._made(n, old, None, touched) for n, old in enumerate(changes.delete)]
        updated = [await self._made(n, old, new, touched) for n, (old, new) in enumerate(updates)]
        created = [await self._made(n, None, new, touched) for n, new in enumerate(changes.create)]
        for zone in touched:
            zone.serial = zone.serial % (2**32 - 1) + 1
        self.version += bool(touched)
        return [*created, *updated, *deleted]

    async def _made(
        self, number: int, old: Endpoint | None, new: Endpoint | None, touched: set[EmbeddedZone]
    ) -> RecordResult:
        """How one change went. Of a large batch, others get their turn in between."""
        if number and number % _AT_ONCE == 0:
            await asyncio.sleep(0)
        subject = new or old
        assert subject is not None
        try:
            touched |= self._replace(old, new)
        except RefusedError as refusal:
            return RecordResult(subject.key, f"{subject.record_type} {subject.dns_name}: {refusal}")
        return RecordResult(subject.key)

    def _replace(self, old: Endpoint | None, new: Endpoint | None) -> set[EmbeddedZone]:
        """Takes out `old` and puts in `new`, both or nothing. Returns: the zones that changed."""
        wanted = None if new is None else record_set_of(new)
        new_zone = None if wanted is None else self._zone_for(wanted.endpoint)
        present, old_zone = (None, None) if old is None else self._present(old)
        if present is not None and old_zone is not None:
            old_zone.remove(present)
        try:
            if wanted is not None and new_zone is not None:
                if new_zone.find(wanted.endpoint.key) is not None:
                    raise RefusedError("there is already a record set of this name, type and set identifier")
                new_zone.add(wanted)
        except RefusedError:
            if present is not None and old_zone is not None:
                old_zone.add(present)
            raise
        return {zone for zone in (old_zone, new_zone) if zone is not None}

    def _present(self, old: Endpoint) -> tuple[RecordSet, EmbeddedZone]:
        old = _adjusted(old)
        zone = self._zone_for(old)
        present = zone.find(old.key)
        if present is None:
            raise RefusedError("there is no record set of this name, type and set identifier to change or delete")
        return present, zone

    def _zone_for(self, endpoint: Endpoint) -> EmbeddedZone:
        zone = self.zone_of(endpoint.dns_name)
        if zone is None:
            known = ", ".join(sorted(self._zones)) or "none"
            raise RefusedError(f"the name is outside of all zones of this provider ({known})")
        return zone


def record_set_of(endpoint: Endpoint) -> RecordSet:
    """The record set as it is stored and served. Raises: RefusedError if it is none that a zone can hold."""
    try:
        name = canonical_name(endpoint.dns_name)
    except ValueError as error:
        raise RefusedError(str(error)) from error
    if endpoint.record_type not in RECORD_TYPES:
        raise RefusedError(f"records of this type are not served; served are {', '.join(RECORD_TYPES)}")
    if not endpoint.targets:
        raise RefusedError("it has no target")
    if endpoint.record_type == "CNAME" and len(endpoint.targets) > 1:
        raise RefusedError(f"a CNAME has one target, this has {len(endpoint.targets)}")
    if not 0 <= endpoint.record_ttl <= _MAX_TTL_SECONDS:
        raise RefusedError(f"a TTL is between 0 and {_MAX_TTL_SECONDS} seconds, this is {endpoint.record_ttl}")
    stored = replace(_adjusted(endpoint), dns_name=name, labels={})
    return RecordSet(stored, tuple(rdata_of(stored.record_type, target) for target in stored.targets))


def _check_alone(zone: str, name: str, others: Sequence[str]) -> None:
    if name == zone:
        raise RefusedError("the apex of a zone has SOA and NS records, which allow no CNAME beside them")
    if others:
        raise RefusedError(
            f"the name has {', '.join(sorted(others))} records; a CNAME allows no other beside it (RFC 1034, 3.6.2)"
        )


def _adjusted(endpoint: Endpoint) -> Endpoint:
    properties = tuple(sorted(endpoint.provider_specific))
    try:
        return replace(endpoint, dns_name=canonical_name(endpoint.dns_name), provider_specific=properties)
    except ValueError:
        return replace(endpoint, provider_specific=properties)
