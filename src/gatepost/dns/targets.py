"""From values to records: which type a target makes, and how targets of several places join."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address

from msgspec import structs

from gatepost.dns.endpoint import Property
from gatepost.dns.names import record_name
from gatepost.dns.records import Record, Records, first_set

ADDRESS_TYPES = ("A", "AAAA")
TRAFFIC_TYPES = ("A", "AAAA", "CNAME")
"""The types that say where requests go. Claims on a name differ if they differ in any of these."""


def record_type(target: str) -> str:
    """A for an IPv4 address, AAAA for any IPv6 address (IPv4-mapped ones too), CNAME for everything else."""
    try:
        return "A" if ip_address(target).version == 4 else "AAAA"
    except ValueError:
        return "CNAME"


def records_for(targets: Iterable[str], choose: Callable[[Records], Records] | None = None) -> Records:
    """The records that make a name answer with these targets. See `reduced` for what is left out.

    Args:
        choose: what the settings make of the targets before addresses displace names.
    """
    by_type: dict[str, list[str]] = {}
    for target in targets:
        by_type.setdefault(record_type(target), []).append(target)
    records = tuple(Record(type_, distinct(type_, by_type[type_])) for type_ in sorted(by_type))
    return reduced(records if choose is None else choose(records))


def distinct(type_: str, targets: Iterable[str]) -> tuple[str, ...]:
    """The targets of a record, sorted as text; of several spellings of one address or name the first is taken."""
    texts = sorted(set(targets))
    if len(texts) == 1 or type_ not in TRAFFIC_TYPES:
        return tuple(texts)
    first: dict[str, str] = {}
    for text in texts:
        first.setdefault(_comparable(text), text)
    return tuple(first.values())


def reduced(records: Iterable[Record]) -> Records:
    """Records that can stand under one name: no CNAME beside others, and one target to a CNAME.

    The smallest name is taken so that it stays put whatever the order in which a Gateway lists its addresses.
    Source: RFC 1034 3.6.2.
    """
    kept = [record for record in records if record.targets]
    if any(record.type != "CNAME" for record in kept):
        kept = [record for record in kept if record.type != "CNAME"]
    return tuple(_with_one_target(record) if record.type == "CNAME" else record for record in kept)


def joined(several: Sequence[Records]) -> Records:
    """The union of records by type; TTL and each property come from the first that sets it."""
    if len(several) == 1:
        return several[0]
    by_type: dict[str, list[Record]] = {}
    for records in several:
        for record in records:
            by_type.setdefault(record.type, []).append(record)
    return tuple(_join(by_type[type_]) for type_ in sorted(by_type))


def _join(records: list[Record]) -> Record:
    first = records[0]
    return Record(
        first.type,
        distinct(first.type, (target for record in records for target in record.targets)),
        next((record.ttl for record in records if record.ttl), 0),
        first_set(record.properties for record in records),
        first.labels,
        first.claimant,
    )


def with_settings(records: Records, ttl: int, properties: tuple[Property, ...]) -> Records:
    """The records with a TTL and properties that come before those they have."""
    if not ttl and not properties:
        return records
    return tuple(
        structs.replace(record, ttl=ttl or record.ttl, properties=first_set((properties, record.properties)))
        for record in records
    )


def _with_one_target(record: Record) -> Record:
    return record if len(record.targets) <= 1 else structs.replace(record, targets=record.targets[:1])


def same_targets(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two lists of targets name the same places: order, case and the spelling of IPv6 do not matter."""
    if len(one) != len(other):
        return False
    return one == other or sorted(map(_comparable, one)) == sorted(map(_comparable, other))


def _comparable(target: str) -> str:
    try:
        return str(ip_address(target))
    except ValueError:
        return record_name(target)


def agree(one: Records, other: Records) -> bool:
    """Whether two wishes for a name answer with the same targets over all types."""
    if one is other:
        return True
    if len(one) != len(other):
        return False
    theirs = {record.type: record.targets for record in other}
    return all(record.type in theirs and same_targets(record.targets, theirs[record.type]) for record in one)
