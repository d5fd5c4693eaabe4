"""Between endpoints and the records of octoDNS, by the text form of zone files that both know.

| octoDNS                       | endpoint                                 |
| ALIAS                         | CNAME with the property `alias`=`true`   |
| TXT with `\\;` for a semicolon | TXT with a plain one, in quotes          |
| settings under `octodns`      | none; they are kept through each change  |
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Collection
from typing import Any

from msgspec.structs import replace

from gatepost.dns.choices import RECORD_TYPES
from gatepost.dns.endpoint import Endpoint, Property
from gatepost.providers.as_planned import Key
from gatepost.providers.bundles import Bundle, RecordChange
from gatepost.providers.contract import RefusedError
from gatepost.providers.spelling import canonical_name, listed_form, rdata_of, target_of

DEFAULT_TTL_SECONDS = 300
ALIAS = Property("alias", "true")


def endpoint_of(record: Any) -> Endpoint | None:
    """The record of octoDNS as it is listed; None for types that gatepost does not know.

    Raises: RefusedError if its value cannot be read.
    """
    is_alias = record._type == "ALIAS"
    type_ = "CNAME" if is_alias else record._type
    if type_ not in RECORD_TYPES:
        return None
    targets = sorted(target_of(type_, rdata_of(type_, text)) for text in record.to_rrset().rdatas)
    properties = (ALIAS,) if is_alias else ()
    name = canonical_name(record.fqdn)
    return Endpoint(name, type_, tuple(targets), int(record.ttl), provider_specific=properties)


def adjusted(endpoint: Endpoint, zones: Collection[str], *, has_alias: bool) -> Endpoint:
    """The endpoint as it will be listed: of all properties only `alias`, which the apex of a zone always has.

    Args: has_alias: whether the target of octoDNS knows such records.
    """
    listed = listed_form(endpoint)
    wants_alias = ALIAS in endpoint.provider_specific or listed.dns_name in zones
    is_alias = has_alias and listed.record_type == "CNAME" and wants_alias
    return replace(listed, provider_specific=(ALIAS,) if is_alias else ())


def records_by_key(zone: Any) -> dict[Key, Any]:
    """The records of a zone of octoDNS, by the names and types of their endpoints."""
    return {key_of_record(record): record for record in zone.records}


def key_of_record(record: Any) -> Key:
    """The name and type under which a record of octoDNS is listed."""
    return (record.fqdn.rstrip(".").lower(), "CNAME" if record._type == "ALIAS" else record._type)


def put_into(desired: Any, bundle: Bundle, present: dict[Key, Any], target: Any) -> None:
    """Makes all changes of a bundle in a zone of octoDNS, or none.

    Args:
        desired: the zone as it is to be, with the changes of other bundles.
        present: the records that are there now.
        target: the provider of octoDNS, which says what it can.
    Raises: RefusedError if one of the changes cannot be.
    """
    added = [_new_record(desired, change, present, target) for change in bundle.changes if change.new is not None]
    gone = [record for change in bundle.changes if (record := _present(change, present)) is not None]
    for record in gone:
        desired.remove_record(record)
    done: list[Any] = []
    try:
        for record in added:
            _check_alone(desired, record)
            desired.add_record(record)
            done.append(record)
    except Exception as error:  # whatever octoDNS finds wrong with this name, the others go on
        for record in done:
            desired.remove_record(record)
        for record in gone:
            desired.add_record(record, lenient=True)
        raise error if isinstance(error, RefusedError) else RefusedError(f"{bundle.name}: {error}") from error


def _present(change: RecordChange, present: dict[Key, Any]) -> Any:
    """The record that a change replaces. Raises: RefusedError if endpoints cannot say all that it holds."""
    if change.old is None:
        return None
    record = present.get((canonical_name(change.old.dns_name), change.old.record_type))
    for kind in ("dynamic", "geo"):
        if getattr(record, kind, None):
            raise RefusedError(
                f"{change.old.record_type} {change.old.dns_name}: it has {kind} values, which gatepost would lose"
            )
    return record


def _new_record(desired: Any, change: RecordChange, present: dict[Key, Any], target: Any) -> Any:
    new = change.new
    assert new is not None
    named = f"{new.record_type} {new.dns_name}"
    if new.set_identifier:
        raise RefusedError(f"{named}: octoDNS has no set identifiers; found {new.set_identifier!r}")
    if not new.targets:
        raise RefusedError(f"{named}: it has no target")
    name = canonical_name(new.dns_name) + "."
    old = present.get((name[:-1], new.record_type))
    ttl = new.record_ttl or (int(old.ttl) if old is not None else DEFAULT_TTL_SECONDS)
    type_ = "ALIAS" if new.record_type == "CNAME" and ALIAS in new.provider_specific else new.record_type
    texts = sorted({str(rdata_of(new.record_type, text).to_text()) for text in new.targets})
    if len(texts) > 1 and (type_ in ("CNAME", "ALIAS", "DNAME") or (type_ == "PTR" and not _has_many_ptr(target))):
        raise RefusedError(f"{named}: it may have one target, this has {len(texts)}")
    base, rr = importlib.import_module("octodns.record"), importlib.import_module("octodns.record.rr")
    try:
        record = base.Record.from_rrset(desired, rr.Rrset(name, type_, ttl, texts))
    except Exception as error:  # ValidationError and its kin have no common base in octoDNS
        raise RefusedError(f"{named}: octoDNS refuses it: {' '.join(str(error).split())}") from error
    if not target.supports(record):
        raise RefusedError(f"{named}: {target.id} of octoDNS has no {type_} records")
    if old is not None and old.octodns:
        record.octodns = copy.deepcopy(old.octodns)
    return record


def _has_many_ptr(target: Any) -> bool:
    return bool(getattr(target, "SUPPORTS_MULTIVALUE_PTR", False))


def _check_alone(desired: Any, record: Any) -> None:
    types = {other._type for other in desired.get(record.name)}
    if types and "CNAME" in types | {record._type}:
        raise RefusedError(
            f"{record._type} {record.fqdn[:-1]}: the name has {', '.join(sorted(types))} records; "
            "a CNAME allows no other beside it (RFC 1034, 3.6.2)"
        )
    if record._type == "CNAME" and record.name == "":
        raise RefusedError(f"CNAME {record.fqdn[:-1]}: the apex of a zone has records that allow no CNAME beside them")
    if record._type == "NS" and record.name == "":
        raise RefusedError(f"NS {record.fqdn[:-1]}: octoDNS lets nobody change the name servers of a zone on the way")
