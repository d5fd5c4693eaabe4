"""The Deployment in `deploy/`: flags that exist, probes where they are served, and no more power than it needs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy_manifests import FOLDER, object_of, objects
from gatepost.cli.run import command

ENVIRONMENT = {"GATEPOST_RFC2136_TSIG_SECRET": "c2VjcmV0"}


def pod() -> Any:
    return object_of("Deployment", "gatepost")["spec"]["template"]["spec"]


def parameters(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What `gatepost run` makes of the arguments and the config file."""
    (container,) = pod()["containers"]
    config = folder / "gatepost.yaml"
    config.write_text(object_of("ConfigMap", "gatepost")["data"]["gatepost.yaml"])
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    name, *arguments = container["args"]
    assert name == "run"
    given = [argument.replace("/etc/gatepost/gatepost.yaml", str(config)) for argument in arguments]
    with command.make_context("run", given) as ctx:
        return dict(ctx.params)


def test_the_replicas_share_a_lease_and_write_nothing_until_they_are_let(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert object_of("Deployment", "gatepost")["spec"]["replicas"] == 2
    found = parameters(tmp_path, monkeypatch)
    assert found["leader_elect"] is True
    assert found["dry_run"] is True
    assert found["sources"] == ("gateway-httproute",)


def test_probes_and_metrics_are_where_gatepost_serves_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, port = parameters(tmp_path, monkeypatch)["metrics_address"]
    (container,) = pod()["containers"]
    assert container["ports"] == [{"name": "metrics", "containerPort": port}]
    paths = {name: container[f"{name}Probe"]["httpGet"] for name in ("liveness", "readiness")}
    assert paths == {
        "liveness": {"path": "/healthz", "port": "metrics"},
        "readiness": {"path": "/readyz", "port": "metrics"},
    }
    assert object_of("Service", "gatepost-metrics")["spec"]["ports"] == [
        {"name": "metrics", "port": port, "targetPort": "metrics"}
    ]


def test_the_pod_meets_the_restricted_standard_of_its_namespace() -> None:
    assert (
        object_of("Namespace", "gatepost")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    )
    (container,) = pod()["containers"]
    assert pod()["securityContext"]["runAsNonRoot"] is True
    assert pod()["securityContext"]["runAsUser"] > 0
    assert pod()["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["requests"].keys() == {"cpu", "memory"}


def test_every_file_is_in_the_kustomization_or_named_there_as_a_choice() -> None:
    text = (FOLDER / "kustomization.yaml").read_text()
    files = {path.name for path in FOLDER.glob("*.yaml")} - {"kustomization.yaml", "example-provider-secret.yaml"}
    assert {name for name in files if f"- {name}" not in text} == set()


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_the_kustomization_builds_the_objects_that_its_files_hold() -> None:
    built = subprocess.run(
        ["kubectl", "kustomize", str(FOLDER)], capture_output=True, text=True, check=True, timeout=60
    )
    found = {(raw["kind"], raw["metadata"]["name"]) for raw in yaml.safe_load_all(built.stdout)}
    assert found >= {("Namespace", "gatepost"), ("Deployment", "gatepost"), ("ClusterRole", "gatepost-dns")}
    assert found <= {(raw["kind"], raw["metadata"]["name"]) for raw in objects()}
