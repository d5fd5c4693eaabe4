"""What an HTTPRoute can hold: what is too long is divided, what cannot be said at all is told.

A route that the API would refuse is never made. Source: HTTPRoute of Gateway API, schema and CEL rules.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import UNSET, structs

from gatepost.objects.networking import KIngress, KIngressPath
from gatepost.objects.problems import Problem
from gatepost.reconcilers.gateway.problems import NOT_EXPRESSIBLE, TOO_LARGE, CannotServe
from gatepost.reconcilers.gateway.wishes import RouteWish

# Each path takes two rules of 16: one for probes, one for everybody.
PATHS_PER_ROUTE = 8
HOSTNAMES_PER_ROUTE = 16
HEADERS_PER_MATCH = 16
HEADERS_PER_FILTER = 16
BACKENDS_PER_RULE = 16
NAME_LENGTH = 253
LABEL_LENGTH = 63
HIGHEST_PORT = 65535
HIGHEST_WEIGHT = 1_000_000

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
_PATH = re.compile(r"/(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})*")
_PATH_TABOOS = ("//", "/./", "/../", "%2f", "%2F")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+\-.^_`|~]+")
_LONGEST_PATH = 1024
_LONGEST_HEADER_NAME = 256
_LONGEST_HEADER_VALUE = 4096


def check_rule(kingress: KIngress, index: int, hosts: Iterable[str], paths: Iterable[KIngressPath]) -> None:
    """Raises: CannotServe for what a HTTPRoute cannot say, and for a path that is too large for one.

    A host in capitals is refused as well. It could be written in small letters, but whatever asks for it under its
    own spelling (spec.tls, probes, the owner of the KIngress) would not find it; Knative itself makes no such host.
    Args:
        index: of the rule.
        hosts: of the rule.
        paths: as they shall be served.
    """
    for host in hosts:
        if not is_hostname(host):
            raise _not_expressible(kingress, index, "hosts", host, "a DNS name in small letters, or *. and one")
    for path in paths:
        _check_size(kingress, index, path)
        for field, found, wanted in _unsayable(path):
            raise _not_expressible(kingress, index, f"http.paths[].{field}", found, wanted)


def within_limits(wish: RouteWish) -> list[RouteWish]:
    """The same wish as HTTPRoutes that the API takes: long lists of hosts or paths are divided, in order.

    A Gateway merges the rules of all routes for one host, the most specific first, and of equals the one whose route
    is older or first by name, so dividing changes nothing.
    """
    room = PATHS_PER_ROUTE - 1 if wish.redirects else PATHS_PER_ROUTE
    return [
        structs.replace(wish, hosts=hosts, paths=paths)
        for hosts in _chunks(wish.hosts, HOSTNAMES_PER_ROUTE)
        for paths in _chunks(wish.paths, room) or [()]
    ]


def is_hostname(host: str) -> bool:
    """Whether Gateway API takes a host: a DNS name in small letters, perhaps with a wildcard as its first label."""
    return len(host) <= NAME_LENGTH and is_object_name(host.removeprefix("*."))


def is_object_name(name: str) -> bool:
    """Whether the API takes a name for an object of most kinds, which is also what it takes for one exact host."""
    return len(name) <= NAME_LENGTH and _NAME.fullmatch(name) is not None


def is_namespace(name: str) -> bool:
    return len(name) <= LABEL_LENGTH and "." not in name and is_object_name(name)


def is_label_value(text: str) -> bool:
    return len(text) <= LABEL_LENGTH and _LABEL_VALUE.fullmatch(text) is not None


def with_distinct_names(wishes: Iterable[RouteWish]) -> list[RouteWish]:
    """The second wish of a name gets it with `-02`, and so on: two rules can share a host."""
    seen: Counter[str] = Counter()
    distinct = []
    for wish in wishes:
        seen[wish.name] += 1
        number = seen[wish.name]
        distinct.append(wish if number == 1 else structs.replace(wish, name=suffixed(wish.name, f"-{number:02}")))
    return distinct


def route_name(hosts: Iterable[str]) -> str:
    """The last of the hosts in byte order, which for the names of a Service is its full one.

    A wildcard is no object name: it becomes a name of its own, that no host has.
    Source: net-gateway-api calls this the longest host, which it is not.
    """
    last = max(hosts)
    if not last.startswith("*."):
        return last
    start = f"wildcard-{_digest(last)}."
    return start + last.removeprefix("*.")[len(start) - NAME_LENGTH :].lstrip(".-")


def suffixed(name: str, suffix: str) -> str:
    """The name of a route beside another; what is too long is cut, and told apart by a hash."""
    if len(name) + len(suffix) <= NAME_LENGTH:
        return name + suffix
    return _cut(name, NAME_LENGTH - len(suffix)) + suffix


def label_value(name: str) -> str:
    """The name of an object as the value of a label. That of a domain can be longer than a label may be."""
    return name if len(name) <= LABEL_LENGTH else _cut(name, LABEL_LENGTH)


def _cut(name: str, length: int) -> str:
    return f"{name[: length - 9].rstrip('.-')}-{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _check_size(kingress: KIngress, index: int, path: KIngressPath) -> None:
    most_of_a_split = max((len(split.append_headers) for split in path.splits), default=0)
    counts = (
        ("headers", len(path.headers), HEADERS_PER_MATCH, "the header of probes"),
        ("appendHeaders", len(path.append_headers), HEADERS_PER_FILTER, "the header of probes"),
        ("splits", len(path.splits), BACKENDS_PER_RULE, ""),
        ("splits[].appendHeaders", most_of_a_split, HEADERS_PER_FILTER, ""),
    )
    for field, count, limit, besides in counts:
        room = limit - 1 if besides else limit
        if count > room:
            why = f"an HTTPRoute takes {limit}, {besides} among them" if besides else "which is what an HTTPRoute takes"
            raise CannotServe(
                Problem(
                    TOO_LARGE,
                    f'found {count} entries at path "{path.path or "/"}"; wanted at most {room}: {why}.',
                    kingress.ref,
                    f"spec.rules[{index}].http.paths[].{field}",
                )
            )


def _unsayable(path: KIngressPath) -> Iterator[tuple[str, str, str]]:
    """Field, what was found and what is wanted, for all that a HTTPRoute has no words for."""
    prefix = path.path or "/"
    is_plain = not any(taboo in prefix for taboo in _PATH_TABOOS) and not prefix.endswith(("/.", "/.."))
    if len(prefix) > _LONGEST_PATH or not _PATH.fullmatch(prefix) or not is_plain:
        yield "path", prefix, "a path that begins with / and has no //, /./, /../, %2f or odd characters"
    if path.rewrite_host and not is_object_name(path.rewrite_host):
        yield "rewriteHost", path.rewrite_host, "a DNS name in small letters"
    yield from _bad_headers("headers", {name: match.exact for name, match in path.headers.items()})
    yield from _bad_headers("appendHeaders", path.append_headers)
    for split in path.splits:
        yield from _bad_headers("splits[].appendHeaders", split.append_headers)
        if not 1 <= len(split.service_name) <= NAME_LENGTH:
            yield "splits[].serviceName", split.service_name, "the name of a Service"
        if not (isinstance(split.service_port, int) and 1 <= split.service_port <= HIGHEST_PORT):
            yield "splits[].servicePort", str(split.service_port), f"a port from 1 to {HIGHEST_PORT}"
        if split.percent is not UNSET and not 0 <= split.percent <= HIGHEST_WEIGHT:
            yield "splits[].percent", str(split.percent), "a share from 0 to 100"


def _bad_headers(field: str, headers: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name, value in sorted(headers.items()):
        if len(name) > _LONGEST_HEADER_NAME or not _HEADER_NAME.fullmatch(name):
            yield field, name, "the name of a header"
        if not 1 <= len(value) <= _LONGEST_HEADER_VALUE:
            yield f"{field}[{name}]", value[:40], f"a value of 1 to {_LONGEST_HEADER_VALUE} characters"


def _not_expressible(kingress: KIngress, index: int, field: str, found: str, wanted: str) -> CannotServe:
    message = f"found {found!r}, which a HTTPRoute cannot say; wanted {wanted}."
    return CannotServe(Problem(NOT_EXPRESSIBLE, message, kingress.ref, f"spec.rules[{index}].{field}"))


def _chunks(items: tuple[Any, ...], size: int) -> list[tuple[Any, ...]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
