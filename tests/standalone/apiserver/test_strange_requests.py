"""Whatever is sent, the answer is a Status that says what is wrong with it; never an internal error."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

from apiserver.api_client import Client

# One object of each shape that the server treats in a way of its own.
OBJECTS: dict[str, dict[str, Any]] = {
    "/api/v1/namespaces": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}},
    "/api/v1/namespaces/default/services": {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "x", "labels": {"a": "b"}},
        "spec": {"ports": [{"name": "http", "port": 80, "targetPort": "web"}], "selector": {"app": "x"}},
    },
    "/api/v1/namespaces/default/secrets": {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "x"},
        "type": "Opaque",
        "data": {"a": "YQ=="},
        "stringData": {"b": "c"},
    },
    "/api/v1/namespaces/default/configmaps": {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "x",
            "generateName": "x-",
            "annotations": {"a": "b"},
            "finalizers": ["example.com/hold"],
            "ownerReferences": [{"apiVersion": "v1", "kind": "Secret", "name": "y", "uid": "u", "controller": True}],
            "managedFields": [{"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:data": {}}}],
        },
        "data": {"a": "b"},
        "immutable": False,
    },
    "/api/v1/namespaces/default/events": {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "x"},
        "involvedObject": {"kind": "ConfigMap", "name": "x", "namespace": "default"},
        "reason": "Tried",
        "lastTimestamp": "2026-01-02T03:04:05Z",
    },
    "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices": {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "x"},
        "addressType": "IPv4",
        "ports": [{"name": "", "port": 80}],
        "endpoints": [{"addresses": ["127.0.0.1"], "conditions": {"ready": True}}],
    },
    "/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes": {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "x"},
        "spec": {
            "parentRefs": [{"name": "web"}],
            "hostnames": ["a.example.com"],
            "rules": [{"matches": [{"path": {"value": "/"}}], "backendRefs": [{"name": "x", "port": 80}]}],
        },
        "status": {"parents": []},
    },
    "/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways": {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": "x"},
        "spec": {
            "gatewayClassName": "traefik",
            "addresses": [{"value": "192.0.2.1"}],
            "listeners": [
                {"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"kinds": [{"kind": "K"}]}}
            ],
        },
    },
    "/apis/networking.internal.knative.dev/v1alpha1/namespaces/default/ingresses": {
        "apiVersion": "networking.internal.knative.dev/v1alpha1",
        "kind": "Ingress",
        "metadata": {"name": "x"},
        "spec": {
            "rules": [
                {"http": {"paths": [{"splits": [{"serviceName": "a", "serviceNamespace": "b", "servicePort": "c"}]}]}}
            ]
        },
    },
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions": {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": "things", "shortNames": ["th"], "categories": ["all"]},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {
                                "spec": {
                                    "type": "object",
                                    "required": ["size"],
                                    "properties": {
                                        "size": {"type": "integer", "default": 1, "minimum": 0},
                                        "list": {"type": "array", "items": {"type": "string", "pattern": "^a"}},
                                    },
                                }
                            },
                        }
                    },
                }
            ],
        },
    },
}
STRANGE: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    "",
    "x",
    "ä\u0000",
    "a" * 300,
    "[",
    [],
    [None],
    [[]],
    ["a", "a"],
    [{}],
    [{"name": "a"}, {"name": "a"}],
    {},
    {"": ""},
    {"a": None},
    {"name": {}},
    {"$patch": "delete"},
)
PATCHES = (
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


def with_strange(body: Any, chance: random.Random) -> Any:
    """A copy of the body with one place replaced, removed or added to."""
    body = copy.deepcopy(body)
    path = chance.choice(places(body)[1:])
    holder = body
    for key in path[:-1]:
        holder = holder[key]
    kind = chance.random()
    if kind < 0.1:
        del holder[path[-1]]
    elif kind < 0.2 and isinstance(holder, dict):
        holder[chance.choice(("extra", "a.b/c", "", "metadata"))] = chance.choice(STRANGE)
    else:
        holder[path[-1]] = chance.choice(STRANGE)
    return body


async def told_in_status(client: Client, method: str, path: str, body: Any, **options: str) -> None:
    answer = await client(method, path, body, **options)
    asked = f"{method} {path} {options} {json.dumps(body)[:2000]}"
    assert answer.status < 500, f"{asked}: {answer.body}"
    if answer.status >= 400:
        assert answer.body["kind"] == "Status", asked
        assert answer.body["code"] == answer.status, asked
        assert answer.body["message"], asked


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("path", OBJECTS)
async def test_strange_object_is_refused_or_taken_never_an_internal_error(client: Client, path: str, seed: int) -> None:
    chance = random.Random(f"{path} {seed}")
    body = OBJECTS[path]
    name = body["metadata"]["name"]
    for _ in range(25):
        strange = with_strange(body, chance)
        await told_in_status(client, "POST", path, strange, fieldValidation=chance.choice(("Strict", "Warn", "Ignore")))
        await client("POST", path, body)
        await told_in_status(client, "PUT", f"{path}/{name}", strange)
        await told_in_status(client, "PUT", f"{path}/{name}/status", strange)
        query = {"content_type": chance.choice(PATCHES), "fieldManager": "m", "force": "true"}
        await told_in_status(client, "PATCH", f"{path}/{name}", strange, **query)
        pointer = "".join(f"/{str(key).replace('/', '~1')}" for key in chance.choice(places(body)))
        operation = chance.choice(("add", "remove", "replace", "move", "copy", "test", "jump"))
        patch = [{"op": operation, "path": pointer, "from": "/metadata", "value": chance.choice(STRANGE)}]
        await told_in_status(client, "PATCH", f"{path}/{name}", patch, content_type="application/json-patch+json")
        for accept in ("application/json", "application/json;as=Table;g=meta.k8s.io;v=v1"):
            assert (await client("GET", path, accept=accept)).status == 200
        await told_in_status(client, "DELETE", f"{path}/{name}", chance.choice((None, {}, strange)))


@pytest.mark.parametrize("value", STRANGE)
async def test_strange_delete_options_are_no_internal_error(client: Client, value: Any) -> None:
    for key in ("preconditions", "propagationPolicy", "dryRun", "gracePeriodSeconds", "orphanDependents"):
        path = "/api/v1/namespaces/default/configmaps"
        await client("POST", path, {"metadata": {"name": "a"}})
        await told_in_status(client, "DELETE", f"{path}/a", {key: value})


@pytest.mark.parametrize(
    "path", ["/%00", "/api/v1/%2e%2e/x", "/apis/%ff/v1/x", "/api/v1/namespaces/a%2Fb/services/c", "//"]
)
async def test_strange_path_is_not_found(client: Client, path: str) -> None:
    async with client.session.get(f"{client.url}{path}") as response:
        assert response.status == 404
        assert (await response.json())["kind"] == "Status"
