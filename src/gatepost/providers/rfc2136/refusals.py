"""What the refusals of a DNS server mean, in words for the person who can act on them."""

from __future__ import annotations

import dns.rcode
import dns.tsig

NOT_FOR_ONE_RECORD = frozenset({dns.rcode.NOTAUTH, dns.rcode.NOTIMP})
"""Refusals that have to do with the zone or the server: no record of the batch is to blame."""


class Unusable(Exception):
    """A server answered, and the answer helps nobody; the text says why. Nothing was changed."""


_MEANINGS = {
    dns.rcode.FORMERR: "takes the message for malformed",
    dns.rcode.SERVFAIL: "failed; its log says why",
    dns.rcode.NOTIMP: "takes no dynamic updates for this zone",
    dns.rcode.REFUSED: "refuses: what it is configured to allow does not cover {signer}, or not this name or type",
    dns.rcode.NOTAUTH: "is not authoritative for zone {zone}, or does not take {signer} for it; check --rfc2136-zone",
    dns.rcode.NOTZONE: "says that a name lies outside of zone {zone}",
    dns.rcode.NXRRSET: "says that the record or its ownership record is not there as it was read: somebody else has "
    "changed it, and it was left as it is",
    dns.rcode.YXRRSET: "says that there is already a record of this name and type, or one that cannot stand beside it: "
    "it was left as it is",
    dns.rcode.YXDOMAIN: "says that the name is already in use: it was left as it is",
    dns.rcode.NXDOMAIN: "says that the name is not there",
}


def of_rcode(rcode: dns.rcode.Rcode, server: str, zone: str, key: dns.tsig.Key | None) -> str:
    """Why a server refused to change a zone, or to hand it out."""
    signer = f"TSIG key {name_of(key)}" if key is not None else "our address"
    meaning = _MEANINGS.get(rcode, "refuses").format(signer=signer, zone=zone)
    return f"server {server} {meaning} ({dns.rcode.to_text(rcode)})"


def of_signature(error: dns.tsig.PeerError, server: str, key: dns.tsig.Key) -> str:
    """Why a server did not accept a signed message."""
    name = name_of(key)
    if isinstance(error, dns.tsig.PeerBadKey):
        algorithm = str(key.algorithm).rstrip(".")
        return (
            f"server {server} knows no TSIG key {name} of algorithm {algorithm} (BADKEY); check --rfc2136-tsig-keyname"
        )
    if isinstance(error, dns.tsig.PeerBadSignature):
        return f"server {server} has another secret for TSIG key {name} (BADSIG); check --rfc2136-tsig-secret"
    if isinstance(error, dns.tsig.PeerBadTime):
        return f"the clocks of server {server} and of this machine differ too much for TSIG (BADTIME)"
    return f"server {server} does not accept what TSIG key {name} has signed: {error}"


def name_of(key: dns.tsig.Key) -> str:
    return str(key.name).rstrip(".")
