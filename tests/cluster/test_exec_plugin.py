"""Credential plugins, run for real as child processes, and what the client does with what they say."""

from __future__ import annotations

import json
import stat
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from scripted import answer, scripted_cluster, status

from gatepost.cluster.client import Client
from gatepost.cluster.connection import Connection, Server
from gatepost.cluster.errors import CredentialError
from gatepost.cluster.exec_plugin import ExecPlugin, ExecSettings, cluster_info

V1 = "client.authentication.k8s.io/v1"
V1BETA1 = "client.authentication.k8s.io/v1beta1"
START = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)

PLUGIN = """#!{python}
import json, os, pathlib, sys
count = pathlib.Path({count!r})
number = int(count.read_text()) + 1 if count.exists() else 1
count.write_text(str(number))
pathlib.Path({asked!r}).write_text(os.environ["KUBERNETES_EXEC_INFO"])
status = json.loads(os.environ.get("PLUGIN_STATUS", "{{}}"))
status.setdefault("token", f"token-{{number}}")
print(json.dumps({{"apiVersion": os.environ["PLUGIN_VERSION"], "kind": "ExecCredential", "status": status}}))
"""


class Plugin:
    """A plugin program in a folder, which counts its runs and gives token-1, token-2, ..."""

    def __init__(self, folder: Path) -> None:
        self.count = folder / "count"
        self.asked = folder / "asked"
        self.program = folder / "plugin"
        self.now = START
        self.program.write_text(PLUGIN.format(python=sys.executable, count=str(self.count), asked=str(self.asked)))
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)

    @property
    def runs(self) -> int:
        return int(self.count.read_text())

    def credentials(self, version: str = V1, status: dict[str, Any] | None = None, **settings: Any) -> ExecPlugin:
        env = (("PLUGIN_VERSION", version), ("PLUGIN_STATUS", json.dumps(status or {})))
        made = ExecSettings("jane", version, str(self.program), env=env, interactive_mode="Never", **settings)
        return ExecPlugin(made, now=lambda: self.now)


@pytest.mark.parametrize("version", [V1, V1BETA1])
async def test_a_plugin_runs_once_while_its_token_holds(tmp_path: Path, version: str) -> None:
    plugin = Plugin(tmp_path)
    credentials = plugin.credentials(version)
    assert (await credentials.identity()).authorization == "Bearer token-1"
    assert (await credentials.identity()).authorization == "Bearer token-1"
    assert plugin.runs == 1


async def test_a_plugin_runs_again_when_its_token_has_expired(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path)
    credentials = plugin.credentials(status={"expirationTimestamp": "2026-03-01T12:00:04Z"})
    await credentials.identity()
    plugin.now = START + timedelta(seconds=3)
    assert (await credentials.identity()).authorization == "Bearer token-1"
    plugin.now = START + timedelta(seconds=4)
    assert (await credentials.identity()).authorization == "Bearer token-2"


async def test_a_plugin_runs_again_when_the_server_refuses_its_token(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path)
    async with scripted_cluster() as cluster:
        cluster.on("GET", "/version", status(401, "Unauthorized"), answer({"ok": True}))
        connection = Connection(Server(cluster.url), plugin.credentials())
        async with Client(connection) as client:
            assert json.loads(await client.read("/version")) == {"ok": True}
        assert [seen.headers["Authorization"] for seen in cluster.seen] == ["Bearer token-1", "Bearer token-2"]


async def test_a_second_refusal_is_an_error_that_says_who_refused(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path)
    async with scripted_cluster() as cluster:
        cluster.on("GET", "/version", status(401, "Unauthorized", "who are you"))
        async with Client(Connection(Server(cluster.url), plugin.credentials())) as client:
            with pytest.raises(CredentialError, match=r"does not accept the credentials \(who are you\)"):
                await client.read("/version")
        assert len(cluster.seen) == 2


async def test_requests_that_are_refused_together_run_the_plugin_once(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path)
    credentials = plugin.credentials()
    refused = await credentials.identity()
    first = await credentials.renewed(refused)
    second = await credentials.renewed(refused)
    assert first == second
    assert plugin.runs == 2


async def test_a_plugin_is_told_the_cluster_only_if_it_asks(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path)
    await plugin.credentials().identity()
    assert json.loads(plugin.asked.read_text()) == {
        "apiVersion": V1,
        "kind": "ExecCredential",
        "spec": {"interactive": False},
    }
    await plugin.credentials(cluster=cluster_info("https://one", b"CA", "name", "", insecure=False)).identity()
    assert json.loads(plugin.asked.read_text())["spec"]["cluster"] == {
        "server": "https://one",
        "certificate-authority-data": "Q0E=",
        "tls-server-name": "name",
    }


async def test_client_certificates_of_a_plugin_are_used(tmp_path: Path) -> None:
    pair = {"clientCertificateData": "CERT", "clientKeyData": "KEY", "token": ""}
    identity = await Plugin(tmp_path).credentials(status=pair).identity()
    assert identity.authorization == ""
    assert identity.certificate is not None
    assert (identity.certificate.certificate, identity.certificate.key) == (b"CERT", b"KEY")


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["/nowhere/plugin"], r"'/nowhere/plugin' cannot be started: No such file or directory\. Install it\."),
        ([sys.executable, "-c", "import sys; sys.exit('log in first')"], r"ended with exit code 1: log in first"),
        ([sys.executable, "-c", "print('secret-token')"], r"its output is no ExecCredential in JSON"),
        ([sys.executable, "-c", "print('{}')"], r"it answered with no kind without apiVersion, the kubeconfig wants"),
    ],
)
async def test_a_plugin_that_fails_is_named_with_its_user_and_no_secret(command: list[str], says: str) -> None:
    settings = ExecSettings("jane", V1, command[0], tuple(command[1:]), install_hint="Install it.")
    with pytest.raises(CredentialError, match=says) as caught:
        await ExecPlugin(settings).identity()
    assert str(caught.value).startswith("exec plugin of user 'jane': ")
    assert "secret-token" not in str(caught.value)


async def test_a_plugin_that_needs_a_terminal_is_not_run_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    settings = ExecSettings("jane", V1, "true", interactive_mode="Always")
    with pytest.raises(CredentialError, match="interactiveMode is Always, but standard input is no terminal"):
        await ExecPlugin(settings).identity()
