"""What must never happen to a zone, whoever writes and whatever fails; read without the provider of gatepost.

| seen                                 | judged                                                                  |
| each update on its way to the server | deletes no record that is asked for, and none of another owner          |
| the history of the zone, by IXFR     | in no step does a lasting record go, in none is another owner's touched |
| the zone at the end, by AXFR         | holds the records of others as they were, those asked for, nothing else |
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import dns.message
import dns.name
import dns.query
import dns.rdatatype
import dns.rrset
import dns.tsig
import dns.update
from dns_servers import ZONE, DnsServer
from msgspec import Struct, field

Line = str
"""A resource record as text: name, TTL, type, data."""


class Step(Struct):
    """What one update did to the zone."""

    removed: set[Line] = field(default_factory=set)
    added: set[Line] = field(default_factory=set)


class Referee:
    """Args: addresses: who publishes under which address; may be changed.

    `asked` are the names that each owner asks for now, with the Routes behind them; `offences` what was done in spite.
    """

    def __init__(self, server: DnsServer, addresses: dict[str, str]) -> None:
        self._server = server
        self.addresses = addresses
        self._read_at = -1
        self._zone: set[Line] = set()
        self._serial = self._current_serial()
        self._others = self.zone()
        self._names_of_others = {line.split(" ", 1)[0] for line in self._others}
        self.asked: dict[str, dict[str, str]] = defaultdict(dict)
        self.offences: list[str] = []

    def zone(self) -> set[Line]:
        """All resource records but the SOA record."""
        serial = self._current_serial()
        if serial != self._read_at:
            self._read_at, self._zone = serial, self._transferred()
        return self._zone

    def _transferred(self) -> set[Line]:
        return {
            line
            for message in dns.query.xfr(
                "127.0.0.1", ZONE, port=self._server.port, keyring=self._keyring, lifetime=20, relativize=False
            )
            for rrset in message.answer
            for line in _lines(rrset)
            if " SOA " not in line
        }

    @property
    def _keyring(self) -> dict[dns.name.Name, dns.tsig.Key]:
        key = self._server.key()
        return {key.name: key}

    def wanted(self) -> set[Line]:
        """The zone as it has to be: the records of others, and those of all names that are asked for by one owner."""
        claims = ((owner, name, route) for owner, asked in self.asked.items() for name, route in asked.items())
        lines = {line for owner, name, route in claims for line in self._lines_of(owner, name, route)}
        return self._others | lines

    def _lines_of(self, owner: str, name: str, route: str) -> tuple[Line, Line]:
        text = f'"heritage=external-dns,external-dns/owner={owner},external-dns/resource=httproute/shop/{route}"'
        return f"{name}. 300 A {self.addresses[owner]}", f"a-{name}. 300 TXT {text}"

    # Each update

    def judge(self, actor: str, wire: bytes) -> None:
        """Takes note of what must not be in an update that `actor` sends now."""
        message = dns.message.from_wire(wire, keyring=False)
        assert isinstance(message, dns.update.UpdateMessage)
        deleted = {(rrset.name.to_text(), rrset.rdtype) for rrset in message.update if rrset.deleting is not None}
        added = {(rrset.name.to_text(), rrset.rdtype) for rrset in message.update if rrset.deleting is None}
        for name, type_ in sorted(deleted):
            what = f"{actor} deletes {name} {dns.rdatatype.to_text(type_)}"
            about = name.removeprefix("a-").rstrip(".")
            if name in self._names_of_others or self.owner_of(about) not in ("", actor):
                self.offences.append(f"{what}, which is of another owner")
            elif about in self.asked[actor] and (name, type_) not in added:
                self.offences.append(f"{what}, which is asked for")

    def owner_of(self, name: str) -> str:
        """Who has written down that an A record is theirs, "" for nobody."""
        for line in self._answer(f"a-{name}", "TXT"):
            for part in line.split('"')[1].split(","):
                if part.startswith("external-dns/owner="):
                    return part.removeprefix("external-dns/owner=")
        return ""

    def _current_serial(self) -> int:
        return int(self._answer(ZONE, "SOA")[0].split()[5])

    def _answer(self, name: str, type_: str) -> list[Line]:
        query = dns.message.make_query(name, type_)
        answer = dns.query.tcp(query, "127.0.0.1", timeout=5, port=self._server.port)
        return [line for rrset in answer.answer for line in _lines(rrset)]

    # All updates

    def steps(self) -> Iterator[Step]:
        """What happened to the zone since the beginning, as the server tells it (RFC 1995 4)."""
        transfer = dns.query.xfr(
            "127.0.0.1",
            ZONE,
            dns.rdatatype.IXFR,
            port=self._server.port,
            keyring=self._keyring,
            serial=self._serial,
            lifetime=20,
            relativize=False,
        )
        lines = [line for message in transfer for rrset in message.answer for line in _lines(rrset)]
        assert " SOA " in lines[0], lines
        if len(lines) == 1:
            return  # nothing has happened
        assert f" {self._serial} " in lines[1], "the server gave the whole zone in place of its history"
        step, is_removing = Step(), False
        for line in lines[1:-1]:
            if " SOA " in line:
                is_removing = not is_removing
                if is_removing and (step.removed or step.added):
                    yield step
                    step = Step()
            else:
                (step.removed if is_removing else step.added).add(line)
        yield step

    def offences_of_history(self, lasting: set[str]) -> list[str]:
        """Args: lasting: names that were there at the beginning of the history or came in it, and had to stay."""
        found: list[str] = []
        for step in self.steps():
            changed = step.removed ^ step.added
            found += [f"{line} was touched" for line in sorted(changed) if line.split(" ")[0] in self._names_of_others]
            left = {_key(line) for line in step.removed} - {_key(line) for line in step.added}
            found += [f"{name} {type_} went" for name, type_ in sorted(left) if name.rstrip(".") in lasting]
        return found


def _lines(rrset: dns.rrset.RRset) -> Iterator[Line]:
    for rdata in rrset:
        yield f"{rrset.name.to_text()} {rrset.ttl} {dns.rdatatype.to_text(rrset.rdtype)} {rdata.to_text()}"


def _key(line: Line) -> tuple[str, str]:
    name, _, type_, _ = line.split(" ", 3)
    return name, type_
