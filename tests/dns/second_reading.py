"""A second reading of what external-dns specifies, and of our rule for conflicts, for small scenes.

Written apart from the rules, the shortest way and without regard to speed, so that a slip in there and one in here are
unlikely to be the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

PROTOCOLS = {
    "HTTPRoute": ("HTTP", "HTTPS"),
    "GRPCRoute": ("HTTP", "HTTPS"),
    "TLSRoute": ("TLS",),
    "TCPRoute": ("TCP", "TLS"),
}


@dataclass(frozen=True)
class AListener:
    name: str
    hostname: str
    protocol: str
    port: int
    takes: str


@dataclass(frozen=True)
class AGateway:
    name: str
    namespace: str
    addresses: tuple[str, ...]
    listeners: tuple[AListener, ...]
    target: str
    ttl: int


@dataclass(frozen=True)
class AParent:
    gateway: str
    namespace: str
    section: str
    port: int
    is_accepted: bool


@dataclass(frozen=True)
class ARoute:
    kind: str
    name: str
    namespace: str
    created: int
    hostnames: tuple[str, ...]
    annotated: tuple[str, ...]
    source: str
    parents: tuple[AParent, ...]
    target: str
    ttl: int


@dataclass(frozen=True)
class AClaim:
    age: tuple[int, str, str]
    resource: str
    targets: frozenset[str]
    ttl: int


Records = dict[tuple[str, str], tuple[tuple[str, ...], int, str]]
"""(name, type) -> targets, TTL, resource."""


def records(gateways: Iterable[AGateway], routes: Iterable[ARoute], conflict: str) -> Records:
    by_name: dict[str, list[AClaim]] = {}
    there = list(gateways)
    for route in routes:
        for name, claim in _claims(there, route):
            by_name.setdefault(name, []).append(claim)
    found: Records = {}
    for name, claims in by_name.items():
        found.update(_settled(name, sorted(claims, key=lambda claim: claim.age), conflict))
    return found


def _claims(gateways: Sequence[AGateway], route: ARoute) -> Iterable[tuple[str, AClaim]]:
    served: dict[str, list[AGateway]] = {}
    for parent in route.parents:
        for gateway in gateways:
            if parent.is_accepted and (gateway.name, gateway.namespace) == (parent.gateway, parent.namespace):
                for name in _names(gateway, parent, route):
                    served.setdefault(name, []).append(gateway)
    for name, by in served.items():
        given = [_targets(gateway) for gateway in by]
        targets = {route.target} if route.target else set().union(*given)
        ttl = route.ttl or next((gateway.ttl for gateway in by if gateway.ttl), 0)
        if targets:
            place = f"{route.namespace}/{route.name}"
            age = (route.created, place, route.kind)
            yield name, AClaim(age, f"{route.kind.lower()}/{place}", _reduced(targets), ttl)


def _targets(gateway: AGateway) -> set[str]:
    """The annotation comes before the addresses."""
    return {gateway.target} if gateway.target else set(gateway.addresses)


def _names(gateway: AGateway, parent: AParent, route: ARoute) -> Iterable[str]:
    """What the hostnames of a Route come to at the listeners of one parent."""
    last = {listener.name: listener for listener in gateway.listeners}
    for listener in gateway.listeners:
        if parent.section and last.get(parent.section) is not listener:
            continue
        if parent.port and parent.port != listener.port:
            continue
        if listener.protocol not in PROTOCOLS[route.kind]:
            continue
        if listener.takes == "None" or (listener.takes == "Same" and gateway.namespace != route.namespace):
            continue
        for host in _hostnames(route):
            yield from _meet(listener.hostname, host)


def _hostnames(route: ARoute) -> list[str]:
    """What a Route asks for, with "" for whatever the listener says."""
    in_spec = list(route.hostnames) if route.kind != "TCPRoute" else []
    if route.source == "annotation-only":
        return list(route.annotated)
    if route.source == "defined-hosts-only":
        return in_spec
    return [*(in_spec or [""]), *route.annotated]


def _meet(one: str, other: str) -> list[str]:
    if not one or not other:
        return [one or other] if one or other else []
    if one == other:
        return [one]
    for wide, narrow in ((one, other), (other, one)):
        if wide.startswith("*.") and narrow.endswith(wide[1:]):
            return [narrow]
    return []


def _reduced(targets: Iterable[str]) -> frozenset[str]:
    """No CNAME beside addresses, and one target to a CNAME."""
    addresses = {target for target in targets if _type(target) != "CNAME"}
    return frozenset(addresses or {min(targets)})


def _type(target: str) -> str:
    try:
        return "A" if ip_address(target).version == 4 else "AAAA"
    except ValueError:
        return "CNAME"


def _settled(name: str, claims: list[AClaim], conflict: str) -> Records:
    """One name, with its claims from the oldest to the youngest."""
    oldest = claims[0]
    agreeing = [claim for claim in claims if claim.targets == oldest.targets]
    if len(agreeing) == len(claims) or conflict == "oldest":
        return _of(name, agreeing, oldest.targets)
    if conflict == "refuse":
        return {}
    with_addresses = [claim for claim in claims if all(_type(target) != "CNAME" for target in claim.targets)]
    if not with_addresses:
        return _of(name, agreeing, oldest.targets)
    union: frozenset[str] = frozenset().union(*(claim.targets for claim in with_addresses))
    found: Records = {}
    for type_ in {_type(target) for target in union}:
        # A claim that has only the other family gives its TTL to this one too: a name has one TTL.
        found.update(_of(name, with_addresses, frozenset(target for target in union if _type(target) == type_)))
    return found


def _of(name: str, claims: list[AClaim], targets: frozenset[str]) -> Records:
    ttl = next((claim.ttl for claim in claims if claim.ttl), 0)
    return {
        (name, type_): (tuple(sorted(t for t in targets if _type(t) == type_)), ttl, claims[0].resource)
        for type_ in {_type(target) for target in targets}
    }
