"""Writes over HTTP: bodies, answers, dry runs, deletions and definitions of kinds."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from apiserver.api_client import Client

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
ROUTES = "/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = {"content_type": "application/merge-patch+json"}
APPLY = {"content_type": "application/apply-patch+yaml"}


def config_map(name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, **fields}


def thing_crd(**version: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "default": 3}}}},
    }
    v1 = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": "things"},
            "versions": [v1],
        },
    }


async def test_created_object_is_answered_201_as_stored(client: Client) -> None:
    answer = await client("POST", CONFIG_MAPS, config_map("a", data={"k": "v"}))
    assert answer.status == 201
    assert answer.body == (await client("GET", f"{CONFIG_MAPS}/a")).body
    assert answer.body["metadata"]["namespace"] == "default"
    assert answer.body["metadata"]["managedFields"][0]["manager"] == "tester"


async def test_body_may_leave_out_what_the_url_says(client: Client) -> None:
    answer = await client("POST", CONFIG_MAPS, {"metadata": {"name": "a"}})
    assert (answer.body["apiVersion"], answer.body["kind"]) == ("v1", "ConfigMap")


async def test_yaml_is_read_as_kubectl_reads_it(client: Client) -> None:
    text = b"metadata: {name: a}\ndata: {at: 2026-01-02T03:04:05Z, port: '08'}\n"
    answer = await client("POST", CONFIG_MAPS, text, content_type="application/yaml")
    assert answer.status == 201, answer.body
    assert answer.body["data"] == {"at": "2026-01-02T03:04:05Z", "port": "08"}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}, "kind: found 'Secret'"),
        ({"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "a"}}, "apiVersion: found 'v2'"),
        ({"metadata": {"name": "a", "namespace": "shop"}}, "does not match the namespace sent on the request"),
        ({"metadata": "a"}, "metadata: found 'a'"),
        ({"metadata": {}}, "metadata.name or metadata.generateName is required"),
        ([], "wanted an object"),
    ],
)
async def test_body_that_does_not_fit_the_url_is_refused(client: Client, body: Any, told: str) -> None:
    answer = await client("POST", CONFIG_MAPS, body)
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert told in answer.body["message"]


@pytest.mark.parametrize("raw", [b"{", b"[" * 5000, b"\xff\xfe", b"nothing"])
async def test_body_that_is_not_json_is_refused_without_a_trace(client: Client, raw: bytes) -> None:
    answer = await client("POST", CONFIG_MAPS, raw)
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert "Traceback" not in json.dumps(answer.body)


async def test_body_that_is_too_large_is_refused(client: Client) -> None:
    answer = await client("POST", CONFIG_MAPS, b" " * (3 * 1024 * 1024 + 1))
    assert (answer.status, answer.body["reason"]) == (413, "RequestEntityTooLarge")


async def test_unknown_content_type_is_refused(client: Client) -> None:
    answer = await client("POST", CONFIG_MAPS, b"<a/>", content_type="application/xml")
    assert (answer.status, answer.body["reason"]) == (415, "UnsupportedMediaType")


async def test_patch_of_an_unknown_type_and_strategic_on_a_custom_kind_are_refused(client: Client) -> None:
    await client.created(CONFIG_MAPS, config_map("a"))
    plain = await client("PATCH", f"{CONFIG_MAPS}/a", {}, content_type="application/json")
    assert plain.status == 415
    await client.created(ROUTES, {"metadata": {"name": "r"}, "spec": {}})
    strategic = "application/strategic-merge-patch+json"
    custom = await client("PATCH", f"{ROUTES}/r", {}, content_type=strategic)
    assert (custom.status, custom.body["reason"]) == (415, "UnsupportedMediaType")
    core = await client("PATCH", f"{CONFIG_MAPS}/a", {"data": {"k": "v"}}, content_type=strategic)
    assert core.body["data"] == {"k": "v"}


async def test_apply_creates_with_201_and_changes_with_200(client: Client) -> None:
    yaml = b"apiVersion: v1\nkind: ConfigMap\ndata: {k: v}\n"
    created = await client("PATCH", f"{CONFIG_MAPS}/a", yaml, **APPLY, fieldManager="me")
    changed = await client("PATCH", f"{CONFIG_MAPS}/a", yaml.replace(b"v}", b"w}"), **APPLY, fieldManager="me")
    assert (created.status, changed.status) == (201, 200)
    assert changed.body["data"] == {"k": "w"}
    assert [entry["manager"] for entry in changed.body["metadata"]["managedFields"]] == ["me"]


async def test_apply_needs_a_field_manager(client: Client) -> None:
    answer = await client("PATCH", f"{CONFIG_MAPS}/a", config_map("a"), **APPLY)
    assert (answer.status, answer.body["details"]["causes"][0]["field"]) == (422, "fieldManager")


async def test_apply_over_another_owner_is_a_conflict_unless_forced(client: Client) -> None:
    where = f"{CONFIG_MAPS}/a"
    await client("PATCH", where, config_map("a", data={"k": "v"}), **APPLY, fieldManager="one")
    other = config_map("a", data={"k": "w"})
    refused = await client("PATCH", where, other, **APPLY, fieldManager="two")
    assert (refused.status, refused.body["reason"]) == (409, "Conflict")
    assert refused.body["details"]["causes"][0]["field"] == ".data.k"
    forced = await client("PATCH", where, other, **APPLY, fieldManager="two", force="true")
    assert forced.body["data"] == {"k": "w"}


async def test_dry_run_answers_as_if_and_stores_nothing(client: Client) -> None:
    await client.created(CONFIG_MAPS, config_map("kept"))
    before = (await client("GET", CONFIG_MAPS)).body
    dry = {"dryRun": "All"}
    assert (await client("POST", CONFIG_MAPS, config_map("a"), **dry)).status == 201
    assert (await client("POST", CONFIG_MAPS, config_map("kept"), **dry)).status == 409
    patched = await client("PATCH", f"{CONFIG_MAPS}/kept", {"data": {"k": "v"}}, **MERGE, **dry)
    assert patched.body["data"] == {"k": "v"}
    assert (await client("DELETE", f"{CONFIG_MAPS}/kept", {"dryRun": ["All"]})).status == 200
    assert (await client("DELETE", CONFIG_MAPS, **dry)).status == 200
    assert (await client("GET", CONFIG_MAPS)).body == before


async def test_dry_run_of_another_kind_is_refused_rather_than_done(client: Client) -> None:
    answer = await client("POST", CONFIG_MAPS, config_map("a"), dryRun="Some")
    assert answer.status == 422
    assert (await client("GET", f"{CONFIG_MAPS}/a")).status == 404


async def test_unknown_fields_warn_or_are_refused_as_asked(client: Client) -> None:
    body = config_map("a", dada={"k": "v"})
    strict = await client("POST", CONFIG_MAPS, body, fieldValidation="Strict")
    assert strict.status == 400
    assert 'unknown field "dada"' in strict.body["message"]
    ignored = await client("POST", CONFIG_MAPS, body, fieldValidation="Ignore", dryRun="All")
    assert (ignored.status, "Warning" in ignored.headers) == (201, False)
    warned = await client("POST", CONFIG_MAPS, body)
    assert warned.status == 201
    assert warned.headers["Warning"] == r'299 - "unknown field \"dada\""'
    assert "dada" not in warned.body


async def test_invalid_object_tells_every_field(client: Client) -> None:
    spec = {"hostnames": ["a.example.com", "-"], "rules": [{"backendRefs": [{"port": 0}]}]}
    answer = await client("POST", ROUTES, {"metadata": {"name": "r"}, "spec": spec})
    assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    fields = {cause["field"] for cause in answer.body["details"]["causes"]}
    assert fields == {
        "spec.hostnames[1]",
        "spec.rules[0].backendRefs[0].name",
        "spec.rules[0].backendRefs[0].port",
    }


async def test_put_replaces_and_a_stale_version_is_a_conflict(client: Client) -> None:
    first = await client.created(CONFIG_MAPS, config_map("a", data={"k": "v"}))
    second = await client("PUT", f"{CONFIG_MAPS}/a", {**first, "data": {"n": "w"}})
    assert (second.status, second.body["data"]) == (200, {"n": "w"})
    stale = await client("PUT", f"{CONFIG_MAPS}/a", first)
    assert (stale.status, stale.body["reason"]) == (409, "Conflict")
    assert (await client("PUT", f"{CONFIG_MAPS}/b", config_map("b"))).status == 404
    assert (await client("PUT", f"{CONFIG_MAPS}/b", config_map("a"))).status == 400


async def test_status_is_written_apart_from_the_rest(client: Client) -> None:
    created = await client.created(ROUTES, {"metadata": {"name": "r"}, "spec": {}, "status": {"parents": []}})
    assert "status" not in created
    both = {**created, "spec": {"hostnames": ["a.example.com"]}, "status": {"parents": []}}
    answer = await client("PUT", f"{ROUTES}/r/status", both)
    assert answer.body["status"] == {"parents": []}
    assert "hostnames" not in answer.body["spec"]
    assert answer.body["metadata"]["generation"] == 1
    assert (await client("GET", f"{ROUTES}/r/status")).body == answer.body
    assert (await client("DELETE", f"{ROUTES}/r/status")).status == 405


async def test_delete_with_preconditions_of_another_object_is_a_conflict(client: Client) -> None:
    await client.created(CONFIG_MAPS, config_map("a"))
    other = await client("DELETE", f"{CONFIG_MAPS}/a", {"preconditions": {"uid": "0-1"}})
    assert (other.status, other.body["reason"]) == (409, "Conflict")
    old = await client("DELETE", f"{CONFIG_MAPS}/a", {"preconditions": {"resourceVersion": "1"}})
    assert old.status == 409
    gone = await client("DELETE", f"{CONFIG_MAPS}/a")
    assert (gone.body["status"], gone.body["details"]["name"]) == ("Success", "a")


async def test_object_with_finalizers_is_answered_as_it_waits(client: Client) -> None:
    body = config_map("a")
    body["metadata"]["finalizers"] = ["example.com/hold"]
    await client.created(CONFIG_MAPS, body)
    answer = await client("DELETE", f"{CONFIG_MAPS}/a")
    assert answer.body["kind"] == "ConfigMap"
    assert answer.body["metadata"]["deletionTimestamp"]
    await client("PATCH", f"{CONFIG_MAPS}/a", {"metadata": {"finalizers": None}}, **MERGE)
    assert (await client("GET", f"{CONFIG_MAPS}/a")).status == 404


async def test_dependents_follow_their_owner_unless_orphaned(client: Client) -> None:
    for name, policy, left in (("a", "Background", 404), ("b", "Foreground", 404), ("c", "Orphan", 200)):
        owner = await client.created(CONFIG_MAPS, config_map(name))
        dependent = config_map(f"{name}-child")
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": owner["metadata"]["uid"]}
        dependent["metadata"]["ownerReferences"] = [reference]
        await client.created(CONFIG_MAPS, dependent)
        await client("DELETE", f"{CONFIG_MAPS}/{name}", {"propagationPolicy": policy})
        assert (await client("GET", f"{CONFIG_MAPS}/{name}")).status == 404
        assert (await client("GET", f"{CONFIG_MAPS}/{name}-child")).status == left


async def test_object_whose_owner_does_not_exist_is_collected(client: Client) -> None:
    dependent = config_map("child")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "nobody", "uid": "no-such-uid"}
    dependent["metadata"]["ownerReferences"] = [reference]
    start = (await client.created(CONFIG_MAPS, dependent))["metadata"]["resourceVersion"]
    query = {"watch": "true", "resourceVersion": start}
    async with asyncio.timeout(20), client.session.get(client.url + CONFIG_MAPS, params=query) as response:
        event = json.loads(await response.content.readline())
    assert (event["type"], event["object"]["metadata"]["name"]) == ("DELETED", "child")


async def test_collection_is_deleted_by_selector(client: Client) -> None:
    for name, tier in (("a", "web"), ("b", "db"), ("c", "web")):
        body = config_map(name)
        body["metadata"]["labels"] = {"tier": tier}
        await client.created(CONFIG_MAPS, body)
    answer = await client("DELETE", CONFIG_MAPS, labelSelector="tier=web")
    assert [item["metadata"]["name"] for item in answer.body["items"]] == ["a", "c"]
    left = (await client("GET", CONFIG_MAPS)).body["items"]
    assert [item["metadata"]["name"] for item in left] == ["b"]


async def test_name_is_generated(client: Client) -> None:
    body = {"metadata": {"generateName": "job-"}}
    made = [(await client("POST", CONFIG_MAPS, body)).body["metadata"]["name"] for _ in range(2)]
    assert made[0] != made[1]
    assert all(name.startswith("job-") and len(name) == 9 for name in made)


async def test_access_review_says_yes(client: Client) -> None:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}},
    }
    answer = await client("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
    assert answer.status == 201
    assert answer.body["status"]["allowed"] is True


async def test_definition_takes_effect_at_once(client: Client) -> None:
    things = "/apis/example.com/v1/namespaces/default/things"
    assert (await client("GET", things)).status == 404
    crd = await client.created(CRDS, thing_crd())
    conditions = {condition["type"]: condition["status"] for condition in crd["status"]["conditions"]}
    assert conditions == {"NamesAccepted": "True", "Established": "True"}
    assert crd["status"]["storedVersions"] == ["v1"]
    thing = await client.created(things, {"metadata": {"name": "a"}, "spec": {}})
    assert thing["spec"] == {"size": 3}
    assert "example.com" in [group["name"] for group in (await client("GET", "/apis")).body["groups"]]


async def test_definition_takes_its_objects_along_and_comes_back_empty(client: Client) -> None:
    things = "/apis/example.com/v1/namespaces/default/things"
    await client.created(CRDS, thing_crd())
    await client.created(things, {"metadata": {"name": "a"}, "spec": {}})
    await client("DELETE", f"{CRDS}/things.example.com")
    assert (await client("GET", things)).status == 404
    assert (await client("GET", "/apis/example.com/v1")).status == 404
    await client.created(CRDS, thing_crd())
    assert (await client("GET", things)).body["items"] == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"scope": "Galaxy"}, "spec.scope"),
        ({"versions": []}, "spec.versions"),
        ({"names": {"plural": "things"}}, "spec.names.kind"),
        ({"group": "other.com"}, "metadata.name"),
        ({"versions": [{"name": "v1", "served": True, "storage": True}]}, "spec.versions[0].schema"),
    ],
)
async def test_broken_definition_is_refused_with_the_field(client: Client, change: dict[str, Any], field: str) -> None:
    crd = thing_crd()
    crd["spec"] |= change
    answer = await client("POST", CRDS, crd)
    assert answer.status == 422
    assert field in [cause["field"] for cause in answer.body["details"]["causes"]]


async def test_deprecated_version_is_warned_about(client: Client) -> None:
    await client.created(CRDS, thing_crd(deprecated=True, deprecationWarning="things v1 go away"))
    answer = await client("GET", "/apis/example.com/v1/things")
    assert answer.headers["Warning"] == '299 - "things v1 go away"'


async def test_secret_text_and_service_defaults_are_filled_in(client: Client) -> None:
    secret = await client.created(
        "/api/v1/namespaces/default/secrets", {"metadata": {"name": "s"}, "stringData": {"password": "x"}}
    )
    assert secret["data"] == {"password": "eA=="}
    assert "stringData" not in secret
    service = await client.created(
        "/api/v1/namespaces/default/services", {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}
    )
    assert service["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]
    assert service["spec"]["clusterIP"].startswith("10.")
