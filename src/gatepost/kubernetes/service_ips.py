"""The cluster IPs of Services: which address a Service gets."""

from __future__ import annotations

import ipaddress
import zlib
from collections.abc import Collection

from gatepost.objects.refs import Ref

_RANGE = ipaddress.IPv4Network("10.96.0.0/12")
# The first addresses stay free for what is set up by hand: the API itself, cluster DNS.
_FIRST_OFFSET = 256


def is_cluster_ip(text: str) -> bool:
    """Whether a Service may have this address."""
    try:
        return ipaddress.IPv4Address(text) in _RANGE
    except ValueError:
        return False


def cluster_ip_for(ref: Ref, taken: Collection[str]) -> str:
    """A free address of 10.96.0.0/12 for this Service.

    The place to start looking comes from its name, so that it gets the same one whatever was made before it, as long
    as no other Service with the same start is there.

    Raises: ValueError if no address is free.
    """
    size = _RANGE.num_addresses - _FIRST_OFFSET - 1
    start = zlib.crc32(f"{ref.namespace}/{ref.name}".encode()) % size
    for step in range(size):
        address = str(_RANGE[_FIRST_OFFSET + (start + step) % size])
        if address not in taken:
            return address
    raise ValueError(f"{ref}: no cluster IP is free in {_RANGE}")
