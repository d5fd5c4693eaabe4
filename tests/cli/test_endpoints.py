"""`gatepost endpoints`: the flags from their one table, where they come from, and what is printed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import msgspec
import pytest
import yaml
from click.testing import CliRunner, Result

from gatepost.cli.commands import gatepost
from gatepost.cli.endpoints import command
from gatepost.dns.settings import DnsSettings
from gatepost.standalone.apiserver.server import ApiServer

INPUT = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: public, namespace: infra}
spec:
  gatewayClassName: any
  listeners:
    - {name: http, port: 80, protocol: HTTP, hostname: "*.example.com", allowedRoutes: {namespaces: {from: All}}}
status:
  addresses: [{type: IPAddress, value: 192.0.2.1}, {type: IPAddress, value: "2001:db8::1"}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: app, namespace: shop, annotations: {external-dns.kubernetes.io/aws-weight: "10"}}
spec:
  parentRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: public, namespace: infra}]
  hostnames: [app.example.com, app.example.org]
status:
  parents:
    - parentRef: {group: gateway.networking.k8s.io, kind: Gateway, name: public, namespace: infra}
      conditions: [{type: Accepted, status: "True"}]
"""
ROUTES = ("--source", "gateway-httproute")


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    path = tmp_path / "input.yaml"
    path.write_text(INPUT)
    return str(path)


def run(*arguments: str, **environment: str) -> Result:
    result = CliRunner(env=dict(environment)).invoke(gatepost, ["endpoints", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def types_printed(result: Result) -> list[str]:
    assert result.exit_code == 0, result.stderr
    return [endpoint["recordType"] for endpoint in json.loads(result.stdout)]


def test_json_is_a_list_of_whole_endpoints(manifest: str) -> None:
    printed = json.loads(run(*ROUTES, "--managed-record-types", "A", "-o", "json", manifest).stdout)
    assert printed == [
        {
            "dnsName": "app.example.com",
            "recordType": "A",
            "targets": ["192.0.2.1"],
            "labels": {"resource": "httproute/shop/app"},
            "providerSpecific": [{"name": "aws/weight", "value": "10"}],
        }
    ]


def test_yaml_prints_the_same_as_json(manifest: str) -> None:
    as_json = json.loads(run(*ROUTES, "-o", "json", manifest).stdout)
    assert list(yaml.safe_load_all(run(*ROUTES, "-o", "yaml", manifest).stdout)) == as_json


def test_table_has_a_line_for_each_endpoint(manifest: str) -> None:
    assert run(*ROUTES, manifest).stdout.splitlines() == [
        "NAME             TYPE  TARGETS      RESOURCE",
        "app.example.com  A     192.0.2.1    httproute/shop/app",
        "app.example.com  AAAA  2001:db8::1  httproute/shop/app",
    ]


def test_without_a_source_every_kind_of_route_is_read(manifest: str) -> None:
    assert run(manifest).stdout == run(*ROUTES, manifest).stdout


def test_what_was_left_out_is_counted_on_stderr_and_listed_on_request(manifest: str) -> None:
    assert run(*ROUTES, manifest).stderr == "left out: 1 NoMatchingListener; --skipped lists them\n"
    assert run(*ROUTES, "--skipped", manifest).stderr == (
        "HTTPRoute shop/app: spec.hostnames: hostname 'app.example.org' meets no listener of its parents"
        "  [NoMatchingListener]\n"
    )


def test_a_name_outside_the_domain_filter_is_told_with_the_filter(manifest: str) -> None:
    result = run(*ROUTES, "--domain-filter", "example.net", "--skipped", manifest)
    assert result.stdout == ""
    assert (
        "HTTPRoute shop/app: app.example.com: does not pass the domain filters: app.example.com is not in example.net"
        "  [OutOfReach]"
    ) in result.stderr.splitlines()


def test_a_gateway_that_cannot_be_read_is_told_as_such(tmp_path: Path) -> None:
    path = tmp_path / "input.yaml"
    path.write_text(INPUT.replace("port: 80", 'port: "80"'))
    result = run(*ROUTES, "--skipped", str(path))
    assert (result.exit_code, result.stdout) == (1, "")
    told = "Gateway infra/public: spec.listeners[0].port: cannot be read: Expected `int`, got `str`"
    assert result.stderr == f"{path}:8: {told}\n{told}  [UnreadableObject]\n"


def test_every_setting_has_a_flag_that_reaches_it() -> None:
    flags = {name for parameter in command.params for name in parameter.opts}
    for field in DnsSettings.__struct_fields__:
        flag = {"sources": "source"}.get(field, field.replace("_", "-"))
        assert f"--{flag}" in flags


def test_option_left_out_has_the_default_of_its_field() -> None:
    by_name = {parameter.name: parameter for parameter in command.params}
    for field in msgspec.structs.fields(DnsSettings):
        assert by_name[field.name].default == field.default


def test_flag_given_twice_counts_twice(manifest: str) -> None:
    given = run(*ROUTES, "--exclude-record-types", "A", "--exclude-record-types", "AAAA", "-o", "json", manifest)
    assert types_printed(given) == []


def test_setting_comes_from_the_environment_with_a_line_for_each_entry(manifest: str) -> None:
    given = run(
        "-o", "json", manifest, GATEPOST_SOURCE="gateway-httproute\n\n crd \n", GATEPOST_MANAGED_RECORD_TYPES="AAAA"
    )
    assert types_printed(given) == ["AAAA"]


def test_setting_comes_from_the_config_file(manifest: str, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("source: [gateway-httproute]\nmanaged-record-types: AAAA\nmin-ttl: 5m\nprefer-alias: false\n")
    printed = json.loads(run("--config", str(config), "-o", "json", manifest).stdout)
    assert [(endpoint["recordType"], endpoint["recordTTL"]) for endpoint in printed] == [("AAAA", 300)]


def test_flag_comes_before_environment_and_environment_before_config_file(manifest: str, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("source: gateway-httproute\nmin-ttl: 10\n")
    arguments = ("--config", str(config), "--managed-record-types", "A", "-o", "json", manifest)
    for more, environment, wanted in (
        ((), {}, 10),
        ((), {"GATEPOST_MIN_TTL": "20"}, 20),
        (("--min-ttl", "30"), {"GATEPOST_MIN_TTL": "20"}, 30),
    ):
        (endpoint,) = json.loads(run(*arguments, *more, **environment).stdout)
        assert endpoint["recordTTL"] == wanted


def test_key_of_another_command_may_stand_in_the_config_file(manifest: str, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("source: gateway-httproute\ncontrollers: gateway\n")
    assert run("--config", str(config), manifest).exit_code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sourse: crd\n", "config.yaml:1: sourse: there is no such option; did you mean 'source'?"),
        ("- source\n", "found list, wanted a mapping of options"),
        ("source: {a: b}\n", "source: found a dict, wanted a list of values"),
        ("namespace: [a, b]\n", "namespace: found a list, wanted one value"),
        ("# switches\ncreate-ptr: maybe\n", "config.yaml:2: create-ptr: found 'maybe', wanted true or false"),
        ("min-ttl: 5\n\nmin-ttl: 6\n", "config.yaml:3: min-ttl: is there twice, wanted once"),
        ("source: [", "is no YAML"),
        ("policy: sync\nmin-ttl: soon\n", "config.yaml:2: min-ttl: found 'soon', wanted seconds or a duration"),
    ],
)
def test_config_file_that_is_wrong_exits_with_2(text: str, message: str, manifest: str, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(text)
    result = run("--config", str(config), *ROUTES, manifest)
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--source", "ingress"), "--source: found 'ingress'"),
        ((*ROUTES, "--create-ptr"), "--create-ptr: needs PTR"),
        ((*ROUTES, "--nat64-networks", "2001:db8::/64"), "--nat64-networks: found '2001:db8::/64'"),
        ((*ROUTES, "--txt-prefix", "a", "--txt-suffix", "b"), "--txt-prefix and --txt-suffix"),
        ((*ROUTES, "--annotation-prefix", "example.com"), "--annotation-prefix: found 'example.com'"),
    ],
)
def test_settings_that_do_not_fit_exit_with_2(arguments: tuple[str, ...], message: str, manifest: str) -> None:
    result = run(*arguments, manifest)
    assert (result.exit_code, message in result.stderr, result.stdout) == (2, True, "")


def test_every_wrong_setting_is_told_at_once(manifest: str) -> None:
    result = run(*ROUTES, "--conflict", "newest", "--min-ttl", "-1", manifest)
    assert "--conflict" in result.stderr
    assert "--min-ttl" in result.stderr


async def test_without_file_the_cluster_is_read(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    record = {"dnsName": "mail.example.com", "recordType": "A", "targets": ["198.51.100.7"]}
    written = {
        "apiVersion": "externaldns.k8s.io/v1alpha1",
        "kind": "DNSEndpoint",
        "metadata": {"name": "by-hand", "namespace": "default"},
        "spec": {"endpoints": [record]},
    }
    async with ApiServer() as server:
        server.write_kubeconfig(kubeconfig)
        await server.apply(written, "test")
        result = await asyncio.to_thread(run, "--source", "crd", "--kubeconfig", str(kubeconfig), "-o", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == [
        {**record, "labels": {"resource": "crd/default/by-hand"}, "providerSpecific": []}
    ]


KNATIVE = """
apiVersion: serving.knative.dev/v1
kind: Route
metadata: {name: web, namespace: shop, generation: 1}
status:
  observedGeneration: 1
  url: http://web.shop.svc.corp.test
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: serving.knative.dev/v1beta1
kind: DomainMapping
metadata: {name: app.example.com, namespace: shop, generation: 1}
spec: {ref: {kind: Service, name: web}}
status: {observedGeneration: 1, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: config-gateway, namespace: settings-of-knative}
data: {external-gateways: "[{class: any, gateway: infra/public, supported-features: []}]"}
---
"""


@pytest.fixture
def knative(tmp_path: Path) -> tuple[str, ...]:
    path = tmp_path / "knative.yaml"
    path.write_text(KNATIVE + INPUT)
    return ("--source", "knative", "--managed-record-types", "A", "--skipped", str(path))


def test_cluster_domain_says_which_names_are_inside_the_cluster(knative: tuple[str, ...]) -> None:
    inside = "web.shop.svc.corp.test is a name inside the cluster"
    assert inside not in run(*knative).stderr
    assert inside in run("--cluster-domain", "corp.test", *knative).stderr
    assert inside in run(*knative, GATEPOST_CLUSTER_DOMAIN="corp.test").stderr


def test_system_namespace_says_where_the_gateways_of_knative_are_named(knative: tuple[str, ...]) -> None:
    assert types_printed(run(*knative, "-o", "json")) == []
    printed = json.loads(run("--system-namespace", "settings-of-knative", *knative, "-o", "json").stdout)
    assert {endpoint["dnsName"]: endpoint["targets"] for endpoint in printed}["app.example.com"] == ["192.0.2.1"]
