"""The steps between the settled records of a name and what is published, in their order.

    validity -> PTR requests -> TTL and properties -> domains and record types

Source: external-dns, its chain of wrappers and the input filter of its plan. Default targets, NAT64 and the target
networks come earlier, since they decide what a claim wants (see there).
"""

from __future__ import annotations

from msgspec import structs

from gatepost.dns.endpoint import Property
from gatepost.dns.records import Record, Records, RecordSet
from gatepost.dns.settings import DnsSettings
from gatepost.dns.validity import refusal
from gatepost.dns.wrappers.ptr import REQUEST, reverses
from gatepost.objects.problems import Problem, Skipped

_KEEPS_ALL_PROPERTIES = "cloudflare"  # its properties do not carry its name
_ALIAS = Property("alias", "true")


class Properties:
    """TTL and properties as the provider shall get them: --min-ttl, --provider, --prefer-alias."""

    def __init__(self, settings: DnsSettings) -> None:
        self._min_ttl = settings.min_ttl
        self._prefer_alias = settings.prefer_alias
        self._prefix = "" if settings.provider in ("", _KEEPS_ALL_PROPERTIES) else f"{settings.provider}/"

    @property
    def is_idle(self) -> bool:
        return not (self._min_ttl or self._prefer_alias or self._prefix)

    def __call__(self, record: Record) -> Record:
        properties = record.properties
        if properties:
            properties = tuple(property_ for property_ in properties if self._keeps(property_))
        if self._prefer_alias and record.type == "CNAME" and all(item.name != "alias" for item in properties):
            properties = tuple(sorted((*properties, _ALIAS)))
        ttl = record.ttl or self._min_ttl
        if ttl == record.ttl and properties == record.properties:
            return record
        return structs.replace(record, ttl=ttl, properties=properties)

    def _keeps(self, property_: Property) -> bool:
        if property_.name == REQUEST:
            return False
        return not self._prefix or "/" not in property_.name or property_.name.startswith(self._prefix)


class Chain:
    """Takes a settled record set through all steps."""

    def __init__(self, settings: DnsSettings) -> None:
        self._reverse_by_default = settings.create_ptr
        self._makes_reverses = "PTR" in settings.record_types
        self._properties = Properties(settings)
        self._types = settings.record_types
        self._domains = settings.domains
        self._is_idle = not self._makes_reverses and self._properties.is_idle and not self._domains

    def __call__(self, settled: RecordSet) -> RecordSet:
        if self._is_idle and all(self._passes(record) for record in settled.records):
            return settled  # as is so for nearly all names
        records = tuple(record for record in settled.records if _is_valid(record))
        notes: list[Skipped] = []
        by_default = self._reverse_by_default
        reverse = reverses(settled, records, by_default=by_default) if self._makes_reverses else ()
        records = self._in_reach(settled, tuple(map(self._properties, records)), notes)
        problems = tuple(_problem(settled, record) for record in settled.records if not _is_valid(record))
        hold = settled.hold
        if problems and not records and hold is None:
            hold = Skipped(problems[0].reason, problems[0].message, problems[0].about)
        return structs.replace(
            settled,
            records=records,
            problems=(*settled.problems, *problems),
            hold=hold,
            notes=tuple(notes),
            reverse=reverse,
        )

    def _passes(self, record: Record) -> bool:
        return record.type in self._types and not record.properties and _is_valid(record)

    def _in_reach(self, settled: RecordSet, records: Records, notes: list[Skipped]) -> Records:
        """What the domain filters and the managed record types let pass."""
        why_not = self._domains.refusal(settled.name) if self._domains else ""
        if why_not:
            _note(notes, settled, "OutOfReach", f"does not pass the domain filters: {why_not}")
            return ()
        for record in records:
            if record.type not in self._types:
                _note(notes, settled, "RecordType", f"{record.type} is not among the managed record types")
        return tuple(record for record in records if record.type in self._types)


def _is_valid(record: Record) -> bool:
    # Addresses got their type by being parsed, and a DNSEndpoint is checked as a claim: what is left are target
    # annotations, which make a CNAME of anything.
    return record.type != "CNAME" or refusal("", record) is None


def _problem(settled: RecordSet, record: Record) -> Problem:
    claimant = record.claimant or settled.claimants[0]
    return Problem("InvalidRecord", f"{settled.name} {record.type}: {refusal(settled.name, record)}", claimant.ref)


def _note(notes: list[Skipped], settled: RecordSet, reason: str, message: str) -> None:
    if settled.claimants:
        notes.append(Skipped(reason, f"{settled.name}: {message}", settled.claimants[0].ref))
