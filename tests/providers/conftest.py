"""Real DNS servers as fixtures; `dns_servers` is importable however pytest imports tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_HERE = Path(__file__).parent

if str(_HERE) not in sys.path:
    sys.path.append(str(_HERE))

from dns_servers import DnsServer, needs, running  # noqa: E402


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
