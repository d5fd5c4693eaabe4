"""Records that stand in a file: a list of endpoints, a zone file, or what `dig AXFR` printed.

Read as a provider's listing is: complete, or not at all. A listing with a part missing would make records look absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import dns.exception
import dns.rdatatype
import dns.rrset
import dns.zone
import msgspec
from msgspec import Struct

from gatepost.dns.choices import RECORD_TYPES
from gatepost.dns.endpoint import Endpoint
from gatepost.dns.names import record_name
from gatepost.dns.ownership.txt_format import labels_in
from gatepost.objects.plain_yaml import NotYaml, read_all_yaml

_KEEPS_FINAL_DOT = ("TXT", "NAPTR", "SRV")
_DIG = "; <<>> DiG"
_DIG_FAILED = "; Transfer failed"
_SOA = re.compile(r"^(\S+)[ \t]+(?:\d\w*[ \t]+)?(?:IN[ \t]+)?(?:\d\w*[ \t]+)?SOA[ \t]", re.MULTILINE)
_SOAS_OF_A_TRANSFER = 2  # it begins and ends with it (RFC 5936, section 2.2)


class BadListing(ValueError):
    """A file whose records cannot be taken as all that a zone holds; the text says what was found and wanted."""


class Listing(Struct, frozen=True):
    """The records that were found, and the zones, as far as the file names them."""

    endpoints: tuple[Endpoint, ...]
    zones: tuple[str, ...] = ()


def listing_in(text: str) -> Listing:
    """The records that a text holds: JSON or YAML with endpoints in the form of external-dns, or DNS records.

    Raises: BadListing if any part of it cannot be read, or is known to be missing.
    """
    if not text.strip():
        raise BadListing("found nothing, wanted records; a zone without any is the list []")
    first = next((line for line in map(str.strip, text.splitlines()) if line and line[0] not in ";#"), "")
    if text.startswith(_DIG) or first.startswith("$") or not _looks_like_yaml(first):
        return _from_zone_text(text)
    return Listing(_from_yaml(text))


def _looks_like_yaml(line: str) -> bool:
    """Lists and mappings start like this; a line of a zone file has blanks between its fields and no colon before."""
    return line.startswith(("[", "{", "- ", "---")) or line.partition(" ")[0].endswith(":")


# Lists of endpoints


def _from_yaml(text: str) -> tuple[Endpoint, ...]:
    try:
        documents = [document for document in read_all_yaml(text) if document is not None]
    except NotYaml as error:
        raise BadListing(f"found no YAML, wanted a list of endpoints: {error}") from error
    entries: list[Any] = []
    for document in documents:
        entries += document if isinstance(document, list) else [document]
    return tuple(_endpoint(entry, number) for number, entry in enumerate(entries))


def _endpoint(entry: Any, number: int) -> Endpoint:
    try:
        return msgspec.convert(entry, Endpoint)
    except msgspec.ValidationError as error:
        message = str(error).replace("`$", f"`[{number}]")
        raise BadListing(f"found an entry that is no endpoint, wanted dnsName, recordType, targets: {message}") from (
            error
        )


# DNS records


def _from_zone_text(text: str) -> Listing:
    if any(line.startswith(_DIG_FAILED) for line in text.splitlines()):
        raise BadListing("found a transfer that failed, wanted a complete one")
    soas = _SOA.findall(text)
    if not soas:
        raise BadListing("found no SOA record, wanted a whole zone: without it nobody knows what is missing")
    if text.lstrip().startswith(_DIG) and len(soas) < _SOAS_OF_A_TRANSFER:
        raise BadListing("found a transfer that breaks off, wanted one that ends with the SOA record")
    zone = _zone_in(text, soas[0] if soas[0].endswith(".") else None)
    rrsets = [
        dns.rrset.from_rdata_list(name, rdataset.ttl, list(rdataset))
        for name, node in zone.nodes.items()
        for rdataset in node.rdatasets
    ]
    return Listing(endpoints_of(rrsets), (record_name(str(zone.origin)),))


def _zone_in(text: str, origin: str | None) -> dns.zone.Zone:
    """Args: origin: the name of the zone, None to take the first `$ORIGIN` line."""
    try:
        zone = dns.zone.from_text(text, origin, relativize=False, check_origin=False, allow_include=False)
    except dns.zone.UnknownOrigin as error:
        raise BadListing("found relative names, wanted a zone file with a line `$ORIGIN example.com.`") from error
    except (dns.exception.DNSException, ValueError) as error:
        raise BadListing(f"found something that is no DNS zone: {error}") from error
    if zone.origin is None or zone.get_rdataset(zone.origin, "SOA") is None:
        raise BadListing("found a zone without its SOA record, wanted a whole zone")
    return zone


def endpoints_of(rrsets: Iterable[dns.rrset.RRset]) -> tuple[Endpoint, ...]:
    """Record sets as endpoints, without the types that gatepost does not know (SOA, DNSSEC); sorted.

    Names have no final dot, nor have targets, but for TXT, NAPTR and SRV.
    """
    return tuple(sorted(_endpoints(rrsets), key=lambda endpoint: endpoint.key))


def _endpoints(rrsets: Iterable[dns.rrset.RRset]) -> Iterator[Endpoint]:
    for rrset in rrsets:
        record_type = dns.rdatatype.to_text(rrset.rdtype)
        if record_type in RECORD_TYPES:
            targets = sorted(_target(record_type, rdata) for rdata in rrset)
            yield Endpoint(record_name(rrset.name.to_text()), record_type, tuple(targets), rrset.ttl)


def _target(record_type: str, rdata: Any) -> str:
    text = str(rdata.to_text())
    if record_type == "TXT":
        # An ownership text over 255 octets comes in several strings, which are one text to those who wrote it.
        whole = b"".join(rdata.strings).decode("utf-8", "replace")
        return f'"{whole}"' if labels_in(whole) is not None else text
    return text if record_type in _KEEPS_FINAL_DOT or text == "." else text.removesuffix(".")
