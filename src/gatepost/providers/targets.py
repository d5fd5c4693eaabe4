"""The one spelling in which providers of plain DNS list names and targets, and to which they bring what is wanted."""

from __future__ import annotations

import dns.exception
import dns.rdata
from msgspec.structs import replace

from gatepost.dns.endpoint import Endpoint
from gatepost.providers.embedded import canonical_name, rdata_of

_KEEPS_FINAL_DOT = ("TXT", "NAPTR", "SRV")


def target_of(record_type: str, rdata: dns.rdata.Rdata) -> str:
    """The target of a record as endpoints spell it. Source: external-dns, which cuts final dots but for three types."""
    return without_final_dot(record_type, str(rdata.to_text()))


def without_final_dot(record_type: str, text: str) -> str:
    return text if record_type in _KEEPS_FINAL_DOT or text == "." else text.removesuffix(".")


def listed_form(endpoint: Endpoint) -> Endpoint:
    """The endpoint with name and targets as a listing spells them; unchanged where they cannot be written at all."""
    type_ = endpoint.record_type
    try:
        name = canonical_name(endpoint.dns_name)
        targets = sorted({target_of(type_, rdata_of(type_, target)) for target in endpoint.targets})
    except (ValueError, dns.exception.DNSException):
        return endpoint
    return replace(endpoint, dns_name=name, targets=tuple(targets))
