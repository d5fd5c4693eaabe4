"""The bench measures real work: it checks itself, so a small run of it is a test."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
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
