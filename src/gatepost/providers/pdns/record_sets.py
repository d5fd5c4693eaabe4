"""Between endpoints and the record sets of PowerDNS: final dots, TTLs, disabled records, and ALIAS.

| PowerDNS              | endpoint                                |
| ALIAS                 | CNAME with the property `alias`=`true`  |
| records not disabled  | targets                                 |
| records disabled      | none; they are kept through each change |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gatepost.dns.choices import RECORD_TYPES
from gatepost.dns.endpoint import Endpoint, Property
from gatepost.dns.targets import same_targets
from gatepost.providers.bundles import RecordChange
from gatepost.providers.contract import RefusedError
from gatepost.providers.pdns.api import ApiRecord, ApiRecordSet
from gatepost.providers.spelling import canonical_name, listed_form, rdata_of, without_final_dot

DEFAULT_TTL_SECONDS = 300
ALIAS = Property("alias", "true")


class Present(Struct, frozen=True):
    """A record set that is there: as an endpoint (None if all of it is disabled), and its disabled records."""

    endpoint: Endpoint | None
    disabled: tuple[ApiRecord, ...]


Presents = dict[tuple[str, str], Present]
"""By canonical name and type; ALIAS counts as CNAME."""


def presents_of(record_sets: Iterable[ApiRecordSet]) -> Presents:
    """The record sets of types that gatepost knows."""
    found: Presents = {}
    for record_set in record_sets:
        is_alias = record_set.type == "ALIAS"
        type_ = "CNAME" if is_alias else record_set.type
        if type_ in RECORD_TYPES:
            name = record_set.name.rstrip(".").lower()
            targets = tuple(sorted(_target(type_, r.content) for r in record_set.records if not r.disabled))
            endpoint = Endpoint(
                name, type_, targets, record_set.ttl or 0, provider_specific=(ALIAS,) if is_alias else ()
            )
            disabled = tuple(record for record in record_set.records if record.disabled)
            if targets or disabled:
                found[name, type_] = Present(endpoint if targets else None, disabled)
    return found


def _target(type_: str, content: str) -> str:
    if type_ == "TXT":
        return str(rdata_of(type_, content).to_text())  # PowerDNS gives long texts in one piece
    return without_final_dot(type_, content)


def adjusted(endpoint: Endpoint, zones: Iterable[str]) -> Endpoint:
    """The endpoint as it will be listed: of all properties only `alias`, which the apex of a zone always has."""
    listed = listed_form(endpoint)
    is_alias = listed.record_type == "CNAME" and (ALIAS in endpoint.provider_specific or listed.dns_name in zones)
    return replace(listed, provider_specific=(ALIAS,) if is_alias else ())


def api_changes(change: RecordChange, present: Present | None) -> list[ApiRecordSet]:
    """What to send for a change of a record set, deletions first.

    Raises: RefusedError if what is there is not what the change starts from, or if the new one cannot be written.
    """
    _require(change, present)
    disabled = present.disabled if present is not None else ()
    sent: list[ApiRecordSet] = []
    if change.old is not None and (change.new is None or _api_type(change.old) != _api_type(change.new)):
        sent.append(_deletion(change.old, disabled if change.new is None else ()))
    if change.new is not None:
        there = present.endpoint if present is not None else None
        sent.append(_replacement(change.new, there, disabled))
    return sent


def _require(change: RecordChange, present: Present | None) -> None:
    """Raises: RefusedError unless the record set is as the plan believed it to be."""
    there = present.endpoint if present is not None else None
    named = f"{change.record.record_type} {change.record.dns_name}"
    if change.old is None:
        if there is not None:
            raise RefusedError(f"{named}: there is already one, {', '.join(there.targets)}; it was left as it is")
        return
    if there is None or not same_targets(there.targets, listed_form(change.old).targets):
        found = ", ".join(there.targets) if there is not None else "none"
        wanted = ", ".join(change.old.targets)
        raise RefusedError(
            f"{named}: found {found}, wanted {wanted}: somebody else has changed it; it was left as it is"
        )


def _deletion(old: Endpoint, disabled: Sequence[ApiRecord]) -> ApiRecordSet:
    if disabled:
        return _api_set(old, "REPLACE", old.record_ttl or DEFAULT_TTL_SECONDS, tuple(disabled))
    return _api_set(old, "DELETE", None, ())


def _replacement(new: Endpoint, there: Endpoint | None, disabled: Sequence[ApiRecord]) -> ApiRecordSet:
    kept = there.record_ttl if there is not None else DEFAULT_TTL_SECONDS
    records = tuple(ApiRecord(_content(new.record_type, target)) for target in new.targets)
    if not records:
        raise RefusedError(f"{new.record_type} {new.dns_name}: it has no target")
    return _api_set(new, "REPLACE", new.record_ttl or kept, (*records, *disabled))


def _content(record_type: str, target: str) -> str:
    """The target as PowerDNS takes it: names in it end with a dot."""
    return str(rdata_of(record_type, target).to_text())


def _api_set(endpoint: Endpoint, changetype: str, ttl: int | None, records: tuple[ApiRecord, ...]) -> ApiRecordSet:
    if endpoint.set_identifier:
        found = endpoint.set_identifier
        raise RefusedError(
            f"{endpoint.record_type} {endpoint.dns_name}: PowerDNS has no set identifiers; found {found!r}"
        )
    name = canonical_name(endpoint.dns_name) + "."
    return ApiRecordSet(name, _api_type(endpoint), ttl, records, changetype)


def _api_type(endpoint: Endpoint) -> str:
    return "ALIAS" if endpoint.record_type == "CNAME" and ALIAS in endpoint.provider_specific else endpoint.record_type


def key_of(endpoint: Endpoint) -> tuple[str, str]:
    return (canonical_name(endpoint.dns_name), endpoint.record_type)
