"""Update messages: the changes of some names, and what must be in the zone for them to be made.

| change | prerequisites                                                                        | update            |
| create | no record set of the name and type; none beside which it could not stand             | add               |
| update | the record set, exactly as it was read                                               | delete set, add   |
| delete | the record set, exactly as it was read                                               | delete set        |
| any    | the ownership record that it rests on, as it was read, where it is not itself changed |                   |

The server checks all prerequisites and makes all changes of a message in one step, or none (RFC 2136 3.2, 3.4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import dns.name
import dns.rdata
import dns.rdataset
import dns.rdatatype
import dns.update
from msgspec import Struct

from gatepost.dns.choices import RECORD_TYPES
from gatepost.dns.endpoint import Endpoint
from gatepost.dns.names import record_name, zone_of
from gatepost.providers.bundles import Bundle, RecordChange
from gatepost.providers.contract import RefusedError
from gatepost.providers.spelling import canonical_name, rdata_of

Guards = Callable[[Endpoint], Iterable[Endpoint]]
"""The ownership records, as they were read, that a change of this record rests on."""

TtlSeconds = Callable[[RecordChange], int]
"""The TTL with which the new record set of a change is written."""


class SetChange(Struct, frozen=True):
    """One record set, as data of DNS messages; None for absent."""

    name: dns.name.Name
    type: dns.rdatatype.RdataType
    old: dns.rdataset.Rdataset | None
    new: dns.rdataset.Rdataset | None


class Update(Struct, frozen=True):
    """The changes of one bundle, ready to be sent."""

    bundle: Bundle
    sets: tuple[SetChange, ...]
    guards: tuple[SetChange, ...]


def update_of(bundle: Bundle, zone: str, ttl_seconds: TtlSeconds, guards: Guards) -> Update:
    """The changes of a bundle as DNS data. Raises: RefusedError if the zone cannot hold one of them."""
    sets = tuple(_set_change(change, zone, ttl_seconds) for change in bundle.changes)
    changed = {record_name(change.record.dns_name) for change in bundle.changes if change.record.record_type == "TXT"}
    rests_on = {
        guard.key: guard
        for change in bundle.changes
        if change.record.record_type != "TXT"
        for guard in guards(change.record)
        if guard.dns_name not in changed
    }
    return Update(bundle, sets, tuple(_guard(rests_on[key]) for key in sorted(rests_on)))


def message_of(zone: str, updates: Sequence[Update]) -> dns.update.UpdateMessage:
    """One message for the changes of several names, unsigned."""
    message = dns.update.UpdateMessage(zone)
    for update in updates:
        for guard in update.guards:
            message.present(guard.name, guard.old)
        for change in update.sets:
            _require(message, change, update.sets)
    # Deletions go first: a name cannot hold A and CNAME at once (RFC 1034 3.6.2), and the server works in this order.
    for update in updates:
        for change in update.sets:
            if change.old is not None:
                message.delete(change.name, change.type)
        for change in update.sets:
            if change.new is not None:
                message.add(change.name, change.new)
    return message


def _require(message: dns.update.UpdateMessage, change: SetChange, together: Sequence[SetChange]) -> None:
    if change.old is not None:
        message.present(change.name, change.old)
        return
    message.absent(change.name, change.type)
    # A server passes over a CNAME beside other records, and the reverse, without a word (RFC 2136 3.4.2.2).
    leaving = {other.type for other in together if other.name == change.name and other.old is not None}
    cname = dns.rdatatype.CNAME
    excluded = map(dns.rdatatype.from_text, RECORD_TYPES) if change.type == cname else [cname]
    for type_ in excluded:
        if type_ != change.type and type_ not in leaving:
            message.absent(change.name, type_)


def _set_change(change: RecordChange, zone: str, ttl_seconds: TtlSeconds) -> SetChange:
    record = change.record
    if record.set_identifier:
        raise RefusedError(f"{_named(record)}: the DNS has no set identifiers; found {record.set_identifier!r}")
    if record.record_type not in RECORD_TYPES:
        raise RefusedError(f"{_named(record)}: records of this type are not written")
    try:
        name = canonical_name(record.dns_name)
    except ValueError as error:
        raise RefusedError(f"{_named(record)}: {error}") from error
    if zone_of(name, {zone}) is None:
        raise RefusedError(f"{_named(record)}: it would lie outside of zone {zone}, where the record is that it is for")
    if name == zone and record.record_type in ("CNAME", "NS"):
        why = (
            "is refused by DNS beside its SOA and NS" if record.record_type == "CNAME" else "belongs to the zone itself"
        )
        raise RefusedError(f"{_named(record)}: at the apex of a zone, this type {why}")
    type_ = dns.rdatatype.from_text(record.record_type)
    old = None if change.old is None else _rdataset(change.old, 0)
    new = None if change.new is None else _rdataset(change.new, ttl_seconds(change))
    return SetChange(dns.name.from_text(name), type_, old, new)


def _guard(ownership: Endpoint) -> SetChange:
    name = dns.name.from_text(ownership.dns_name)
    return SetChange(name, dns.rdatatype.TXT, _rdataset(ownership, 0), None)


def _rdataset(endpoint: Endpoint, ttl: int) -> dns.rdataset.Rdataset:
    if not endpoint.targets:
        raise RefusedError(f"{_named(endpoint)}: it has no target")
    if endpoint.record_type == "CNAME" and len(endpoint.targets) > 1:
        raise RefusedError(f"{_named(endpoint)}: a CNAME has one target, this has {len(endpoint.targets)}")
    try:
        return dns.rdataset.from_rdata_list(ttl, [rdata_of(endpoint.record_type, t) for t in endpoint.targets])
    except RefusedError as error:
        raise RefusedError(f"{_named(endpoint)}: {error}") from error


def _named(endpoint: Endpoint) -> str:
    return f"{endpoint.record_type} {endpoint.dns_name}"
