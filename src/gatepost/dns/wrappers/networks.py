"""--nat64-networks, --target-net-filter and --exclude-target-net: what depends on the network of an address.

A target outside the networks is none of ours. So it leaves a claim before claims compete for a name, and before an
address displaces a name: a private address neither wins against a public one nor hides it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from msgspec import structs

from gatepost.dns.records import Claim, Claims, Record, Records
from gatepost.dns.targets import joined
from gatepost.objects.problems import Skipped

_Network = IPv4Network | IPv6Network
_NETWORK = re.compile(r"[0-9A-Fa-f.:]+/[0-9]{1,3}")
_IPV4_BITS = (1 << 32) - 1


class Nat64:
    """Adds the IPv4 addresses that lie behind NAT64 addresses to the A record of the name.

    Source: RFC 6052, prefixes of 96 bits: the last 32 are the IPv4 address.
    """

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks = [ip_network(network, strict=False) for network in networks]

    def __call__(self, records: Records) -> Records:
        added = [self._behind(record) for record in records if record.type == "AAAA"]
        found = [record for record in added if record.targets]
        # Existing records come first, so that an A record keeps its own settings.
        return joined([records, *((record,) for record in found)]) if found else records

    def _behind(self, record: Record) -> Record:
        addresses = {
            str(IPv4Address(int(address) & _IPV4_BITS))
            for address in map(_address, record.targets)
            if isinstance(address, IPv6Address) and any(address in network for network in self._networks)
        }
        return structs.replace(record, type="A", targets=tuple(sorted(addresses)))


class TargetFilter:
    """Keeps targets inside some networks and outside others. Names are in no network.

    Texts that are no networks do not count; `DnsSettings.remarks` tells of them.
    """

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = _networks(include)
        self._exclude = _networks(exclude)

    def __call__(self, record: Record) -> Record:
        kept = tuple(target for target in record.targets if self._keeps(target))
        return record if kept == record.targets else structs.replace(record, targets=kept)

    def _keeps(self, target: str) -> bool:
        address = _address(target)
        if address is None:
            return not self._include
        if self._include and not any(address in network for network in self._include):
            return False
        return not any(address in network for network in self._exclude)


class TargetNetworks:
    """Takes the records of a name through NAT64 and the filter; those that are left without targets are gone."""

    def __init__(self, nat64: Sequence[str], include: Sequence[str], exclude: Sequence[str]) -> None:
        self._nat64 = Nat64(nat64) if nat64 else None
        self._filter = TargetFilter(include, exclude) if include or exclude else None

    @property
    def is_idle(self) -> bool:
        return self._nat64 is None and self._filter is None

    def __call__(self, records: Records) -> Records:
        if self._nat64 is not None:
            records = self._nat64(records)
        if self._filter is not None:
            records = tuple(record for record in map(self._filter, records) if record.targets)
        return records

    def within(self, claims: Claims) -> Claims:
        """The claims with what is left of their targets. One without any is no claim, unless it is in doubt."""
        skipped = list(claims.skipped)
        kept = [claim for claim in (self._claim(claim, skipped) for claim in claims.claims) if _counts(claim)]
        return structs.replace(claims, claims=tuple(kept), skipped=tuple(skipped))

    def _claim(self, claim: Claim, skipped: list[Skipped]) -> Claim:
        records = self(claim.records)
        found = structs.replace(claim, records=records) if records != claim.records else claim
        lost = {record.type for record in claim.records} - {record.type for record in records}
        if lost or not _counts(found):
            types = f" {', '.join(sorted(lost))}" if lost else ""
            message = f"{claim.name}{types}: no target is left by the target networks"
            skipped.append(Skipped("TargetsFilteredOut", message, claim.claimant.ref))
        return found


def _counts(claim: Claim) -> bool:
    return bool(claim.records) or claim.doubt is not None


def network_of(text: str) -> _Network | None:
    """The network that a text such as 192.0.2.0/24 writes; None if it is none, or an address without a length."""
    if _NETWORK.fullmatch(text) is None:
        return None
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None


def _networks(texts: Sequence[str]) -> list[_Network]:
    return [network for network in map(network_of, texts) if network is not None]


def _address(target: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(target)
    except ValueError:
        return None
