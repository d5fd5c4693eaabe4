"""`gatepost render` as a program: over files, and over a cluster that it only reads."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import yaml
from click.testing import CliRunner, Result

from gatepost.cli.commands import gatepost
from gatepost.objects.refs import Ref
from gatepost.standalone.apiserver.server import ApiServer

SETTINGS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: config-network, namespace: knative-serving}
data: {ingress-class: gateway-api.ingress.networking.knative.dev, autocreate-cluster-domain-claims: "true"}
"""
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {ports: [{name: http, port: 80}]}
"""
MAPPING = """
apiVersion: serving.knative.dev/v1beta1
kind: DomainMapping
metadata: {name: app.example.com, namespace: default}
spec: {ref: {apiVersion: v1, kind: Service, name: web}}
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(gatepost, ["render", *arguments, "-o", "json"], catch_exceptions=False)


def kinds_in(result: Result) -> set[str]:
    return {raw["kind"] for raw in json.loads(result.stdout)}


def test_files_are_rendered(tmp_path: Path) -> None:
    file = tmp_path / "all.yaml"
    file.write_text("---".join((SETTINGS, SERVICE, MAPPING)))
    result = run("--controllers", "domainmapping", str(file))
    assert result.exit_code == 0
    assert {"DomainMapping", "Ingress", "ClusterDomainClaim"} <= kinds_in(result)


def test_a_controller_that_is_none_is_wrong_use() -> None:
    result = run("--controllers", "ingress", "-")
    assert (result.exit_code, "there is no controller 'ingress'" in result.stderr) == (2, True)


async def test_without_files_the_cluster_is_read_and_not_written_to(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    async with ApiServer() as server:
        server.write_kubeconfig(kubeconfig)
        await server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "knative-serving"}}, "test")
        for text in (SETTINGS, SERVICE, MAPPING):
            await server.apply(yaml.safe_load(text), "test")
        result = await asyncio.to_thread(run, "--controllers", "domainmapping", "--kubeconfig", str(kubeconfig))
        claim = Ref("networking.internal.knative.dev", "ClusterDomainClaim", "", "app.example.com")
        assert server.find(claim) is None
    assert result.exit_code == 0, result.stderr
    assert {"DomainMapping", "Ingress", "ClusterDomainClaim"} <= kinds_in(result)


def test_cluster_domain_and_namespace_of_the_settings_are_those_given(tmp_path: Path) -> None:
    file = tmp_path / "all.yaml"
    file.write_text("---".join((SETTINGS.replace("knative-serving", "knative"), SERVICE, MAPPING)))
    where = ("--cluster-domain", "corp.test", "--system-namespace", "knative")
    result = run("--controllers", "domainmapping", *where, str(file))
    (ingress,) = [raw for raw in json.loads(result.stdout) if raw["kind"] == "Ingress"]
    (path,) = ingress["spec"]["rules"][0]["http"]["paths"]
    assert path["rewriteHost"] == "web.default.svc.corp.test"
    class_annotation = "networking.knative.dev/ingress.class"
    assert ingress["metadata"]["annotations"][class_annotation] == "gateway-api.ingress.networking.knative.dev"
