"""A way to the cluster that is not, or wrongly, described: every command says so in the same words and ends with 2."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gatepost.cli.commands import gatepost

DNS = ("--source", "gateway-httproute", "--provider", "inmemory", "--inmemory-zone", "example.com")
COMMANDS = {
    "run": ("run", "--controllers", "none", "--txt-owner-id", "me", *DNS),
    "plan": ("plan", "--txt-owner-id", "me", *DNS),
    "endpoints": ("endpoints", "--source", "gateway-httproute"),
    "render": ("render",),
    "explain": ("explain", "app.example.com"),
    "migrate": ("migrate", "services"),
}
UNUSABLE = """\
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1", certificate-authority-data: bm8gUEVN}}]
users: [{name: u}]
contexts: [{name: k, context: {cluster: c, user: u}}]
current-context: k
"""


def ended(command: str, content: str | None, folder: Path) -> Result:
    kubeconfig = folder / "config"
    if content is not None:
        kubeconfig.write_text(content)
    return CliRunner(env={"KUBECONFIG": ""}).invoke(gatepost, [*COMMANDS[command], "--kubeconfig", str(kubeconfig)])


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "--kubeconfig names a file that does not exist"),
        ("clusters: [", "is no YAML"),
        ("kind: Config\n", "current-context: names no context"),
    ],
    ids=["no file", "no YAML", "no context"],
)
def test_it_is_wrong_use(command: str, content: str | None, message: str, tmp_path: Path) -> None:
    result = ended(command, content, tmp_path)
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


# `gatepost run` goes on trying: the files of a kubeconfig may be replaced at any time.
@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"run"}))
def test_so_is_a_certificate_that_is_none(command: str, tmp_path: Path) -> None:
    result = ended(command, UNUSABLE, tmp_path)
    assert result.exit_code == 2
    assert "certificate-authority: holds no usable PEM certificate" in result.stderr
