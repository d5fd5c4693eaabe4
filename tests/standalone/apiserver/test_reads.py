"""GET of objects and lists, discovery, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver.api_client import Client

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
AGGREGATED_BETA = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"


def config_map(name: str, **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}}


def names(body: Any) -> list[str]:
    return [item["metadata"]["name"] for item in body["items"]]


async def create_many(client: Client, count: int) -> None:
    for number in range(count):
        await client.created(CONFIG_MAPS, config_map(f"c{number}", parity="odd" if number % 2 else "even"))


async def test_list_is_in_order_of_names_with_the_version_to_watch_from(client: Client) -> None:
    for name in ("b", "c", "a"):
        last = await client.created(CONFIG_MAPS, config_map(name))
    answer = await client("GET", CONFIG_MAPS)
    assert (answer.body["kind"], answer.body["apiVersion"]) == ("ConfigMapList", "v1")
    assert names(answer.body) == ["a", "b", "c"]
    assert answer.body["metadata"] == {"resourceVersion": last["metadata"]["resourceVersion"]}


async def test_pages_show_one_moment_whatever_is_written_in_between(client: Client) -> None:
    await create_many(client, 5)
    first = await client("GET", CONFIG_MAPS, limit="2")
    assert names(first.body) == ["c0", "c1"]
    assert first.body["metadata"]["remainingItemCount"] == 3
    await client("DELETE", f"{CONFIG_MAPS}/c3")
    await client.created(CONFIG_MAPS, config_map("c2-new"))
    second = await client("GET", CONFIG_MAPS, limit="2", **{"continue": first.body["metadata"]["continue"]})
    third = await client("GET", CONFIG_MAPS, limit="2", **{"continue": second.body["metadata"]["continue"]})
    assert names(second.body) + names(third.body) == ["c2", "c3", "c4"]
    assert "continue" not in third.body["metadata"]
    assert second.body["metadata"]["resourceVersion"] == first.body["metadata"]["resourceVersion"]


async def test_page_of_selected_objects_does_not_count_the_rest(client: Client) -> None:
    await create_many(client, 6)
    page = await client("GET", CONFIG_MAPS, limit="2", labelSelector="parity=even")
    assert names(page.body) == ["c0", "c2"]
    assert "remainingItemCount" not in page.body["metadata"]


async def test_continue_key_of_another_list_or_made_up_is_refused(client: Client) -> None:
    await create_many(client, 3)
    key = (await client("GET", CONFIG_MAPS, limit="1")).body["metadata"]["continue"]
    elsewhere = await client("GET", "/api/v1/configmaps", limit="1", **{"continue": key})
    made_up = await client("GET", CONFIG_MAPS, limit="1", **{"continue": "bogus"})
    assert (elsewhere.status, made_up.status) == (400, 400)


async def test_continue_key_that_is_too_old_is_answered_410(client: Client) -> None:
    await create_many(client, 3)
    key = (await client("GET", CONFIG_MAPS, limit="1")).body["metadata"]["continue"]
    for _ in range(70):
        await client("GET", CONFIG_MAPS, limit="1")
    late = await client("GET", CONFIG_MAPS, limit="1", **{"continue": key})
    assert (late.status, late.body["reason"]) == (410, "Expired")


async def test_exact_list_of_a_past_version_is_answered_410(client: Client) -> None:
    created = await client.created(CONFIG_MAPS, config_map("a"))
    version = created["metadata"]["resourceVersion"]
    query = {"resourceVersion": version, "resourceVersionMatch": "Exact"}
    assert names((await client("GET", CONFIG_MAPS, **query)).body) == ["a"]
    await client.created(CONFIG_MAPS, config_map("b"))
    assert (await client("GET", CONFIG_MAPS, **query)).status == 410


async def test_metadata_alone_can_be_asked_for(client: Client) -> None:
    created = await client.created(CONFIG_MAPS, {**config_map("a"), "data": {"k": "v"}})
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    answer = await client("GET", CONFIG_MAPS, accept=accept)
    assert answer.headers["Content-Type"] == "application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadataList"
    assert answer.body["items"] == [
        {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": created["metadata"]}
    ]


async def test_client_that_takes_only_protobuf_is_answered_406(client: Client) -> None:
    answer = await client("GET", CONFIG_MAPS, accept="application/vnd.kubernetes.protobuf")
    assert (answer.status, answer.body["reason"]) == (406, "NotAcceptable")


async def test_client_that_prefers_protobuf_gets_json(client: Client) -> None:
    answer = await client("GET", CONFIG_MAPS, accept="application/vnd.kubernetes.protobuf,application/json")
    assert answer.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/apis/example.com/v1/things",
        "/apis/gateway.networking.k8s.io/v9/httproutes",
        "/apis/gateway.networking.k8s.io/v1/gatewayclasses/a/scale",
        "/apis/gateway.networking.k8s.io/v1/namespaces/default/gatewayclasses",
        "/api/v1/configmaps/a",
        "/openapi/v3/apis/example.com/v1",
        "/api/v1//configmaps",
    ],
)
async def test_unknown_path_is_a_status_404(client: Client, path: str) -> None:
    answer = await client("GET", path)
    assert answer.status == 404
    assert (answer.body["kind"], answer.body["reason"], answer.body["code"]) == ("Status", "NotFound", 404)


async def test_missing_object_is_a_404_that_names_it(client: Client) -> None:
    answer = await client("GET", f"{CONFIG_MAPS}/a")
    assert answer.body["message"] == 'configmaps "a" not found'
    assert answer.body["details"] == {"name": "a", "kind": "configmaps"}


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"labelSelector": "a in b"}, 400),
        ({"fieldSelector": "a"}, 400),
        ({"fieldSelector": "data.k=v"}, 400),
        ({"limit": "many"}, 400),
        ({"resourceVersion": "x"}, 400),
        ({"resourceVersionMatch": "Sometimes", "resourceVersion": "1"}, 422),
        ({"resourceVersionMatch": "Exact"}, 422),
        ({"sendInitialEvents": "true"}, 422),
        ({"includeObject": "Some"}, 400),
    ],
)
async def test_parameter_that_cannot_be_read_is_refused(client: Client, query: dict[str, str], status: int) -> None:
    answer = await client("GET", CONFIG_MAPS, **query)
    assert (answer.status, answer.body["kind"]) == (status, "Status")


async def test_method_that_makes_no_sense_is_a_405(client: Client) -> None:
    for method, path in (("PUT", CONFIG_MAPS), ("POST", f"{CONFIG_MAPS}/a"), ("POST", "/version")):
        answer = await client(method, path, {})
        assert (answer.status, answer.body["reason"]) == (405, "MethodNotAllowed")
    everywhere = await client("POST", "/api/v1/configmaps", config_map("a"))
    assert everywhere.status == 405


async def test_health_is_told(client: Client) -> None:
    for path in ("/healthz", "/livez", "/readyz", "/readyz/ping"):
        answer = await client("GET", path)
        assert (answer.status, answer.body) == (200, "ok")


@pytest.mark.parametrize(
    ("accept", "content_type", "api_version"),
    [
        (AGGREGATED, AGGREGATED, "apidiscovery.k8s.io/v2"),
        (AGGREGATED_BETA, AGGREGATED_BETA, "apidiscovery.k8s.io/v2beta1"),
        (f"{AGGREGATED},{AGGREGATED_BETA},application/json", AGGREGATED, "apidiscovery.k8s.io/v2"),
    ],
)
async def test_aggregated_discovery_repeats_the_form_that_was_asked_for(
    client: Client, accept: str, content_type: str, api_version: str
) -> None:
    answer = await client("GET", "/apis", accept=accept)
    assert answer.headers["Content-Type"] == content_type
    assert (answer.body["kind"], answer.body["apiVersion"]) == ("APIGroupDiscoveryList", api_version)


async def test_aggregated_discovery_tells_versions_by_preference_and_subresources(client: Client) -> None:
    groups = (await client("GET", "/apis", accept=AGGREGATED)).body["items"]
    gateway = next(group for group in groups if group["metadata"]["name"] == "gateway.networking.k8s.io")
    versions = [version["version"] for version in gateway["versions"]]
    assert versions == ["v1", "v1beta1", "v1alpha3", "v1alpha2"]
    routes = next(found for found in gateway["versions"][0]["resources"] if found["resource"] == "httproutes")
    kind = {"group": "gateway.networking.k8s.io", "version": "v1", "kind": "HTTPRoute"}
    assert routes == {
        "resource": "httproutes",
        "responseKind": kind,
        "scope": "Namespaced",
        "singularResource": "httproute",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "categories": ["gateway-api"],
        "subresources": [{"subresource": "status", "responseKind": kind, "verbs": ["get", "patch", "update"]}],
    }
    core = (await client("GET", "/api", accept=AGGREGATED)).body["items"]
    assert [(group["metadata"]["name"], group["versions"][0]["version"]) for group in core] == [("", "v1")]


async def test_plain_discovery_tells_the_same(client: Client) -> None:
    assert (await client("GET", "/api")).body["versions"] == ["v1"]
    groups = (await client("GET", "/apis")).body["groups"]
    serving = next(group for group in groups if group["name"] == "serving.knative.dev")
    assert serving["preferredVersion"] == {"groupVersion": "serving.knative.dev/v1", "version": "v1"}
    assert (await client("GET", "/apis/serving.knative.dev")).body["kind"] == "APIGroup"
    core = (await client("GET", "/api/v1")).body
    assert core["groupVersion"] == "v1"
    assert {"services", "services/status", "namespaces"} <= {found["name"] for found in core["resources"]}
    mappings = (await client("GET", "/apis/serving.knative.dev/v1beta1")).body["resources"]
    assert [found["name"] for found in mappings] == ["domainmappings", "domainmappings/status"]
    assert mappings[0]["shortNames"] == ["dm"]


async def test_openapi_has_what_kubectl_looks_for_before_it_writes(client: Client) -> None:
    index = (await client("GET", "/openapi/v3")).body["paths"]
    place = index["apis/gateway.networking.k8s.io/v1"]["serverRelativeURL"]
    document = (await client("GET", place.partition("?")[0])).body
    kind = {"group": "gateway.networking.k8s.io", "version": "v1", "kind": "HTTPRoute"}
    patch = document["paths"]["/apis/gateway.networking.k8s.io/v1/namespaces/{namespace}/httproutes/{name}"]["patch"]
    assert patch["x-kubernetes-group-version-kind"] == kind
    assert {"fieldValidation", "dryRun"} <= {parameter["name"] for parameter in patch["parameters"]}
    assert "application/strategic-merge-patch+json" not in patch["requestBody"]["content"]
    schemas = document["components"]["schemas"].values()
    (route,) = [schema for schema in schemas if schema.get("x-kubernetes-group-version-kind") == [kind]]
    matches = route["properties"]["spec"]["properties"]["rules"]["items"]["properties"]["matches"]
    assert matches["default"] == [{"path": {"type": "PathPrefix", "value": "/"}}]


async def test_openapi_hash_changes_with_the_definition(client: Client) -> None:
    async def place() -> str:
        return str((await client("GET", "/openapi/v3")).body["paths"]["apis/externaldns.k8s.io/v1alpha1"])

    before, path = (
        await place(),
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dnsendpoints.externaldns.k8s.io",
    )
    assert await place() == before
    patch = [
        {"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/note", "value": {"type": "string"}}
    ]
    answer = await client("PATCH", path, patch, content_type="application/json-patch+json")
    assert answer.status == 200, answer.body
    assert await place() != before


@pytest.mark.parametrize(
    ("path", "selector", "status"),
    [
        ("/api/v1/services", "spec.type=ClusterIP,metadata.namespace!=x", 200),
        ("/api/v1/services", "spec.ports=80", 400),
        ("/api/v1/secrets", "type=Opaque", 200),
        ("/api/v1/events", "involvedObject.uid=u,type=Warning,reportingComponent=gatepost", 200),
        ("/apis/events.k8s.io/v1/events", "regarding.kind=Service", 200),
        ("/apis/events.k8s.io/v1/events", "involvedObject.kind=Service", 400),
        ("/api/v1/namespaces", "status.phase=Active", 200),
        ("/api/v1/namespaces", "metadata.namespace=x", 400),
        ("/api/v1/pods", "spec.nodeName=n,status.phase!=Failed", 200),
        ("/apis/gateway.networking.k8s.io/v1/httproutes", "metadata.name=a,metadata.namespace=b", 200),
        ("/apis/gateway.networking.k8s.io/v1/httproutes", "spec.hostnames=a", 400),
        ("/apis/gateway.networking.k8s.io/v1/gatewayclasses", "metadata.namespace=b", 400),
    ],
)
async def test_field_selector_takes_the_fields_of_the_kind(
    client: Client, path: str, selector: str, status: int
) -> None:
    assert (await client("GET", path, fieldSelector=selector)).status == status


async def test_definition_says_which_more_fields_can_be_selected(client: Client) -> None:
    definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dnsendpoints.externaldns.k8s.io"
    endpoints = "/apis/externaldns.k8s.io/v1alpha1/namespaces/default/dnsendpoints"
    assert (await client("GET", endpoints, fieldSelector="spec.note=a")).status == 400
    properties = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"
    patch = [
        {"op": "add", "path": f"{properties}/note", "value": {"type": "string"}},
        {"op": "add", "path": "/spec/versions/0/selectableFields", "value": [{"jsonPath": ".spec.note"}]},
    ]
    assert (await client("PATCH", definition, patch, content_type="application/json-patch+json")).status == 200
    for name in ("a", "b"):
        await client.created(endpoints, {"metadata": {"name": name}, "spec": {"note": name}})
    found = await client("GET", endpoints, fieldSelector="spec.note=a")
    assert [item["metadata"]["name"] for item in found.body["items"]] == ["a"]
