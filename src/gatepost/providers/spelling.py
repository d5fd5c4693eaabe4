"""Names and targets of records: as dnspython reads them, and in the one spelling in which DNS providers list them."""

from __future__ import annotations

import functools
import re

import dns.exception
import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.tokenizer
from msgspec.structs import replace

from gatepost.dns.endpoint import Endpoint
from gatepost.providers.contract import RefusedError

_MAX_CHARACTER_STRING = 255  # RFC 1035, section 3.3: one length octet
_KEEPS_FINAL_DOT = ("TXT", "NAPTR", "SRV")


_PLAIN_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\Z")


def canonical_name(name: str) -> str:
    """The one spelling under which a DNS name is kept: lower case, ASCII (IDNA), escaped, without final dot.

    Raises: ValueError if it is no DNS name: empty, the root, an empty label, a label over 63 or a name over 255 octets.
    """
    if _PLAIN_NAME.match(name):
        return name  # as nearly always; a zone has many names
    try:
        parsed = dns.name.from_text(name)
    except (dns.exception.DNSException, UnicodeError) as error:
        raise ValueError(f'"{name}" is no DNS name: {error}') from error
    if parsed == dns.name.root:
        raise ValueError(f'"{name}" is no DNS name: it has no label')
    return parsed.canonicalize().to_text(omit_final_dot=True)


def parent_name(name: str) -> str:
    """The canonical name without its first label; "" above the last one."""
    label_end = name.find(".")
    while label_end > 0 and name[label_end - 1] == "\\":  # a dot inside a label
        label_end = name.find(".", label_end + 1)
    return "" if label_end < 0 else name[label_end + 1 :]


def rdata_of(record_type: str, target: str) -> dns.rdata.Rdata:
    """The DNS data of one target in its text form; names in it are absolute with and without final dot.

    A TXT target in double quotes is read as in a zone file, any other stands for its bytes; both are cut into
    strings of 255 octets.
    Raises: RefusedError if the text is none of this type.
    """
    rdata_type = dns.rdatatype.from_text(record_type)
    try:
        if rdata_type == dns.rdatatype.TXT:
            wire = _txt_wire(target)
            return dns.rdata.from_wire(dns.rdataclass.IN, rdata_type, wire, 0, len(wire))
        return dns.rdata.from_text(dns.rdataclass.IN, rdata_type, target, dns.name.root, relativize=False)
    except (dns.exception.DNSException, ValueError) as error:
        raise RefusedError(f'"{target}" is no {record_type} target: {error}') from error


def _txt_wire(target: str) -> bytes:
    values = [target.encode()]
    if len(target) > 1 and target.startswith('"') and target.endswith('"'):
        tokens = dns.tokenizer.Tokenizer(target).get_remaining()
        values = [bytes(token.unescape_to_bytes().value) for token in tokens]
    strings = (
        value[start : start + _MAX_CHARACTER_STRING]
        for value in values
        for start in range(0, max(len(value), 1), _MAX_CHARACTER_STRING)
    )
    return b"".join(bytes([len(string)]) + string for string in strings)


def target_of(record_type: str, rdata: dns.rdata.Rdata) -> str:
    """The target of a record as endpoints spell it. Source: external-dns, which cuts final dots but for three types."""
    return without_final_dot(record_type, str(rdata.to_text()))


def without_final_dot(record_type: str, text: str) -> str:
    return text if record_type in _KEEPS_FINAL_DOT or text == "." else text.removesuffix(".")


@functools.lru_cache(4096)
def _listed_target(record_type: str, target: str) -> str:
    """Remembered, for many names point to the few addresses of a Gateway."""
    return target_of(record_type, rdata_of(record_type, target))


def listed_form(endpoint: Endpoint) -> Endpoint:
    """The endpoint with name and targets as a listing spells them; unchanged where they cannot be written at all."""
    type_ = endpoint.record_type
    try:
        name = canonical_name(endpoint.dns_name)
        targets = sorted({_listed_target(type_, target) for target in endpoint.targets})
    except (ValueError, dns.exception.DNSException):
        return endpoint
    return replace(endpoint, dns_name=name, targets=tuple(targets))
