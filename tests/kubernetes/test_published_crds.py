"""The published CRDs of Gateway API and Knative, where they are at hand."""

from __future__ import annotations

import copy
import os
import pathlib
from typing import Any

import pytest
import yaml
from kubernetes_model import new_model

from gatepost.kubernetes.api import ApiError, ApiModel
from gatepost.objects.refs import Ref

_HERE = os.environ.get("GATEPOST_CRDS")
CRDS = pathlib.Path(_HERE) if _HERE else pathlib.Path(__file__).parents[3] / "shared" / "crds"

pytestmark = pytest.mark.skipif(not CRDS.is_dir(), reason="no published CRDs: set GATEPOST_CRDS to their folder")

ROUTE: dict[str, Any] = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "HTTPRoute",
    "metadata": {"name": "web", "namespace": "x"},
    "spec": {
        "hostnames": ["web.example.com"],
        "parentRefs": [{"name": "gateway"}],
        "rules": [{"backendRefs": [{"name": "web", "port": 80}]}],
    },
}
ROUTE_REF = Ref("gateway.networking.k8s.io", "HTTPRoute", "x", "web")


def model_with(*files: str) -> ApiModel:
    model = new_model()
    for file in files:
        for document in yaml.safe_load_all((CRDS / file).read_text()):
            if document:
                model.create(document, "kubectl", field_validation="Strict")
    return model


@pytest.fixture(scope="module")
def gateway_api() -> ApiModel:
    return model_with(
        "gateway-api-experimental/gateway.networking.k8s.io_httproutes.yaml",
        "gateway-api-experimental/gateway.networking.k8s.io_gateways.yaml",
    )


def test_every_published_crd_is_accepted_strictly() -> None:
    files = sorted(str(path.relative_to(CRDS)) for path in CRDS.rglob("*.yaml"))
    files = [file for file in files if "standard" not in file]
    model = model_with(*files)
    assert len(files) > 15
    assert model.resources.at("serving.knative.dev", "v1beta1", "domainmappings") is not None


def test_a_route_without_matches_matches_every_path(gateway_api: ApiModel) -> None:
    written = gateway_api.create(ROUTE, "kubectl", field_validation="Strict", dry_run=True)
    assert written.object["spec"]["rules"] == [
        {
            "matches": [{"path": {"type": "PathPrefix", "value": "/"}}],
            "backendRefs": [{"group": "", "kind": "Service", "name": "web", "port": 80, "weight": 1}],
        }
    ]
    assert written.object["spec"]["parentRefs"] == [
        {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "gateway"}
    ]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            70000,
            "spec.rules[0].backendRefs[0].port: Invalid value: 70000: spec.rules[0].backendRefs[0].port "
            "in body should be less than or equal to 65535",
        ),
        (
            "http",
            'spec.rules[0].backendRefs[0].port: Invalid value: "string": spec.rules[0].backendRefs[0].port '
            'in body must be of type integer: "string"',
        ),
    ],
)
def test_a_wrong_port_of_a_route_is_told_with_its_path(gateway_api: ApiModel, value: Any, message: str) -> None:
    wrong = copy.deepcopy(ROUTE)
    wrong["spec"]["rules"][0]["backendRefs"][0]["port"] = value
    with pytest.raises(ApiError) as told:
        gateway_api.create(wrong, "kubectl", dry_run=True)
    assert told.value.message == f'HTTPRoute.gateway.networking.k8s.io "web" is invalid: {message}'


def test_a_misspelt_field_of_a_route_is_told(gateway_api: ApiModel) -> None:
    wrong = copy.deepcopy(ROUTE)
    wrong["spec"]["rules"][0]["backendRef"] = []
    with pytest.raises(ApiError, match=r'unknown field "spec\.rules\[0\]\.backendRef"'):
        gateway_api.create(wrong, "kubectl", field_validation="Strict", dry_run=True)


def test_listeners_of_a_gateway_are_owned_one_by_one() -> None:
    model = model_with("gateway-api-standard/gateway.networking.k8s.io_gateways.yaml")
    ref = Ref("gateway.networking.k8s.io", "Gateway", "x", "g")

    def gateway(*listeners: str) -> dict[str, Any]:
        return {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": {"name": "g", "namespace": "x"},
            "spec": {
                "gatewayClassName": "c",
                "listeners": [{"name": name, "port": 80, "protocol": "HTTP"} for name in listeners],
            },
        }

    def names() -> list[str]:
        return [listener["name"] for listener in model.get(ref)["spec"]["listeners"]]

    model.patch(ref, gateway("ours"), "apply", "platform")
    model.patch(ref, gateway("a", "b"), "apply", "gatepost")
    assert names() == ["ours", "a", "b"]
    model.patch(ref, gateway("b"), "apply", "gatepost")
    assert names() == ["ours", "b"]


def test_a_status_with_two_equal_conditions_is_refused(gateway_api: ApiModel) -> None:
    gateway_api.patch(ROUTE_REF, ROUTE, "apply", "kubectl")
    condition = {
        "type": "Accepted",
        "status": "True",
        "reason": "Accepted",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    parent = {"controllerName": "a.test/c", "parentRef": {"name": "gateway"}, "conditions": [condition] * 2}
    with pytest.raises(ApiError, match="Duplicate value"):
        gateway_api.patch(ROUTE_REF, {"status": {"parents": [parent]}}, "merge", "controller", subresource="status")
