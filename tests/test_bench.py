"""The bench measures real work: it checks itself, so a small run of it is a test."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from bench.dns_measure import measure_bind, measure_embedded
from bench.dns_world import is_there
from bench.measure import measure


@pytest.fixture(autouse=True)
def collector_as_it_was() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_a_small_bench_times_what_it_says() -> None:
    result = measure(200)
    assert (result.http_routes, result.domain_mappings) == (200, 10)
    assert result.endpoints > 300, "every second route has two names, some Gateways two families"
    assert result.route_hostname.runs_changed >= 2, "the claims of the Route and the record sets of its names"
    assert result.gateway_address.runs_changed > 40, "the Gateway, its 20 Routes and their names"
    assert result.mapped_route.runs_changed >= 1


async def test_a_small_bench_of_dns_times_what_it_says() -> None:
    result = await measure_embedded(20)
    assert (result.server, result.records) == ("embedded", 20)
    assert 0 < result.own_ms < result.p99_ms, "a change is not answered before it is sent"
    assert result.memory_mib > 10


async def test_a_change_is_one_small_message_to_a_server() -> None:
    if not is_there("bind"):
        pytest.skip("named is not installed (Debian package bind9)")
    result = await measure_bind(20)
    assert result.calls_per_change == 1
    assert 300 < result.octets_per_change < 1000
    assert 0 < result.own_ms < result.p99_ms
