"""Times one size of cluster: the first pass, then single changes."""

from __future__ import annotations

import gc
import resource
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from bench import objects
from gatepost.dns.claims import RECORD_SETS
from gatepost.dns.rules import rules as dns_rules
from gatepost.dns.settings import DnsSettings
from gatepost.objects.core import ConfigMap
from gatepost.objects.gatewayapi import Gateway, HTTPRoute
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.networking import ClusterDomainClaim, KIngress
from gatepost.objects.serving import DomainMapping, KnativeService, Route
from gatepost.runtime.wiring import reconcilers
from gatepost.state.engine import Change, Engine

PAGE = 500
CHANGES = 300
_TYPES: tuple[type[KubernetesObject], ...] = (
    ConfigMap,
    Gateway,
    HTTPRoute,
    KIngress,
    ClusterDomainClaim,
    DomainMapping,
    KnativeService,
    Route,
)
_decoders = {type_: msgspec.json.Decoder(type_) for type_ in _TYPES}
_MAPPED: tuple[type[KubernetesObject], ...] = (KnativeService, Route, KIngress, ClusterDomainClaim, DomainMapping)


class Timing(msgspec.Struct):
    """Milliseconds for one change, from the bytes of the event to the new values."""

    median_ms: float
    p99_ms: float
    runs_changed: float


class Result(msgspec.Struct):
    """What one size costs. The first pass goes from JSON bytes to endpoints (or outcomes), the list in pages."""

    http_routes: int
    domain_mappings: int
    endpoints: int
    dns_microseconds_per_route: float
    dns_bytes_per_route: float
    mapping_microseconds_each: float
    mapping_bytes_each: float
    route_hostname: Timing
    gateway_address: Timing
    mapped_route: Timing


def measure(size: int) -> Result:
    """Measures with `size` HTTPRoutes in this process, which should have done nothing before."""
    engine = new_engine()
    gc.disable()
    load(engine, ConfigMap, objects.settings())
    load(engine, Gateway, objects.gateways())
    before = resident_bytes()
    dns_seconds = sum(load(engine, HTTPRoute, page) for page in pages(map(objects.http_route, range(size))))
    dns_seconds += timed(engine.run_stale)[0]
    after_dns = resident_bytes()
    mappings = max(1, int(size * objects.MAPPINGS_PER_ROUTE))
    mapping_seconds = sum(load_mapping(engine, number) for number in range(mappings))
    mapping_seconds += timed(engine.run_stale)[0]
    after_all = resident_bytes()
    gc.enable()
    gc.collect()
    gc.freeze()
    check(engine, size, mappings)
    return Result(
        http_routes=size,
        domain_mappings=mappings,
        endpoints=sum(len(value.records) for _, value in engine.values(engine.rule(RECORD_SETS))),
        dns_microseconds_per_route=dns_seconds / size * 1e6,
        dns_bytes_per_route=(after_dns - before) / size,
        mapping_microseconds_each=mapping_seconds / mappings * 1e6,
        mapping_bytes_each=(after_all - after_dns) / mappings,
        route_hostname=time_changes(engine, HTTPRoute, (hostname_change(n, size) for n in range(CHANGES))),
        gateway_address=time_changes(
            engine, Gateway, (objects.gateway(0, f"198.51.100.{n % 250}") for n in range(CHANGES))
        ),
        mapped_route=time_changes(
            engine,
            KIngress,
            (objects.route_kingress(n * 7919 % mappings, 10 + n // mappings % 80) for n in range(CHANGES)),
        ),
    )


def new_engine() -> Engine:
    rules, indexes = dns_rules(DnsSettings(sources=("gateway-httproute",)))
    mapping = reconcilers(["domainmapping"])
    return Engine((*rules, *mapping.rules), (*indexes, *mapping.indexes), datetime(2026, 1, 1, tzinfo=UTC))


def load(engine: Engine, type_: type[KubernetesObject], texts: Iterable[bytes]) -> float:
    """Decodes and takes in objects. Returns: seconds, without the making of the bytes."""
    ready = list(texts)
    decode = _decoders[type_].decode
    started = time.perf_counter()
    for text in ready:
        engine.put(decode(text))
    return time.perf_counter() - started


def load_mapping(engine: Engine, number: int) -> float:
    texts = objects.mapped_service(number)
    return sum(load(engine, type_, [text]) for type_, text in zip(_MAPPED, texts, strict=True))


def pages(texts: Iterator[bytes]) -> Iterator[list[bytes]]:
    page: list[bytes] = []
    for text in texts:
        page.append(text)
        if len(page) == PAGE:
            yield page
            page = []
    yield page


def hostname_change(number: int, size: int) -> bytes:
    route = number * 7919 % size
    return objects.http_route(route, f"moved-{number}.g{objects.gateway_of(route)}.example.com")


def time_changes(engine: Engine, type_: type[KubernetesObject], texts: Iterable[bytes]) -> Timing:
    """Takes in one change after the other. Raises: AssertionError if one of them changes nothing."""
    seconds, changed = [], []
    for text in list(texts):
        taken, changes = timed(take_in, engine, type_, text)
        assert changes, "a change changed nothing: the bench measures the wrong thing"
        seconds.append(taken)
        changed.append(len(changes))
    quantiles = statistics.quantiles(seconds, n=100)
    return Timing(statistics.median(seconds) * 1e3, quantiles[98] * 1e3, statistics.mean(changed))


def take_in(engine: Engine, type_: type[KubernetesObject], text: bytes) -> list[Change]:
    engine.put(_decoders[type_].decode(text))
    return engine.run_stale()


def timed(action: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    started = time.perf_counter()
    result = action(*arguments)
    return time.perf_counter() - started, result


def check(engine: Engine, size: int, mappings: int) -> None:
    """What was timed must be the real work. Raises: AssertionError"""
    assert not engine.failures, next(iter(engine.failures.values()))
    names = sum(1 for _ in engine.values(engine.rule(RECORD_SETS)))
    assert names == size + size // 2, f"{names} names from {size} routes"
    outcomes = [outcome for _, outcome in engine.values(engine.rule("domainmapping"))]
    assert len(outcomes) == mappings
    kinds = {apply.fields["kind"] for outcome in outcomes for apply in outcome.applies}
    assert kinds == {"Ingress"}, f"each mapping wants its KIngress and nothing else, not {kinds}"


def resident_bytes() -> int:
    """Resident memory of this process now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
