"""The flags of `gatepost run` for a real cluster: leader election, calls to the API, where metrics are served."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gatepost.cli.commands import gatepost
from gatepost.cli.run import command


def run(*arguments: str) -> Result:
    return CliRunner().invoke(gatepost, ["run", *arguments])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--kube-api-qps", "0"), "--kube-api-qps: found 0, wanted more than 0"),
        (("--kube-api-burst", "0"), "--kube-api-burst: found 0, wanted 1 or more"),
        (("--kube-api-request-timeout", "0s"), "--kube-api-request-timeout: found 0s, wanted more than 0"),
        (("--server", "10.0.0.1:6443"), "found '10.0.0.1:6443', wanted a URL such as https://10.0.0.1:6443"),
        (("--metrics-address", "7979"), "found '7979', wanted HOST:PORT like 127.0.0.1:8888"),
        (
            ("--leader-elect", "--leader-elect-lease-duration", "5s"),
            "--leader-elect-renew-deadline: found 10s, wanted less than the lease duration, 5s",
        ),
    ],
)
def test_wrong_settings_are_exit_code_2_and_named(arguments: tuple[str, ...], told: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, told in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize(
    ("text", "address"),
    [(":7979", ("", 7979)), ("127.0.0.1:0", ("127.0.0.1", 0)), ("[::1]:80", ("::1", 80)), ("0", None), ("", None)],
)
def test_metrics_are_served_at_a_host_and_port_at_all_addresses_or_nowhere(
    text: str, address: tuple[str, int] | None
) -> None:
    with command.make_context("run", ["--metrics-address", text]) as ctx:
        assert ctx.params["metrics_address"] == address


def test_metrics_are_served_where_external_dns_serves_them_unless_told_otherwise() -> None:
    with command.make_context("run", []) as ctx:
        assert ctx.params["metrics_address"] == ("", 7979)
        assert ctx.params["leader_elect"] is False


def test_a_config_file_may_switch_metrics_off_with_a_number(tmp_path: Path) -> None:
    (tmp_path / "gatepost.yaml").write_text("metrics-address: 0\nleader-elect: true\nleader-elect-lease-duration: 30\n")
    with command.make_context("run", ["--config", str(tmp_path / "gatepost.yaml")]) as ctx:
        assert ctx.params["metrics_address"] is None
        assert (ctx.params["leader_elect"], ctx.params["leader_elect_lease_duration"]) == (True, 30.0)


@pytest.mark.parametrize(
    "arguments",
    [("plan", "--source", "crd", "--current", "zone.txt"), ("endpoints",), ("render",), ("explain", "a.example.com")],
    ids=lambda arguments: str(arguments[0]),
)
def test_commands_that_read_a_cluster_ask_the_server_that_is_given(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zone.txt").write_text("")
    with socket.socket() as bound:  # and not listening: nobody answers there
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        environment = {"HOME": str(tmp_path), "KUBECONFIG": ""}
        server = ("--server", f"http://127.0.0.1:{port}")
        result = CliRunner(env=environment).invoke(gatepost, [*arguments, *server])
    assert result.exit_code == 3
    assert f"127.0.0.1:{port}" in result.stderr


def test_an_address_that_is_taken_is_exit_code_3_and_named(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(
        "{clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}], users: [{name: u}], "
        "contexts: [{name: k, context: {cluster: c, user: u}}], current-context: k}"
    )
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        result = run("--kubeconfig", str(kubeconfig), "--metrics-address", address)
    assert result.exit_code == 3
    assert f"gatepost run: --metrics-address {address}: Address already in use\n" in result.stderr
