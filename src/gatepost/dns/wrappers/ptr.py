"""--create-ptr and the record-type property: from addresses back to names.

This is the one step that joins names: all names of an address share one PTR record. The record sets tell what they ask
for (`RecordSet.reverse`), an index gathers it by reverse name, and a rule makes the record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ipaddress import ip_address

from msgspec import structs

from gatepost.dns.claims import RECORD_SETS
from gatepost.dns.endpoint import NameKey
from gatepost.dns.records import Record, Records, RecordSet, Reverse
from gatepost.state.rule import Rule
from gatepost.state.store import Index
from gatepost.state.view import View

REQUEST = "record-type"
PTR_RECORD_SETS = "dns reverse record sets"

_WANTED = "ptr"
_TAKES_PLACE = ("PTR", "CNAME")  # written down under a reverse name: beside them no other PTR record can stand


def reverses(settled: RecordSet, records: Records, *, by_default: bool) -> tuple[Reverse, ...]:
    """What the addresses of a name (`records`, after the filters of networks) ask of the reverse zones.

    A wildcard has no one name to point back to. The property decides where it is set, else the default.
    """
    if settled.name.startswith("*."):
        return ()
    return tuple(
        Reverse(ip_address(target).reverse_pointer, settled.name, record.ttl, record.claimant or settled.claimants[0])
        for record in records
        if record.type in ("A", "AAAA") and _is_asked(record, by_default=by_default)
        for target in record.targets
        if _is_address(target)
    )


def _is_asked(record: Record, *, by_default: bool) -> bool:
    asked = next((property_.value for property_ in record.properties if property_.name == REQUEST), None)
    return by_default if asked is None else asked.lower() == _WANTED


def _is_address(target: str) -> bool:
    try:
        ip_address(target)
    except ValueError:
        return False  # the target of an alias is a name
    return True


def _entries(record_set: RecordSet) -> Iterable[tuple[NameKey, Reverse]]:
    return [((reverse.reverse_name, ""), reverse) for reverse in record_set.reverse]


REVERSE_NAMES = Index("dns reverse names", RECORD_SETS, _entries)


class PtrRule:
    """The record set of a reverse name: all names that share the address, with the lowest of their TTLs.

    A PTR record that somebody wrote down (in a DNSEndpoint) comes before the ones that are made.
    """

    def __init__(self, record_sets: Rule[RecordSet], finish: Callable[[RecordSet], RecordSet]) -> None:
        self._record_sets = record_sets
        self._finish = finish

    def __call__(self, key: NameKey, view: View) -> RecordSet:
        asked: tuple[Reverse, ...] = view.select(REVERSE_NAMES, key)
        written = view.value(self._record_sets, key)
        if not asked or written.hold is not None or any(record.type in _TAKES_PLACE for record in written.records):
            return written
        names = tuple(sorted({reverse.name for reverse in asked}))
        record = Record("PTR", names, min(reverse.ttl for reverse in asked))
        claimants = sorted({reverse.claimant for reverse in asked}, key=lambda claimant: claimant.age)
        made = self._finish(RecordSet(*key, (record,), tuple(claimants)))
        if not written.records:
            return made
        beside = tuple(structs.replace(record, claimant=claimants[0]) for record in made.records)
        return structs.replace(written, records=(*written.records, *beside))
