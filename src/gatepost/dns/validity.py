"""Which records DNS and providers can take at all."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import ip_address

from msgspec import structs

from gatepost.dns.names import is_address
from gatepost.dns.records import Claim, Claims, Record
from gatepost.dns.targets import reduced
from gatepost.objects.problems import Skipped

_REVERSE = (".in-addr.arpa", ".ip6.arpa")
_NUMBER_LIMIT = 65535
_LABEL = r"[A-Za-z0-9_*][A-Za-z0-9_*-]{0,62}"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\.?", re.ASCII)
_LONGEST_NUMBER = 10  # anybody may write a number of any length into an object


def refusal(name: str, record: Record) -> str | None:
    """Why a record cannot be published, None if it can.

    Source: external-dns, the checks of its dedup source.
    """
    alias = next((property_.value for property_ in record.properties if property_.name == "alias"), None)
    if not record.targets:
        return "has no targets"
    if alias is not None and record.type not in ("A", "AAAA", "CNAME"):
        return f"an alias must be an A, AAAA or CNAME record, not {record.type}"
    if record.type in ("A", "AAAA"):
        return None if alias == "true" else _first(record, _not_of_family)
    if record.type == "CNAME":
        return _first(record, _not_a_name)
    if record.type == "MX":
        return _first(record, _bad_mx)
    if record.type == "SRV":
        return _first(record, _bad_srv)
    if record.type == "PTR":
        if not name.endswith(_REVERSE):
            return "a PTR record must stand below .in-addr.arpa or .ip6.arpa"
        return _first(record, _not_a_name)
    return None


def valid_claims(claims: Claims) -> Claims:
    """Claims without what cannot be published, before they compete with others for a name."""
    skipped = list(claims.skipped)
    kept = [claim for claim in (_valid(claim, skipped) for claim in claims.claims) if claim.records or claim.doubt]
    if len(skipped) == len(claims.skipped):
        return claims
    return structs.replace(claims, claims=tuple(kept), skipped=tuple(skipped))


def coexisting_claims(claims: Claims) -> Claims:
    """Claims with records that can stand under one name: a CNAME gives way to all others, and has one target."""
    skipped = list(claims.skipped)
    kept = tuple(_coexisting(claim, skipped) for claim in claims.claims)
    return structs.replace(claims, claims=kept, skipped=tuple(skipped)) if skipped != list(claims.skipped) else claims


def _coexisting(claim: Claim, skipped: list[Skipped]) -> Claim:
    records = reduced(claim.records)
    if records == claim.records:
        return claim
    message = f"{claim.name}: a CNAME has one target and no other records beside it"
    skipped.append(Skipped("OneName", message, claim.claimant.ref))
    return structs.replace(claim, records=records)


def _valid(claim: Claim, skipped: list[Skipped]) -> Claim:
    refused = {record.type: refusal(claim.name, record) for record in claim.records}
    for type_, why in refused.items():
        if why is not None:
            skipped.append(
                Skipped("InvalidRecord", f"{claim.name} {type_}: {why}", claim.claimant.ref, "spec.endpoints")
            )
    return structs.replace(claim, records=tuple(record for record in claim.records if refused[record.type] is None))


def _first(record: Record, check: Callable[[str, str], str | None]) -> str | None:
    return next((why for why in (check(record.type, target) for target in record.targets) if why is not None), None)


def _not_of_family(type_: str, target: str) -> str | None:
    version = 4 if type_ == "A" else 6
    try:
        right = ip_address(target).version == version
    except ValueError:
        right = False
    return None if right else f"target {target!r} is no IPv{version} address"


def _not_a_name(type_: str, target: str) -> str | None:
    return f"target {target!r} is no DNS name" if is_address(target) or not _NAME.fullmatch(target) else None


def _bad_mx(type_: str, target: str) -> str | None:
    parts = target.split()
    if len(parts) == 2 and _is_number(parts[0]):
        return None
    return f"target {target!r} is not of the form '10 mail.example.com'"


def _bad_srv(type_: str, target: str) -> str | None:
    parts = target.split()
    if len(parts) == 4 and all(map(_is_number, parts[:3])) and parts[3].endswith("."):
        return None
    return f"target {target!r} is not of the form '10 5 5060 sip.example.com.'"


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER and int(text) <= _NUMBER_LIMIT
