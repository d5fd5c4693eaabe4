"""`gatepost explain`: exit codes, both forms of output, files and a cluster."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from gatepost.cli.cluster_input import warnings_in_cluster
from gatepost.cli.commands import gatepost
from gatepost.cluster.calls import Calls
from gatepost.cluster.client import Client
from gatepost.cluster.connection import Connection, Server
from gatepost.cluster.discovery import Discovery
from gatepost.cluster.recorder import EventRecorder
from gatepost.objects.refs import Ref
from gatepost.standalone.apiserver.server import ApiServer
from gatepost.standalone.ports import free_ports
from gatepost.writes.outcome import Event, Subject

GATEWAY = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: public, namespace: infra}
spec:
  gatewayClassName: any
  listeners:
    - {name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
"""
GATEWAY_STATUS = """
status:
  addresses: [{type: IPAddress, value: 192.0.2.1}]
"""
ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: app, namespace: shop}
spec:
  parentRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: public, namespace: infra}]
  hostnames: [app.example.com]
  rules: [{backendRefs: [{name: web, port: 80}]}]
"""
ROUTE_STATUS = """
status:
  parents:
    - parentRef: {group: gateway.networking.k8s.io, kind: Gateway, name: public, namespace: infra}
      controllerName: example.com/any
      conditions:
        - {type: Accepted, status: "True", reason: Accepted, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
"""
SETTINGS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: config-network, namespace: knative-serving}
data: {autocreate-cluster-domain-claims: "true"}
"""
MAPPING = """
apiVersion: serving.knative.dev/v1beta1
kind: DomainMapping
metadata: {name: shop.example.com, namespace: default}
spec:
  ref: {apiVersion: serving.knative.dev/v1, kind: Service, name: cart}
"""


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(gatepost, ["explain", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def manifests(tmp_path: Path) -> str:
    documents = (GATEWAY + GATEWAY_STATUS, ROUTE + ROUTE_STATUS, SETTINGS, MAPPING)
    (tmp_path / "all.yaml").write_text("---\n".join(documents))
    return str(tmp_path)


def test_served_name_exits_with_0(manifests: str) -> None:
    result = run("app.example.com", manifests)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("app.example.com: served\n")
    assert "/: 100 % to shop/web:80" in result.stdout


def test_unserved_name_exits_with_1_and_names_object_field_and_value(manifests: str) -> None:
    result = run("shop.example.com", manifests)
    assert result.exit_code == 1
    for text in ("DomainMapping default/shop.example.com", "spec.ref", '"cart"'):
        assert text in result.stdout


def test_unknown_name_exits_with_1_and_names_near_ones(manifests: str) -> None:
    result = run("apps.example.com", manifests)
    assert (result.exit_code, "app.example.com" in result.stdout) == (1, True)


LEAVING = """
apiVersion: serving.knative.dev/v1beta1
kind: DomainMapping
metadata:
  name: old.example.com
  namespace: shop
  deletionTimestamp: "2026-01-01T00:00:00Z"
  finalizers: [domainmappings.serving.knative.dev]
spec:
  ref: {apiVersion: v1, kind: Service, name: web}
---
apiVersion: serving.knative.dev/v1
kind: Route
metadata: {name: web, namespace: shop, uid: uid-of-web, deletionTimestamp: "2026-01-01T00:00:00Z"}
spec: {traffic: [{latestRevision: true, configurationName: web, percent: 100}]}
status: {url: http://web.shop.example.com}
---
apiVersion: networking.internal.knative.dev/v1alpha1
kind: Ingress
metadata:
  name: web
  namespace: shop
  ownerReferences: [{apiVersion: serving.knative.dev/v1, kind: Route, name: web, uid: uid-of-web, controller: true}]
spec: {rules: [{hosts: [tag-web.shop.example.com]}]}
"""


@pytest.fixture
def leaving(tmp_path: Path) -> str:
    (tmp_path / "leaving.yaml").write_text(LEAVING)
    return str(tmp_path / "leaving.yaml")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("old.example.com", "DomainMapping shop/old.example.com: metadata.deletionTimestamp: mentions old.example.com"),
        ("web.shop.example.com", "Route shop/web: metadata.deletionTimestamp: mentions web.shop.example.com"),
        ("tag-web.shop.example.com", "Ingress shop/web: metadata.ownerReferences: mentions tag-web.shop.example.com"),
    ],
)
def test_a_name_of_an_object_that_is_being_deleted_is_told_from_one_that_nothing_mentions(
    name: str, told: str, leaving: str
) -> None:
    result = run(name, leaving)
    assert (result.exit_code, told in result.stdout) == (1, True), result.stdout


def test_namespace_narrows_what_is_being_deleted(leaving: str) -> None:
    assert "no DomainMapping, Route," in run("old.example.com", "-n", "other", leaving).stdout


def test_an_object_that_is_being_deleted_is_told_from_one_that_never_was(leaving: str) -> None:
    result = run("dm/old.example.com", leaving)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[:2] == [
        "DomainMapping shop/old.example.com: does not exist",
        "  DomainMapping shop/old.example.com: metadata.deletionTimestamp: is being deleted and nothing keeps it, "
        "so it counts as gone",
    ]


def test_json_tells_why_an_object_is_gone(leaving: str) -> None:
    found = json.loads(run("route/web", "-o", "json", leaving).stdout)
    assert (found["exists"], found["gone"]["reason"]) == (False, "BeingDeleted")


def test_piped_text_has_no_colours(manifests: str) -> None:
    assert "\x1b" not in run("app.example.com", manifests).stdout


def test_terminal_gets_colours(manifests: str) -> None:
    terminal, end = os.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    arguments = [sys.executable, "-m", "gatepost", "explain", "app.example.com", manifests]
    with subprocess.Popen(arguments, stdout=end, stderr=subprocess.PIPE, env=environment) as process:
        os.close(end)  # now the command holds the only other end, and its exit ends the text
        text = all_shown_on(terminal)
        _, told = process.communicate()
    assert (process.returncode, told) == (0, b"")
    assert "\x1b[" in text
    assert "app.example.com: served" in text


def all_shown_on(terminal: int) -> str:
    """What is written to this terminal until nobody has it open; one read may give less than one write."""
    shown = b""
    with contextlib.suppress(OSError):  # EIO is how Linux says that the other end is closed
        while part := os.read(terminal, 65536):
            shown += part
    os.close(terminal)
    return shown.decode()


def test_same_input_gives_the_same_text(manifests: str) -> None:
    assert run("app.example.com", manifests).stdout == run("app.example.com", manifests).stdout


def test_json_prints_the_values(manifests: str) -> None:
    printed = json.loads(run("app.example.com", "-o", "json", manifests).stdout)
    assert (printed["name"], printed["verdict"]) == ("app.example.com", "served")
    route = printed["way"][0]
    assert route["about"] == {
        "group": "gateway.networking.k8s.io",
        "kind": "HTTPRoute",
        "namespace": "shop",
        "name": "app",
    }
    assert route["backends"] == [{"service": "shop/web:80", "percent": 100.0}]
    assert printed["dns"][0]["records"][0]["targets"] == ["192.0.2.1"]


def test_files_may_be_named_by_option_and_the_name_by_url(manifests: str) -> None:
    assert run("https://app.example.com:8443/cart?x=1", "-f", manifests).exit_code == 0
    assert run("app.example.com:8080", "-f", manifests).exit_code == 0


def test_one_object_is_explained_by_kind_and_name(manifests: str) -> None:
    result = run("dm/shop.example.com", "-n", "default", manifests)
    assert result.exit_code == 1
    assert "Rule domainmapping (stopped before its end)" in result.stdout
    assert run("httproute/app", manifests).exit_code == 0


def test_flag_of_the_dns_part_takes_part(manifests: str) -> None:
    result = run("app.example.com", "--domain-filter", "example.org", manifests)
    assert result.exit_code == 1
    assert "no record" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["not a name"], "wanted a hostname like app.example.com"),
        (["nothing/app"], "there is no kind 'nothing'"),
        (["app.example.com", "--conflict", "newest"], "--conflict: found 'newest'"),
    ],
)
def test_wrong_use_exits_with_2(arguments: list[str], message: str, manifests: str) -> None:
    result = run(*arguments, "-f", manifests)
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


def test_problems_of_the_input_are_told_and_exit_with_1(manifests: str) -> None:
    (Path(manifests) / "broken.yaml").write_text("kind: HTTPRoute\n")
    result = run("app.example.com", manifests)
    assert result.exit_code == 1
    assert "broken.yaml" in result.stderr
    assert result.stdout.startswith("app.example.com: served\n")


def test_cluster_that_does_not_answer_exits_with_3(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    (port,) = free_ports(1, "127.0.0.1")
    kubeconfig.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "gone", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
                "users": [{"name": "me", "user": {}}],
                "contexts": [{"name": "gone", "context": {"cluster": "gone", "user": "me"}}],
                "current-context": "gone",
            }
        )
    )
    result = run("app.example.com", "--kubeconfig", str(kubeconfig))
    assert (result.exit_code, result.stdout) == (3, "")
    assert f"127.0.0.1:{port}" in result.stderr


async def test_cluster_is_read_and_nothing_is_written(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    mapping = Ref("serving.knative.dev", "DomainMapping", "default", "shop.example.com")
    async with ApiServer() as server:
        server.write_kubeconfig(kubeconfig)
        for namespace in ("infra", "shop", "knative-serving"):
            await server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}, "test")
        for text in (GATEWAY, ROUTE, SETTINGS, MAPPING):
            await server.apply(yaml.safe_load(text), "test")
        before = server.find(mapping)
        result = await asyncio.to_thread(run, "shop.example.com", "--kubeconfig", str(kubeconfig))
        waiting = await asyncio.to_thread(run, "app.example.com", "--kubeconfig", str(kubeconfig))
        assert server.find(mapping) == before
        claim = Ref("networking.internal.knative.dev", "ClusterDomainClaim", "", "shop.example.com")
        assert server.find(claim) is None
        await server.apply(
            {
                "apiVersion": "networking.internal.knative.dev/v1alpha1",
                "kind": "ClusterDomainClaim",
                "metadata": {"name": "shop.example.com"},
                "spec": {"namespace": "default"},
            },
            "test",
        )
        claimed = await asyncio.to_thread(run, "shop.example.com", "--kubeconfig", str(kubeconfig))
    assert (result.exit_code, result.stderr) == (1, "")
    assert "ClusterDomainClaim shop.example.com: is wanted" in result.stdout, "no controller runs that would write it"
    assert (claimed.exit_code, claimed.stderr) == (1, "")
    assert "DomainMapping default/shop.example.com: spec.ref.name" in claimed.stdout
    assert waiting.exit_code == 1
    assert "/: 100 % to shop/web:80" in waiting.stdout  # routes are kept whole, for their backends


async def told(url: str, about: Subject, reason: str, message: str, now: datetime) -> None:
    """Has the recorder of `gatepost run` tell a warning."""
    async with Client(Connection(Server(url))) as client:
        recorder = EventRecorder(Calls(client, Discovery(client)), lambda: now)
        await recorder.record(Event(about, "Warning", reason, message))
        assert recorder.dropped == 0


async def test_what_gatepost_run_warned_of_in_the_cluster_is_told_as_such(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    ref = Ref("gateway.networking.k8s.io", "HTTPRoute", "shop", "app")
    async with ApiServer() as server:
        server.write_kubeconfig(kubeconfig)
        for namespace in ("infra", "shop"):
            await server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}, "test")
        for text in (GATEWAY, ROUTE):
            await server.apply(yaml.safe_load(text), "test")
        found = server.find(ref)
        assert found is not None
        now = datetime.now(UTC)
        route = Subject(ref, "gateway.networking.k8s.io/v1", found["metadata"]["uid"])
        before = Subject(ref, "gateway.networking.k8s.io/v1", "uid-of-a-former-route")
        no_zone = "app.example.com is in no zone of BIND, which has example.net"
        await told(server.url, route, "NoZone", no_zone, now - timedelta(minutes=7, seconds=5))
        await told(server.url, before, "RecordError", "of a former object", now)
        shown = await asyncio.to_thread(run, "app.example.com", "--kubeconfig", str(kubeconfig))
        in_json = await asyncio.to_thread(run, "httproute/app", "-o", "json", "--kubeconfig", str(kubeconfig))
    assert (shown.exit_code, shown.stderr) == (1, "")
    assert shown.stdout.endswith(
        f"Told by gatepost run (it may be mended since)\n  7 minutes ago, HTTPRoute shop/app: {no_zone}  [NoZone]\n"
    )
    (warning,) = json.loads(in_json.stdout)["told"]
    assert (warning["reason"], warning["message"], warning["minutesAgo"]) == ("NoZone", no_zone, 7)


def test_without_events_an_explanation_goes_on_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    (port,) = free_ports(1, "127.0.0.1")
    ref = Ref("gateway.networking.k8s.io", "HTTPRoute", "shop", "app")
    connection = Connection(server=Server(f"http://127.0.0.1:{port}"))
    assert warnings_in_cluster(connection, {ref: "uid"}) == ()
    assert "events cannot be read, so warnings of gatepost run are not known" in capsys.readouterr().err
