"""What a zone holds: taken over from a transfer, and brought up to date by the differences that follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import dns.rdata
import dns.rdatatype
from msgspec import Struct, structs

from gatepost.dns.choices import RECORD_TYPES
from gatepost.dns.endpoint import Endpoint
from gatepost.providers.spelling import target_of

_TYPES = {int(dns.rdatatype.from_text(record_type)): record_type for record_type in RECORD_TYPES}

SetKey = tuple[str, str]
"""Canonical name and type of a record set."""


class Record(Struct, frozen=True, gc=False):
    """One resource record of a type that gatepost knows, its data as the text of a target."""

    key: SetKey
    ttl: int
    target: str


class Difference(Struct, frozen=True):
    """One step of a zone from a serial to the next."""

    removed: tuple[Record, ...]
    added: tuple[Record, ...]


class OutOfStep(Exception):
    """Differences that do not fit what is known; the zone has to be read anew."""


class Contents(Struct, frozen=True):
    """All record sets of a zone at one serial.

    `origin` is the server it came from: serials of different servers need not count the same changes.
    """

    origin: str
    serial: int
    record_sets: Mapping[SetKey, Endpoint]

    def after(self, serial: int, differences: Iterable[Difference]) -> Contents:
        """The zone at a later serial; this value is used up. Raises: OutOfStep"""
        record_sets = dict(self.record_sets)
        for difference in differences:
            for record in difference.removed:
                _remove(record_sets, record)
            for record in difference.added:
                _add(record_sets, record)
        return Contents(self.origin, serial, record_sets)


def contents_of(origin: str, serial: int, records: Iterable[Record]) -> Contents:
    """A zone from all of its records."""
    targets: dict[SetKey, list[str]] = {}
    ttls: dict[SetKey, int] = {}
    for record in records:
        targets.setdefault(record.key, []).append(record.target)
        ttls[record.key] = record.ttl
    found = {key: Endpoint(*key, tuple(sorted(set(texts))), ttls[key]) for key, texts in targets.items()}
    return Contents(origin, serial, found)


def record_of(name: str, rdata: dns.rdata.Rdata, ttl: int) -> Record | None:
    """A resource record as we keep it; None for types that are not for endpoints, such as SOA or RRSIG."""
    record_type = _TYPES.get(int(rdata.rdtype))
    return None if record_type is None else Record((name, record_type), ttl, target_of(record_type, rdata))


def _remove(record_sets: dict[SetKey, Endpoint], record: Record) -> None:
    there = record_sets.get(record.key)
    if there is None or record.target not in there.targets:
        raise OutOfStep(f"{record.key[1]} {record.key[0]} {record.target} is removed, but was not there")
    left = tuple(target for target in there.targets if target != record.target)
    if left:
        record_sets[record.key] = structs.replace(there, targets=left)
    else:
        del record_sets[record.key]


def _add(record_sets: dict[SetKey, Endpoint], record: Record) -> None:
    there = record_sets.get(record.key)
    targets = there.targets if there is not None else ()
    record_sets[record.key] = Endpoint(*record.key, tuple(sorted({*targets, record.target})), record.ttl)
