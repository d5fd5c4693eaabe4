"""`gatepost webhook` as a process, asked by hand and by `gatepost plan`."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from gatepost.cli.commands import gatepost

PROGRAM = [sys.executable, "-c", "from gatepost.cli import main; main()", "webhook"]
IN_MEMORY = ["--provider", "inmemory", "--inmemory-zone", "example.com"]
TYPE = "application/external.dns.webhook+json;version=1"
ENDPOINT = """
apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSEndpoint
metadata: {name: mail, namespace: infra}
spec:
  endpoints:
    - {dnsName: mail.example.com, recordType: A, targets: [192.0.2.25]}
    - {dnsName: mail.example.org, recordType: A, targets: [192.0.2.25]}
"""


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """The command in a process of its own. Yields: its URL. At the end it is asked to stop, and has to obey."""
    command = [*PROGRAM, "--listen", "127.0.0.1:0", "--metrics-address", "0", *IN_MEMORY, *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            found = re.search(r"http://127\.0\.0\.1:\d+", process.stderr.readline())
            assert found is not None
            yield found.group()
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
        finally:
            process.kill()


def get(url: str) -> tuple[str, bytes]:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.headers["Content-Type"], answer.read()


def test_the_command_serves_until_it_is_asked_to_stop() -> None:
    with serving() as url:
        assert get(url) == (TYPE, b'{"include":["example.com"]}')
        assert get(f"{url}/healthz")[1] == b"ok\n"


def test_filters_narrow_what_is_served() -> None:
    with serving("--domain-filter", "a.example.com", "--exclude-domains", "b.a.example.com") as url:
        assert get(url)[1] == b'{"include":["a.example.com"],"exclude":["b.a.example.com"]}'


def test_a_plan_over_a_webhook_lists_its_records_and_keeps_to_its_domains(tmp_path: Path) -> None:
    (tmp_path / "mail.yaml").write_text(ENDPOINT)
    with serving() as url:
        record = {"dnsName": "old.example.com", "recordType": "A", "targets": ["192.0.2.9"]}
        text = '"heritage=external-dns,external-dns/owner=me,external-dns/resource=crd/infra/old"'
        ownership = {"dnsName": "a-old.example.com", "recordType": "TXT", "targets": [text]}
        body = json.dumps({"create": [record, ownership]}).encode()
        request = urllib.request.Request(f"{url}/records", body, {"Content-Type": TYPE}, method="POST")
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status == 204
        arguments = ["plan", "--source", "crd", "--txt-owner-id", "me", "--provider", "webhook"]
        result = CliRunner().invoke(
            gatepost, [*arguments, "--webhook-provider-url", url, "-o", "json", str(tmp_path / "mail.yaml")]
        )
        assert b"mail" not in get(f"{url}/records")[1]
    assert result.exit_code == 4
    changes = [
        (change["action"], (change["new"] or change["old"])["dnsName"])
        for change in json.loads(result.stdout)["changes"]
    ]
    assert changes == [("create", "mail.example.com"), ("delete", "old.example.com")]


def test_metrics_and_health_are_served_on_an_address_of_their_own() -> None:
    command = [*PROGRAM, "--listen", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0", *IN_MEMORY]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            protocol, status = (process.stderr.readline().split()[-1] for _ in range(2))
            get(f"{protocol}/records")
            assert get(f"{status}/healthz")[1] == b"ok\n"
            assert (
                b'gatepost_webhook_answers_total{call="GET /records",status="200"} 1.0\n' in get(f"{status}/metrics")[1]
            )
            with pytest.raises(urllib.error.HTTPError, match="404"):
                get(f"{status}/records")
        finally:
            process.kill()


@pytest.mark.parametrize(("flag", "other"), [("--listen", "--metrics-address"), ("--metrics-address", "--listen")])
def test_an_address_that_is_taken_is_exit_code_3_and_its_flag_is_named(flag: str, other: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        result = subprocess.run(
            [*PROGRAM, flag, address, other, "127.0.0.1:0", *IN_MEMORY],
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert result.returncode == 3
    assert result.stderr == f"gatepost webhook: {flag} {address}: Address already in use\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Missing option '--provider'"),
        (("--provider", "route53"), "--provider: found 'route53', wanted one of"),
        (("--provider", "inmemory"), "--inmemory-zone: none was given"),
        ((*IN_MEMORY, "--listen", "8888"), "found '8888', wanted HOST:PORT like 127.0.0.1:8888"),
        ((*IN_MEMORY, "--metrics-address", "8080"), "found '8080', wanted HOST:PORT like 127.0.0.1:8888"),
        ((*IN_MEMORY, "--regex-domain-filter", "("), "--regex-domain-filter: found '('"),
    ],
)
def test_wrong_use_is_exit_code_2(arguments: tuple[str, ...], told: str) -> None:
    result = CliRunner().invoke(gatepost, ["webhook", *arguments])
    assert (result.exit_code, told in result.stderr) == (2, True), result.stderr
