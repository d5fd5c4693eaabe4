"""What a question is answered with: zones, wildcards, aliases and the two kinds of "no"."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Protocol

import dns.name
import dns.rdata
import dns.rdatatype
import dns.rrset
from dns.rcode import Rcode
from dns.rdatatype import RdataType
from dns.rdtypes.nsbase import NSBase
from msgspec import Struct, field

from gatepost.providers.embedded import RecordSet, RecordSets
from gatepost.providers.spelling import parent_name, rdata_of

_MAX_ALIASES = 16
_WEIGHT = "aws/weight"


class Zone(Protocol):
    """A zone to answer from, read at each query. Names are in the form of `canonical_name`."""

    @property
    def name(self) -> str: ...

    @property
    def serial(self) -> int: ...

    def record_sets(self, name: str) -> RecordSets | None:
        """The record sets of a name in the zone; empty if it exists without data, None if it does not exist."""
        ...


class Zones(Protocol):
    """Zones by name. `version` rises with each change in any of them."""

    @property
    def version(self) -> int: ...

    def zone_of(self, name: str) -> Zone | None:
        """The longest zone that the name is in."""
        ...


class ServedTTL(Struct, frozen=True):
    """How long resolvers may keep an answer, where the record set does not say so itself."""

    default_seconds: int = 30
    negative_seconds: int = 5


class Answer(Struct):
    """The sections of an answer. `fixed`: the same question gets it again as long as the zones keep their version."""

    rcode: Rcode = Rcode.NOERROR
    authoritative: bool = True
    answer: list[dns.rrset.RRset] = field(default_factory=list)
    authority: list[dns.rrset.RRset] = field(default_factory=list)
    additional: list[dns.rrset.RRset] = field(default_factory=list)
    fixed: bool = True


class Answerer:
    """Answers questions from `zones` and, for names below its domain, from the `cluster` zone.

    Args:
        choice: chooses among record sets of one name and type that differ in their set identifier.
    """

    def __init__(self, zones: Zones, cluster: Zone | None, ttl: ServedTTL, choice: random.Random | None = None) -> None:
        self._zones = zones
        self._cluster = cluster
        self._ttl = ttl
        self._choice = choice or random.Random()

    def answer(self, name: dns.name.Name, record_type: RdataType) -> Answer:
        """The answer to a question of class IN.

        | the name | answer |
        | --- | --- |
        | is in no zone | REFUSED |
        | is below a delegation | referral: NS in authority, not authoritative |
        | does not exist, no wildcard covers it | NXDOMAIN, SOA in authority |
        | exists without the type | NOERROR, SOA in authority |
        | is an alias | the CNAME, and the answer for its target if that is in a zone here |

        Source: RFC 1034 4.3.2, RFC 2308, RFC 4592, RFC 6604 (rcode of the last name), RFC 8482 (ANY).
        """
        out = Answer()
        zone = self._zone_of(_text(name))
        if zone is None:
            return Answer(Rcode.REFUSED, authoritative=False)
        followed = {name}
        while zone is not None and len(followed) <= _MAX_ALIASES:
            alias_of = self._look_up(name, record_type, zone, out)
            if alias_of is None or alias_of in followed:
                break
            followed.add(name := alias_of)
            zone = self._zone_of(_text(name))
        return out

    def _look_up(self, name: dns.name.Name, asked: RdataType, zone: Zone, out: Answer) -> dns.name.Name | None:
        """Adds what `zone` says about the name. Returns: the name to go on with if this one is an alias."""
        out.fixed = out.fixed and zone is not self._cluster
        text = _text(name)
        if (cut := _delegation(zone, text)) is not None:
            self._refer(cut, zone, out)
            return None
        sets = _sets_at(zone, text)
        if sets is None:
            out.rcode = Rcode.NXDOMAIN
            out.authority.append(self._soa(zone, self._ttl.negative_seconds))
            return None
        if found := self._rrset(name, asked, sets, zone, out):
            out.answer.append(found)
            return None
        if "CNAME" in sets and (alias := self._rrset(name, RdataType.CNAME, sets, zone, out)):
            out.answer.append(alias)
            return None if asked == RdataType.ANY else _names_in(alias)[0]
        if asked == RdataType.ANY and (sets or text == zone.name):
            out.answer.append(_minimal_any(name, self._ttl.default_seconds))
            return None
        out.authority.append(self._soa(zone, self._ttl.negative_seconds))
        return None

    def _rrset(
        self, name: dns.name.Name, asked: RdataType, sets: RecordSets, zone: Zone, out: Answer
    ) -> dns.rrset.RRset | None:
        candidates = sets.get(dns.rdatatype.to_text(asked), ())
        if candidates:
            out.fixed = out.fixed and len(candidates) == 1
            return self._published(name, self._chosen(candidates))
        if _text(name) != zone.name:
            return None
        if asked == RdataType.SOA:
            return self._soa(zone, self._ttl.default_seconds)
        if asked == RdataType.NS:
            return dns.rrset.from_rdata(name, self._ttl.default_seconds, rdata_of("NS", "localhost"))
        return None

    def _published(self, name: dns.name.Name, record_set: RecordSet) -> dns.rrset.RRset:
        ttl = record_set.endpoint.record_ttl or self._ttl.default_seconds
        return dns.rrset.from_rdata_list(name, ttl, record_set.rdatas)

    def _chosen(self, candidates: Sequence[RecordSet]) -> RecordSet:
        """One of several record sets, each as often as its weight says; without weights all alike."""
        if len(candidates) == 1:
            return candidates[0]
        weights = [_weight(candidate) for candidate in candidates]
        return self._choice.choices(candidates, weights if any(weights) else None)[0]

    def _refer(self, cut: str, zone: Zone, out: Answer) -> None:
        servers = (zone.record_sets(cut) or {})["NS"][0]
        out.authoritative = bool(out.answer)  # RFC 1035 4.1.1: the bit speaks of the first owner name of the answer
        out.authority.append(self._published(dns.name.from_text(cut), servers))
        for server in _names_in(servers.rdatas):
            # Servers that are named below the cut can be reached only with their addresses at hand (RFC 1034 4.2.1).
            glue = zone.record_sets(_text(server)) or {} if _is_in(_text(server), cut) else {}
            for address_type in ("A", "AAAA"):
                out.additional.extend(self._published(server, found) for found in glue.get(address_type, ()))

    def _soa(self, zone: Zone, ttl_seconds: int) -> dns.rrset.RRset:
        minimum = self._ttl.negative_seconds
        text = f"localhost hostmaster.localhost {zone.serial} 3600 600 86400 {minimum}"
        return dns.rrset.from_rdata(dns.name.from_text(zone.name), ttl_seconds, rdata_of("SOA", text))

    def _zone_of(self, name: str) -> Zone | None:
        zone = self._zones.zone_of(name)
        cluster = self._cluster
        if cluster is not None and _is_in(name, cluster.name) and (zone is None or _is_in(cluster.name, zone.name)):
            return cluster
        return zone


def _text(name: dns.name.Name) -> str:
    return name.canonicalize().to_text(omit_final_dot=True)


def _names_in(rdatas: Iterable[dns.rdata.Rdata]) -> list[dns.name.Name]:
    """The names that CNAME or NS records point to."""
    return [rdata.target for rdata in rdatas if isinstance(rdata, NSBase)]


def _is_in(name: str, domain: str) -> bool:
    return name == domain or name.endswith("." + domain)


def _weight(candidate: RecordSet) -> int:
    weights = [p.value for p in candidate.endpoint.provider_specific if p.name == _WEIGHT]
    return int(weights[0]) if weights and weights[0].isdecimal() else 0


def _sets_at(zone: Zone, name: str) -> RecordSets | None:
    """The record sets of a name, those of a wildcard if the name does not exist itself (RFC 4592)."""
    sets = zone.record_sets(name)
    encloser = name
    while sets is None and encloser != zone.name:
        encloser = parent_name(encloser)
        if zone.record_sets(encloser) is not None:
            # Only a wildcard right below the closest name that exists counts: a.b.example.com hides
            # *.example.com from x.b.example.com.
            return zone.record_sets("*." + encloser)
    return sets


def _delegation(zone: Zone, name: str) -> str | None:
    """The topmost name between the apex (not included) and `name` that has NS records."""
    cut = None
    while name != zone.name:
        if "NS" in (zone.record_sets(name) or {}):
            cut = name
        name = parent_name(name)
    return cut


def _minimal_any(name: dns.name.Name, ttl_seconds: int) -> dns.rrset.RRset:
    return dns.rrset.from_rdata(name, ttl_seconds, rdata_of("HINFO", '"RFC8482" ""'))
