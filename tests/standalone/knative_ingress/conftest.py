"""One `gatepost up` for all scenarios of a run, and what a scenario gets of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gatepost.standalone.dataplane.traefik import find_traefik
from gatepost.standalone.errors import MissingBinaryError
from knative_ingress.clients import Gateway
from knative_ingress.cluster import NAMESPACE, Cluster
from published_crds import assert_valid

START_SECONDS = 60.0
IS_FULL = os.environ.get("GATEPOST_CONFORMANCE") == "full"

_outcomes: dict[str, str] = {}


@pytest.fixture(scope="session")
def standalone() -> Iterator[dict[str, str]]:
    """The addresses of a running `gatepost up`."""
    try:
        find_traefik()
    except MissingBinaryError as error:
        pytest.skip(str(error))
    with tempfile.TemporaryDirectory(prefix="gatepost-conformance-") as folder:
        ready = Path(folder, "ready.json")
        command = [sys.executable, "-m", "gatepost", "up", "--quiet", "--ready-file", str(ready)]
        process = subprocess.Popen([*command, "--kubeconfig", str(Path(folder, "kubeconfig"))])
        try:
            _wait_for(ready, process)
            yield json.loads(ready.read_text())
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


def _wait_for(ready: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not ready.exists():
        assert process.poll() is None, "gatepost up ended; it has said why on stderr"
        assert time.monotonic() < deadline, "gatepost up did not get ready"
        time.sleep(0.05)  # a file cannot be waited for


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session:
        yield session


@pytest.fixture
async def cluster(standalone: dict[str, str], http: aiohttp.ClientSession) -> AsyncIterator[Cluster]:
    """A hand on the cluster. At the end of a scenario all that gatepost wrote is checked as an API server would."""
    async with AsyncExitStack() as exits:
        cluster = Cluster(standalone, http, exits)
        await _make_namespace(cluster)
        yield cluster
        for raw in await _written(cluster):
            assert_valid(raw)


async def _make_namespace(cluster: Cluster) -> None:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    url = f"/api/v1/namespaces/{NAMESPACE}?fieldManager=conformance&force=true"
    await cluster.call("PATCH", url, body, "application/apply-patch+yaml")


async def _written(cluster: Cluster) -> list[dict[str, Any]]:
    kinds = ("HTTPRoute", "ReferenceGrant", "ListenerSet")
    found = [raw for kind in kinds for raw in await cluster.list(kind)]
    return found + await cluster.list("Gateway", "gatepost-system")


@pytest.fixture
def gateway(standalone: dict[str, str], http: aiohttp.ClientSession) -> Gateway:
    """The gateway as seen from outside."""
    return Gateway(standalone["http"], http)


@pytest.fixture
def tls_gateway(standalone: dict[str, str], http: aiohttp.ClientSession) -> Gateway:
    return Gateway(standalone["https"], http)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Notes the outcome of each scenario under the name that it has in Knative's suite."""
    name = dict(report.user_properties).get("scenario")
    if isinstance(name, str) and (report.failed or report.when == "call" or report.skipped):
        _outcomes[name] = "skip" if report.skipped else "FAIL" if report.failed else _outcomes.get(name, "pass")


@pytest.fixture(autouse=True)
def _named(request: pytest.FixtureRequest, record_property: Any) -> None:
    marker = request.node.get_closest_marker("scenario")
    if marker is not None:
        record_property("scenario", marker.args[0])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not IS_FULL:
        return
    terminalreporter.section("Knative ingress scenarios")
    for name, outcome in sorted(_outcomes.items()):
        terminalreporter.write_line(f"{outcome}  {name}")
    passed = sum(outcome == "pass" for outcome in _outcomes.values())
    terminalreporter.write_line(f"{passed} of {len(_outcomes)} pass")
