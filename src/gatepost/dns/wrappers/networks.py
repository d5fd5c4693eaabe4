"""--nat64-networks, --target-net-filter and --exclude-target-net: what depends on the network of an address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from msgspec import structs

from gatepost.dns.records import Record, Records
from gatepost.dns.targets import joined

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
