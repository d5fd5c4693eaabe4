"""`gatepost migrate services`: what is shown, what is done, and the exit codes."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from click.testing import CliRunner, Result

from gatepost.cli import migrate
from gatepost.cli.commands import gatepost
from gatepost.cluster.client import MERGE_PATCH, Client
from gatepost.cluster.connection import Connection, Server
from gatepost.standalone.apiserver.server import ApiServer

Raw = dict[str, Any]

INPUT = """
apiVersion: serving.knative.dev/v1
kind: Route
metadata: {name: web, namespace: shop, uid: uid-route, annotations: {gatepost/hand-over: "true"}}
spec: {traffic: [{latestRevision: true, configurationName: web, percent: 100}]}
---
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
  labels: {serving.knative.dev/route: web}
  ownerReferences: [{apiVersion: serving.knative.dev/v1, kind: Route, name: web, uid: uid-route, controller: true}]
spec:
  type: ExternalName
  externalName: gw.gateways.svc.cluster.local
  ports: [{name: http2, port: 80}]
---
apiVersion: networking.internal.knative.dev/v1alpha1
kind: Ingress
metadata:
  name: web
  namespace: shop
  ownerReferences: [{apiVersion: serving.knative.dev/v1, kind: Route, name: web, uid: uid-route, controller: true}]
spec: {}
status:
  privateLoadBalancer: {ingress: [{domainInternal: gw.gateways.svc.cluster.local}]}
---
apiVersion: v1
kind: Service
metadata: {name: gw, namespace: gateways}
spec: {type: ClusterIP, clusterIP: 10.96.0.50, clusterIPs: [10.96.0.50], ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: mine, namespace: other, labels: {serving.knative.dev/route: web}}
spec: {clusterIP: None}
"""
APPLY = ("--apply", "--pause", "0")
PATHS = {
    "Route": "/apis/serving.knative.dev/v1/namespaces/{}/routes",
    "Service": "/api/v1/namespaces/{}/services",
    "Ingress": "/apis/networking.internal.knative.dev/v1alpha1/namespaces/{}/ingresses",
}


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    path = tmp_path / "input.yaml"
    path.write_text(INPUT)
    return str(path)


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(gatepost, ["migrate", "services", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_table_shows_what_stands_there_the_steps_and_why_not(manifest: str) -> None:
    result = run(manifest)
    assert result.exit_code == 0, result.stderr
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines == [
        "SERVICE ROUTE FOUND LEADS TO STATE",
        "other/mine web (not its owner) Headless - left alone",
        "why not: Service other/mine: metadata.ownerReferences: carries the label of Route web (which does not exist), "
        "which does not control it; a label proves nothing. It is left alone; remove the label if it is yours. "
        "[NotControlledByRoute]",
        "shop/web web ExternalName gw.gateways.svc.cluster.local 3 steps",
        "1. lay slice web-ipv4 with 10.96.0.50",
        "2. check that web-ipv4 holds an address",
        "3. one update to headless",
        "",
        "Nothing was written; --apply does it.",
    ]


def test_json_is_a_list_with_everything_in_words(manifest: str) -> None:
    mine, web = json.loads(run("-o", "json", manifest).stdout)
    assert web == {
        "service": "Service shop/web",
        "route": "web",
        "found": {
            "form": "ExternalName",
            "leadsTo": "gw.gateways.svc.cluster.local",
            "visibility": "",
            "isControlledByRoute": True,
            "isHandedOver": True,
            "endpoints": None,
            "slices": [],
        },
        "steps": [
            {"on": "EndpointSlice shop/web-ipv4", "does": "lay slice web-ipv4 with 10.96.0.50"},
            {"on": "Service shop/web", "does": "check that web-ipv4 holds an address"},
            {"on": "Service shop/web", "does": "one update to headless"},
        ],
        "refused": [],
    }
    assert [problem["reason"] for problem in mine["refused"]] == ["NotControlledByRoute"]


def test_yaml_says_the_same_as_json(manifest: str) -> None:
    documents = list(yaml.safe_load_all(run("-o", "yaml", manifest).stdout))
    assert documents == json.loads(run("-o", "json", manifest).stdout)


def test_namespace_narrows(manifest: str) -> None:
    (only,) = json.loads(run("-o", "json", "-n", "other", manifest).stdout)
    assert only["service"] == "Service other/mine"


@pytest.mark.parametrize(("output", "printed"), [("table", ""), ("json", "[]\n"), ("yaml", "")])
def test_where_no_service_is_of_a_route_this_is_said(output: str, printed: str, manifest: str) -> None:
    result = run("-n", "elsewhere", "-o", output, manifest)
    assert (result.exit_code, result.stdout) == (0, printed)
    assert result.stderr == (
        "gatepost migrate: no Service in namespace elsewhere is of a Route: "
        "none has the label serving.knative.dev/route\n"
    )


def test_way_back_of_what_was_not_moved_is_empty(manifest: str) -> None:
    _, web = json.loads(run("-o", "json", "--back", manifest).stdout)
    assert (web["steps"], web["refused"]) == ([], [])


@pytest.mark.parametrize("arguments", [("--apply",), ("--back", "--handed-over")])
def test_options_that_do_not_go_together_are_wrong_use(manifest: str, arguments: tuple[str, ...]) -> None:
    assert run(*arguments, manifest).exit_code == 2


def test_problem_of_the_input_is_told_and_the_rest_is_shown(tmp_path: Path, manifest: str) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("apiVersion: v1\nkind: Service\nmetadata: {name: x, namespace: shop}\nspec: {ports: 3}\n")
    result = run(manifest, str(broken))
    assert result.exit_code == 1
    assert "broken.yaml:4: Service shop/x: spec.ports" in result.stderr
    assert "shop/web" in result.stdout


def test_example_of_the_docs_prints_what_they_say() -> None:
    root = Path(__file__).parents[2]
    text = (root / "docs" / "migrate-services.md").read_text()
    command, shown = text.split("    $ gatepost migrate services ", 1)[1].split("\n", 1)
    lines = [line[4:] for line in shown.split("\n\nA Service", 1)[0].splitlines()]
    assert run(str(root / command)).stdout.rstrip().splitlines() == lines


# On a cluster


@asynccontextmanager
async def shop(tmp_path: Path, *, handed_over: bool = True) -> AsyncIterator[tuple[Client, list[str]]]:
    """A server with these objects. Gives a client, and the options that lead the command to the server."""
    async with ApiServer() as server, Client(Connection(Server(server.url))) as client:
        for name in ("shop", "gateways", "other"):
            await client.write("POST", "/api/v1/namespaces", {}, {"metadata": {"name": name}})
        uid = ""
        for raw in yaml.safe_load_all(INPUT):
            metadata = raw["metadata"]
            metadata.pop("uid", None)
            for owner in metadata.get("ownerReferences", ()):
                owner["uid"] = uid
            if not handed_over:
                metadata.pop("annotations", None)
            path = PATHS[raw["kind"]].format(metadata["namespace"])
            made = msgspec.json.decode(await client.write("POST", path, {}, raw))
            if raw["kind"] == "Route":
                uid = made["metadata"]["uid"]
            if "status" in raw:
                status = {"status": raw["status"]}
                await client.write("PATCH", f"{path}/{metadata['name']}/status", {}, status, MERGE_PATCH)
        server.write_kubeconfig(tmp_path / "config")
        yield client, ["--kubeconfig", str(tmp_path / "config")]


async def ended(*arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command in a process of its own."""
    command = [sys.executable, "-m", "gatepost", "migrate", "services", *arguments]
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def form(client: Client) -> str:
    raw = msgspec.json.decode(await client.read("/api/v1/namespaces/shop/services/web"))
    return f"{raw['spec']['type']} {raw['spec'].get('clusterIP', '')}".strip()


async def test_without_apply_nothing_is_written(tmp_path: Path) -> None:
    async with shop(tmp_path) as (client, where):
        before = msgspec.json.decode(await client.read("/api/v1/services"))["metadata"]["resourceVersion"]
        code, out, err = await ended(*where)
        assert code == 0, err
        assert "3 steps" in out
        assert msgspec.json.decode(await client.read("/api/v1/services"))["metadata"]["resourceVersion"] == before


async def test_apply_moves_what_a_route_controls_and_tells_each_step(tmp_path: Path) -> None:
    async with shop(tmp_path) as (client, where):
        code, out, err = await ended(*APPLY, "-o", "json", *where)
        assert code == 0, err  # Service other/mine is rightly left alone
        assert await form(client) == "ClusterIP None"
        assert err.splitlines() == [
            "shop/web: done: lay slice web-ipv4 with 10.96.0.50",
            "shop/web: done: check that web-ipv4 holds an address",
            "shop/web: done: one update to headless",
        ]
        assert [step["isDone"] for step in json.loads(out)[1]["steps"]] == [True, True, True]
        code, out, err = await ended(*APPLY, "-n", "shop", *where)
        assert code == 0, err
        assert "in order" in out


async def test_route_that_is_not_handed_over_is_moved_only_where_all_are(tmp_path: Path) -> None:
    async with shop(tmp_path, handed_over=False) as (client, where):
        code, out, _ = await ended(*APPLY, "-n", "shop", *where)
        assert (code, await form(client)) == (1, "ExternalName")
        assert "[NotHandedOver]" in out
        code, _, err = await ended(*APPLY, "--handed-over", "-n", "shop", *where)
        assert (code, await form(client)) == (0, "ClusterIP None"), err
        code, _, err = await ended(*APPLY, "--back", "-n", "shop", *where)
        assert (code, await form(client)) == (0, "ExternalName"), err


async def test_the_steps_go_to_the_cluster_that_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with shop(tmp_path) as (client, where):
        kubeconfig = tmp_path / "config"
        # Between reading and writing somebody turns to another cluster.
        monkeypatch.setattr(migrate, "_look_up_names", lambda engine: kubeconfig.write_text("clusters: []\n"))
        arguments = ["migrate", "services", *APPLY, "-n", "shop", *where]
        result = await asyncio.to_thread(CliRunner().invoke, gatepost, arguments)
        assert result.exit_code == 0, result.stderr
        assert await form(client) == "ClusterIP None"


async def test_cluster_that_cannot_be_reached_ends_with_3(tmp_path: Path) -> None:
    async with shop(tmp_path) as (_, where):
        pass
    code, _, err = await ended(*where)
    assert code == 3
    assert "gatepost: " in err
