"""Zone transfers: a whole zone (AXFR), or what has changed in it since a serial (IXFR); complete, or not at all."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from typing import Any

import dns.message
import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset

from gatepost.providers.rfc2136.contents import Contents, Difference, OutOfStep, Record, contents_of, record_of
from gatepost.providers.rfc2136.refusals import Unusable, of_rcode
from gatepost.providers.rfc2136.servers import Dialogue


async def read_zone(dialogue: Dialogue, zone: str, known: Contents | None) -> Contents:
    """What the zone holds now.

    Asks for the serial first, then for the differences, then for all of it, as far as needed.
    Args: known: what it held before, if it came from the same server.
    Raises: Unusable if the server gives none of it, or only a part; and what a broken connection raises.
    """
    name = dns.name.from_text(zone)
    if known is not None:
        serial = await _serial(dialogue, name)
        if serial == known.serial:
            return known
        try:
            return await _transfer(dialogue, name, known)
        except (Unusable, OutOfStep):
            pass  # not every server keeps differences, or lets us have them
    return await _transfer(dialogue, name, None)


async def _serial(dialogue: Dialogue, name: dns.name.Name) -> int:
    query = dns.message.make_query(name, dns.rdatatype.SOA)
    answer = await dialogue.ask(dialogue.signed(query), query)
    _check_rcode(dialogue, name, answer)
    for rrset in answer.answer:
        if rrset.rdtype == dns.rdatatype.SOA and rrset.name == name:
            return _serial_of(rrset[0])
    raise Unusable(f"server {dialogue.server} knows no zone {_text(name)}: it has no SOA record there")


async def _transfer(dialogue: Dialogue, name: dns.name.Name, known: Contents | None) -> Contents:
    reading = _Reading(dialogue, name, known)
    async with contextlib.aclosing(dialogue.ask_many(_transfer_query(name, known))) as answers:
        async for answer in answers:
            _check_rcode(dialogue, name, answer)
            await asyncio.to_thread(reading.take_all, answer.answer)
            if reading.is_complete:
                if dialogue.is_signed and not answer.had_tsig:
                    raise Unusable(f"server {dialogue.server} left the end of the transfer of {_text(name)} unsigned")
                break
    return await asyncio.to_thread(reading.contents)


def _transfer_query(name: dns.name.Name, known: Contents | None) -> dns.message.Message:
    if known is None:
        return dns.message.make_query(name, dns.rdatatype.AXFR)
    query = dns.message.make_query(name, dns.rdatatype.IXFR)
    soa = dns.rdata.from_text(dns.rdataclass.IN, dns.rdatatype.SOA, f". . {known.serial} 0 0 0 0")
    query.authority.append(dns.rrset.from_rdata(name, 0, soa))
    return query


def _check_rcode(dialogue: Dialogue, name: dns.name.Name, answer: dns.message.Message) -> None:
    if answer.rcode():
        raise Unusable(of_rcode(answer.rcode(), str(dialogue.server), _text(name), dialogue.key))


class _Reading:
    """The records of a transfer as they come in.

    | second record                        | what it is                                                          |
    | none: the serial is the one we know  | nothing has changed                                                 |
    | SOA with the serial that we know     | differences, each SOA removed.. SOA added.., up to the first serial |
    | anything else                        | the whole zone, up to the first SOA again                           |

    Source: RFC 5936 2.2, RFC 1995 4.
    """

    def __init__(self, dialogue: Dialogue, name: dns.name.Name, known: Contents | None) -> None:
        self._server = str(dialogue.server)
        self._name = name
        self._known = known
        self._taken = 0
        self._soa: Any = None
        self._is_whole = known is None
        self._records: list[Record] = []
        self._differences: list[Difference] = []
        self._removed: list[Record] | None = None
        self._at = 0
        self._texts: dict[dns.name.Name, str] = {}
        self.is_complete = False

    def take_all(self, rrsets: Iterable[dns.rrset.RRset]) -> None:
        """Takes in the records of one message. Raises: Unusable, OutOfStep."""
        for rrset in rrsets:
            self._take(rrset)

    def _take(self, rrset: dns.rrset.RRset) -> None:
        if self.is_complete:
            raise Unusable(f"server {self._server} sent records after the end of zone {_text(self._name)}")
        rdata = rrset[0]
        is_soa = rdata.rdtype == dns.rdatatype.SOA
        if is_soa and rrset.name != self._name:
            raise Unusable(f"server {self._server} sent zone {rrset.name}, asked for was {_text(self._name)}")
        if self._taken == 0:
            self._begin(rdata, is_soa=is_soa)
        elif is_soa:
            self._take_soa(rdata)
        else:
            self._take_record(rrset, rdata)
        self._taken += 1

    def _begin(self, rdata: dns.rdata.Rdata, *, is_soa: bool) -> None:
        if not is_soa:
            raise Unusable(f"server {self._server} sent zone {_text(self._name)} without its SOA record first")
        self._soa = rdata
        self.is_complete = self._known is not None and self._known.serial == _serial_of(rdata)

    def _take_soa(self, rdata: dns.rdata.Rdata) -> None:
        serial = _serial_of(rdata)
        if self._taken == 1 and self._known is not None and serial == self._known.serial:
            self._removed, self._at = [], serial
        elif self._is_whole or self._taken == 1:
            if serial != _serial_of(self._soa):
                raise Unusable(f"zone {_text(self._name)} changed while server {self._server} sent it")
            self._is_whole = self.is_complete = True
        elif self._removed is not None:
            self._begin_added(serial)
        else:
            self._end_difference(serial)

    def _begin_added(self, serial: int) -> None:
        self._differences.append(Difference(tuple(self._removed or ()), ()))
        self._removed, self._records, self._at = None, [], serial

    def _end_difference(self, serial: int) -> None:
        if serial != self._at:
            raise OutOfStep(f"a difference ends at serial {self._at}, the next begins at {serial}")
        self._differences[-1] = Difference(self._differences[-1].removed, tuple(self._records))
        if serial == _serial_of(self._soa):
            self.is_complete = True
        else:
            self._removed = []

    def _take_record(self, rrset: dns.rrset.RRset, rdata: dns.rdata.Rdata) -> None:
        if self._taken == 1:
            self._is_whole = True
        text = self._texts.get(rrset.name)
        if text is None:
            text = self._texts[rrset.name] = _text(rrset.name)
        record = record_of(text, rdata, rrset.ttl)
        if record is not None:
            (self._records if self._removed is None else self._removed).append(record)

    def contents(self) -> Contents:
        """Raises: OutOfStep if the differences do not fit what was known."""
        serial = _serial_of(self._soa)
        if self._is_whole:
            return contents_of(self._server, serial, self._records)
        assert self._known is not None
        return self._known.after(serial, self._differences)


def _serial_of(soa: Any) -> int:
    return int(soa.serial)


def _text(name: dns.name.Name) -> str:
    return str(name.canonicalize().to_text(omit_final_dot=True))
