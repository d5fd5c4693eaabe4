"""What an existing Deployment of external-dns carries and gatepost does not have is told with a way to go on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gatepost.cli.commands import gatepost
from gatepost.cli.external_dns_flags import _FLAGS
from gatepost.cli.run import command

NO_CLUSTER = ("--kubeconfig", "/no/such/kubeconfig")


def run(*arguments: str, **environment: str) -> Result:
    result = CliRunner(env=dict(environment)).invoke(gatepost, ["run", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.mark.parametrize(
    ("flag", "told"),
    [
        ("--google-project=x", "only by --provider webhook or octodns"),
        ("--aws-sd-service-cleanup", "only by --provider webhook or octodns"),
        ("--aws-batch-change-size-values=10", "docs/dns-providers.md"),
        ("--zone-name-filter=example.com", "external-dns reads it for Azure alone"),
        ("--zone-name-filter=example.com", "--domain-filter narrows the zones of every provider"),
        ("--aws-zone-match-parent", "are in reach always"),
        ("--cloudflare-custom-hostnames", "sets neither custom hostnames nor regions"),
        ("--cloudflare-region-key=eu", "sets neither custom hostnames nor regions"),
        ("--rfc2136-gss-tsig", "gatepost does not do GSS-TSIG"),
        ("--rfc2136-kerberos-realm=EXAMPLE.COM", "give it a TSIG key by --rfc2136-tsig-keyname"),
        ("--publish-internal-services", "a source that gatepost does not read"),
        ("--no-publish-internal-services", "a source that gatepost does not read"),
        ("--crd-source-kind=DNSEndpoint", "external-dns does not read it either"),
        ("--webhook-server", "`gatepost webhook`"),
        ("--request-timeout=30s", "--kube-api-request-timeout"),
    ],
)
def test_a_flag_that_only_external_dns_has_is_wrong_use_with_a_way_to_go_on(flag: str, told: str) -> None:
    result = run(flag)
    assert result.exit_code == 2
    assert f"No such option '{flag.partition('=')[0]}': " in result.stderr
    assert told in result.stderr


def test_a_flag_that_nobody_has_is_told_with_the_nearest() -> None:
    result = run("--txt-owner", "me")
    assert (result.exit_code, "--txt-owner-id" in result.stderr) == (2, True)


@pytest.mark.parametrize("source", ["ingress", "service", "istio-gateway"])
def test_a_source_of_external_dns_is_told_as_such(source: str) -> None:
    result = run("--source", source, "--provider", "inmemory", "--inmemory-zone", "example.com")
    assert result.exit_code == 2
    assert (
        f"--source: found {source!r}, which only external-dns reads, wanted one of gateway-httproute" in result.stderr
    )


def test_a_source_that_nobody_has_is_not() -> None:
    result = run("--source", "gateway-httproutes", "--provider", "inmemory")
    assert "--source: found 'gateway-httproutes', wanted one of" in result.stderr


def test_a_provider_of_external_dns_is_told_with_what_reaches_it() -> None:
    result = run("--source", "crd", "--provider", "google")
    assert result.exit_code == 2
    assert "--provider: found 'google', wanted one of inmemory" in result.stderr
    assert "webhook reaches every provider" in result.stderr


def test_a_provider_that_is_not_given_is_told_as_such() -> None:
    result = run("--source", "crd")
    assert (result.exit_code, "--provider: none was given, wanted one of inmemory" in result.stderr) == (2, True)


def test_a_key_of_external_dns_in_the_config_file_is_told_with_a_way_to_go_on(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("once: true\ngoogle-project: x\n")
    result = run("--config", str(config))
    assert result.exit_code == 2
    assert f"{config}:2: google-project: there is no such option: it belongs to a provider" in result.stderr


def test_variables_of_external_dns_are_told_not_to_count() -> None:
    result = run(*NO_CLUSTER, EXTERNAL_DNS_SOURCE="crd", GATEPOST_CONTROLLERS="none")
    line = "gatepost run: EXTERNAL_DNS_SOURCE: does not count; the variable that does is GATEPOST_SOURCE\n"
    assert line in result.stderr
    assert result.stderr.count("does not count") == 1


def test_no_flag_of_gatepost_is_told_to_be_missing_and_those_that_are_named_instead_are_there() -> None:
    ours = {name.removeprefix("--") for parameter in command.params for name in parameter.opts}
    assert ours.isdisjoint(_FLAGS)
    named = {flag for instead in _FLAGS.values() for flag in re.findall(r"--([a-z0-9-]+)", instead)}
    assert {"kube-api-request-timeout", "domain-filter", "txt-owner-id"} <= named <= ours
