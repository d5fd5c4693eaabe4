"""Real DNS servers as fixtures, for test modules that say `pytest_plugins = ("dns_fixtures",)`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dns_servers import DnsServer, needs, running


@pytest.fixture(params=["bind", "knot"])
def server(request: pytest.FixtureRequest) -> Iterator[DnsServer]:
    """A server that takes updates for example.com, fresh for each test: BIND and Knot in turn."""
    needs(request.param)
    with running(request.param) as started:
        yield started


@pytest.fixture
def bind() -> Iterator[DnsServer]:
    needs("bind")
    with running("bind") as started:
        yield started


@pytest.fixture
def pdns() -> Iterator[DnsServer]:
    needs("pdns")
    with running("pdns") as started:
        yield started
