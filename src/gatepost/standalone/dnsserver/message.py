"""DNS messages: bytes of a query in, bytes of the response out."""

from __future__ import annotations

import logging
import struct

import dns.exception
import dns.flags
import dns.message
import dns.rdataclass
from dns.opcode import Opcode
from dns.rcode import Rcode
from dns.rdatatype import RdataType

from gatepost.standalone.dnsserver.answer import Answer, Answerer, Zones

_log = logging.getLogger(__name__)

_HEADER_OCTETS = 12
_PLAIN_UDP_OCTETS = 512  # RFC 1035 2.3.4: what a client without EDNS can take
_OUR_UDP_OCTETS = 1232  # what fits into any path without fragments (DNS flag day 2020)
_TCP_OCTETS = 65535
_MAX_KEPT_RESPONSES = 50_000
_TRANSFERS = (RdataType.AXFR, RdataType.IXFR)


class Responder:
    """Turns queries into responses.

    Most queries repeat one that came before, octet by octet except for their ID. Their responses are kept until the
    zones change, so that only the first of each kind is parsed.
    """

    def __init__(self, answerer: Answerer, zones: Zones) -> None:
        self._answerer = answerer
        self._zones = zones
        self._kept: dict[bytes, bytes] = {}
        self._kept_version = zones.version

    def over_udp(self, query: bytes) -> bytes | None:
        """The response to a datagram; None if it deserves none: too short for a header, or a response itself."""
        if self._kept_version != self._zones.version or len(self._kept) >= _MAX_KEPT_RESPONSES:
            self._kept.clear()
            self._kept_version = self._zones.version
        kept = self._kept.get(query[2:])
        return self._respond(query, None) if kept is None else query[:2] + kept

    def over_tcp(self, query: bytes) -> bytes | None:
        """The response to a message that came over TCP, None as for UDP."""
        return self._respond(query, _TCP_OCTETS)

    def _respond(self, wire: bytes, max_octets: int | None) -> bytes | None:
        if len(wire) < _HEADER_OCTETS or _flags(wire) & dns.flags.QR:
            return None
        if dns.opcode.from_flags(_flags(wire)) != Opcode.QUERY:
            return _bare_response(wire, Rcode.NOTIMP)
        try:
            query = dns.message.from_wire(wire)
        except (dns.exception.DNSException, ValueError):
            return _bare_response(wire, Rcode.FORMERR)
        try:
            return self._respond_to(wire, query, max_octets)
        except Exception:
            # A fault of ours must cost one client one answer, not everyone the server.
            _log.exception("no answer for a query", extra={"question": str(query.question)})
            return _bare_response(wire, Rcode.SERVFAIL)

    def _respond_to(self, wire: bytes, query: dns.message.Message, max_octets: int | None) -> bytes:
        answer = self._answer(query)
        response = dns.message.make_response(query, our_payload=_OUR_UDP_OCTETS)
        response.set_rcode(answer.rcode)
        if answer.authoritative:
            response.flags |= dns.flags.AA
        response.answer, response.authority = answer.answer, answer.authority
        response.additional = answer.additional
        octets = _encode(response, max_octets or _udp_limit(query))
        # Options such as cookies are different in each query; keeping their responses would only fill the store.
        if max_octets is None and answer.fixed and not query.options:
            self._kept[wire[2:]] = octets[2:]
        return octets

    def _answer(self, query: dns.message.Message) -> Answer:
        if len(query.question) != 1:
            return Answer(Rcode.FORMERR, authoritative=False)  # RFC 9619
        if query.edns > 0:
            return Answer(Rcode.BADVERS, authoritative=False)
        [question] = query.question
        if question.rdclass != dns.rdataclass.IN or question.rdtype in _TRANSFERS:
            return Answer(Rcode.REFUSED, authoritative=False)
        return self._answerer.answer(question.name, question.rdtype)


def _flags(wire: bytes) -> int:
    return int(struct.unpack_from("!H", wire, 2)[0])


def _bare_response(query: bytes, rcode: Rcode) -> bytes:
    """A response without any section, for queries whose sections cannot be trusted."""
    kept = _flags(query) & (0x7800 | dns.flags.RD)  # the opcode and "recursion desired" go back as they came
    return query[:2] + struct.pack("!5H", dns.flags.QR | kept | rcode, 0, 0, 0, 0)


def _udp_limit(query: dns.message.Message) -> int:
    if query.edns < 0:
        return _PLAIN_UDP_OCTETS
    return max(_PLAIN_UDP_OCTETS, min(query.payload, _OUR_UDP_OCTETS))


def _encode(response: dns.message.Message, max_octets: int) -> bytes:
    try:
        # In the order of the targets, as published: a kept response would repeat one shuffle for ever.
        return response.to_wire(max_size=max_octets, want_shuffle=False)
    except dns.exception.TooBig:
        # Half an RRset is worse than none (RFC 2181 9): the client comes back over TCP for the whole.
        response.flags |= dns.flags.TC
        response.answer, response.authority, response.additional = [], [], []
        return response.to_wire(max_size=max_octets)
