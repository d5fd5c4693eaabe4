"""Create, replace and patch: versions, generations, status apart, conflicts, dry runs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes_model import (
    GADGET_CRD,
    Clock,
    core,
    core_ref,
    gadget,
    gadget_ref,
    new_model,
)

from gatepost.kubernetes.api import ApiError, ApiModel
from gatepost.objects.refs import GroupKind, Ref

GADGET = GroupKind("example.com", "Gadget")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def model(clock: Clock) -> ApiModel:
    return new_model(clock)


def failure(call: Any) -> ApiError:
    with pytest.raises(ApiError) as told:
        call()
    return told.value


def test_a_created_object_gets_what_a_server_gives(model: ApiModel) -> None:
    written = model.create(gadget("g", size=3), "me")
    metadata = written.object["metadata"]
    assert (written.created, written.changed) == (True, True)
    assert written.object["spec"] == {"size": 3, "mode": "Fast"}
    assert metadata["uid"] == "uid-1"
    assert metadata["resourceVersion"] == "1"
    assert metadata["generation"] == 1
    assert metadata["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert [(entry["manager"], entry["operation"]) for entry in metadata["managedFields"]] == [("me", "Update")]


def test_create_ignores_what_only_the_server_sets(model: ApiModel) -> None:
    raw = gadget("g")
    raw["metadata"].update(uid="mine", generation=7, resourceVersion="9", creationTimestamp="2000-01-01T00:00:00Z")
    raw["status"] = {"ready": True}
    created = model.create(raw, "me").object
    assert (created["metadata"]["uid"], created["metadata"]["generation"]) == ("uid-1", 1)
    assert "status" not in created


def test_a_name_is_taken_once(model: ApiModel) -> None:
    model.create(gadget("g"), "me")
    error = failure(lambda: model.create(gadget("g"), "me"))
    assert (error.code, error.reason) == (409, "AlreadyExists")
    assert error.message == 'gadgets.example.com "g" already exists'


def test_what_is_not_there_is_404(model: ApiModel) -> None:
    for call in (
        lambda: model.get(gadget_ref()),
        lambda: model.replace(gadget(), "me"),
        lambda: model.patch(gadget_ref(), {}, "merge", "me"),
        lambda: model.delete(gadget_ref()),
        lambda: model.patch(gadget_ref(), {**gadget(), "status": {}}, "apply", "me", subresource="status"),
    ):
        error = failure(call)
        assert (error.code, error.reason) == (404, "NotFound")
        assert error.status()["details"] == {"name": "g", "group": "example.com", "kind": "gadgets"}


def test_the_generation_moves_with_the_spec_only(model: ApiModel) -> None:
    model.create(gadget(size=1), "me")
    labelled = model.patch(gadget_ref(), {"metadata": {"labels": {"a": "b"}}}, "merge", "me").object
    assert labelled["metadata"]["generation"] == 1
    status = {"status": {"ready": True}}
    told = model.patch(gadget_ref(), status, "merge", "me", subresource="status").object
    assert (told["metadata"]["generation"], told["status"]) == (1, {"ready": True})
    grown = model.patch(gadget_ref(), {"spec": {"size": 2}}, "merge", "me").object
    assert (grown["metadata"]["generation"], grown["status"]) == (2, {"ready": True})


def test_without_a_status_subresource_status_is_a_field_like_others(model: ApiModel) -> None:
    crd: dict[str, Any] = {**GADGET_CRD, "metadata": {"name": "gizmos.example.com"}}
    crd["spec"] = {**GADGET_CRD["spec"], "names": {"kind": "Gizmo", "plural": "gizmos"}}
    crd["spec"]["versions"] = [
        {key: value for key, value in GADGET_CRD["spec"]["versions"][0].items() if key != "subresources"}
    ]
    model.create(crd, "me")
    created = model.create({**gadget(size=1), "kind": "Gizmo", "status": {"n": 1}}, "me").object
    assert created["status"] == {"n": 1}
    ref = Ref("example.com", "Gizmo", "x", "g")
    changed = model.patch(ref, {"status": {"n": 2}}, "merge", "me").object
    assert (changed["status"], changed["metadata"]["generation"]) == ({"n": 2}, 2)
    error = failure(lambda: model.patch(ref, {"status": {"n": 3}}, "merge", "me", subresource="status"))
    assert error.code == 404


def test_status_and_spec_are_written_apart(model: ApiModel) -> None:
    model.create(gadget(size=1), "me")
    both = {**gadget(size=5), "status": {"ready": True}}
    assert "status" not in model.replace(both, "me").object
    through_status = model.replace({**both, "spec": {"size": 9}}, "me", subresource="status").object
    assert (through_status["spec"]["size"], through_status["status"]) == (5, {"ready": True})
    without = model.replace(gadget(size=5), "me", subresource="status").object
    assert "status" not in without


def test_core_kinds_of_old_have_no_generation(model: ApiModel) -> None:
    created = model.create(core("ConfigMap", "c", data={"a": "1"}), "me").object
    assert "generation" not in created["metadata"]
    assert "generation" not in model.replace(core("ConfigMap", "c", data={"a": "2"}), "me").object["metadata"]


def test_a_stale_resource_version_conflicts(model: ApiModel) -> None:
    first = model.create(gadget(size=1), "me").object
    model.patch(gadget_ref(), {"spec": {"size": 2}}, "merge", "other")
    error = failure(lambda: model.replace({**first, "spec": {"size": 3}}, "me"))
    assert (error.code, error.reason) == (409, "Conflict")
    patch = {"metadata": {"resourceVersion": first["metadata"]["resourceVersion"]}, "spec": {"size": 3}}
    assert failure(lambda: model.patch(gadget_ref(), patch, "merge", "me")).code == 409
    assert model.get(gadget_ref())["spec"]["size"] == 2


def test_another_uid_conflicts(model: ApiModel) -> None:
    model.create(gadget(), "me")
    raw = gadget()
    raw["metadata"]["uid"] = "uid-of-a-former-one"
    assert failure(lambda: model.replace(raw, "me")).code == 409


def test_an_update_that_changes_nothing_makes_no_version_and_no_change(model: ApiModel, clock: Clock) -> None:
    created = model.create(gadget(size=1), "me").object
    model.take_changes()
    clock.time = "2026-05-05T00:00:00Z"
    again = model.replace(gadget(size=1), "me")
    assert (again.changed, again.object) == (False, created)
    assert model.take_changes() == []
    assert model.resource_version == 1


def test_applying_the_same_again_changes_nothing(model: ApiModel, clock: Clock) -> None:
    first = model.patch(gadget_ref(), gadget(size=1), "apply", "me")
    clock.time = "2026-05-05T00:00:00Z"
    again = model.patch(gadget_ref(), gadget(size=1), "apply", "me")
    assert (first.created, again.created, again.changed) == (True, False, False)
    assert again.object == first.object


def test_changes_come_in_order_with_their_versions(model: ApiModel) -> None:
    model.create(gadget(size=1), "me")
    model.patch(gadget_ref(), {"spec": {"size": 2}}, "merge", "me")
    model.delete(gadget_ref())
    changes = model.take_changes()
    assert [(change.type, change.resource_version) for change in changes] == [
        ("ADDED", 1),
        ("MODIFIED", 2),
        ("DELETED", 3),
    ]
    assert changes[0].old is None
    assert changes[2].new is None
    assert changes[1].old is not None
    assert changes[1].new is not None
    assert (changes[1].old["spec"]["size"], changes[1].new["spec"]["size"]) == (1, 2)
    assert model.take_changes() == []


def test_a_wrong_field_is_422_with_its_path(model: ApiModel) -> None:
    error = failure(lambda: model.create(gadget(size=11), "me"))
    assert (error.code, error.reason) == (422, "Invalid")
    status = error.status()
    assert status["details"]["causes"] == [
        {
            "reason": "FieldValueInvalid",
            "message": "Invalid value: 11: spec.size in body should be less than or equal to 10",
            "field": "spec.size",
        }
    ]
    assert status["message"].startswith('Gadget.example.com "g" is invalid: spec.size: Invalid value: 11')


def test_unknown_fields_follow_the_field_validation(model: ApiModel) -> None:
    raw = gadget("g", colour="red")
    error = failure(lambda: model.create(raw, "me", field_validation="Strict"))
    assert error.code == 400
    assert 'strict decoding error: unknown field "spec.colour"' in error.message
    warned = model.create(raw, "me", field_validation="Warn")
    assert warned.warnings == ('unknown field "spec.colour"',)
    assert warned.object["spec"] == {"mode": "Fast"}
    ignored = model.create(gadget("h", colour="red"), "me", field_validation="Ignore")
    assert ignored.warnings == ()


def test_an_applied_unknown_field_is_warned_of_and_not_owned(model: ApiModel) -> None:
    written = model.patch(gadget_ref(), gadget(size=1, colour="red"), "apply", "me")
    assert written.warnings == ('unknown field "spec.colour"',)
    assert written.object["metadata"]["managedFields"][0]["fieldsV1"] == {"f:spec": {"f:size": {}}}
    strict = failure(lambda: model.patch(gadget_ref(), gadget(colour="red"), "apply", "me", field_validation="Strict"))
    assert strict.code == 400


def test_null_labels_in_what_is_applied_touch_no_labels_of_others(model: ApiModel) -> None:
    labelled = gadget(size=1)
    labelled["metadata"]["labels"] = {"team": "shop"}
    model.create(labelled, "shop")
    stated = gadget(names=["a"])
    stated["metadata"].update(labels=None, creationTimestamp=None)
    applied = model.patch(gadget_ref(), stated, "apply", "me").object
    assert applied["metadata"]["labels"] == {"team": "shop"}


def test_a_dry_run_answers_but_stores_nothing(model: ApiModel) -> None:
    assert model.create(gadget(size=1), "me", dry_run=True).object["spec"] == {"size": 1, "mode": "Fast"}
    assert model.find(gadget_ref()) is None
    model.create(gadget(size=1), "me")
    model.take_changes()
    assert model.patch(gadget_ref(), {"spec": {"size": 2}}, "merge", "me", dry_run=True).object["spec"]["size"] == 2
    assert model.patch(gadget_ref("new"), gadget("new"), "apply", "me", dry_run=True).created
    assert model.delete(gadget_ref(), dry_run=True).gone
    assert model.get(gadget_ref())["spec"]["size"] == 1
    assert (model.take_changes(), model.resource_version) == ([], 1)


def test_generate_name_makes_names_that_are_free_and_the_same_each_run() -> None:
    def names() -> list[str]:
        model, raw = new_model(), gadget()
        raw["metadata"] = {"generateName": "g-", "namespace": "x"}
        return [model.create(raw, "me").object["metadata"]["name"] for _ in range(20)]

    made = names()
    assert len(set(made)) == 20
    assert all(name.startswith("g-") and len(name) == 7 for name in made)
    assert names() == made


def test_an_object_is_read_and_written_in_any_served_version(model: ApiModel) -> None:
    created = model.create({**gadget(size=1), "apiVersion": "example.com/v1beta1"}, "me").object
    assert created["apiVersion"] == "example.com/v1beta1"
    assert model.get(gadget_ref())["apiVersion"] == "example.com/v1"
    assert model.get(gadget_ref(), "v1beta1")["apiVersion"] == "example.com/v1beta1"
    assert model.list(GADGET, version="v1beta1")[0]["apiVersion"] == "example.com/v1beta1"
    patched = model.patch(gadget_ref(), {"spec": {"size": 2}}, "merge", "me", version="v1beta1").object
    assert patched["apiVersion"] == "example.com/v1beta1"
    error = failure(lambda: model.create({**gadget("h"), "apiVersion": "example.com/v9"}, "me"))
    assert error.code == 400
    assert "v1, v1beta1" in error.message


def test_an_unknown_kind_is_kept_without_schema_and_with_status_apart(model: ApiModel) -> None:
    raw = {"apiVersion": "odd.test/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"any": [1]}}
    created = model.create({**raw, "status": {"x": 1}}, "me").object
    assert (created["spec"], "status" in created, created["metadata"]["generation"]) == ({"any": [1]}, False, 1)
    ref = Ref("odd.test", "Thing", "", "t")
    assert model.patch(ref, {"status": {"x": 1}}, "merge", "me", subresource="status").object["status"] == {"x": 1}


def test_lists_are_narrowed_by_namespace_and_selectors(model: ApiModel) -> None:
    for name, namespace, app in (("a", "x", "web"), ("b", "x", "db"), ("a", "y", "web")):
        raw = gadget(name, namespace)
        raw["metadata"]["labels"] = {"app": app}
        model.create(raw, "me")

    def found(**narrowed: Any) -> list[tuple[str, str]]:
        return [(raw["metadata"]["namespace"], raw["metadata"]["name"]) for raw in model.list(GADGET, **narrowed)]

    assert found() == [("x", "a"), ("x", "b"), ("y", "a")]
    assert found(namespace="x") == [("x", "a"), ("x", "b")]
    assert found(label_selector="app=web") == [("x", "a"), ("y", "a")]
    assert failure(lambda: found(label_selector="app in")).code == 400


def test_strategic_patches_are_for_built_in_kinds_only(model: ApiModel) -> None:
    model.create(gadget(), "me")
    assert failure(lambda: model.patch(gadget_ref(), {}, "strategic", "me")).code == 415
    model.create(core("Service", "s", spec={"ports": [{"port": 80, "name": "http"}]}), "me")
    patch = {"spec": {"ports": [{"port": 443, "name": "https"}]}}
    ports = model.patch(core_ref("Service", "s"), patch, "strategic", "me").object["spec"]["ports"]
    assert [port["port"] for port in ports] == [80, 443]


def test_a_json_patch_changes_an_object(model: ApiModel) -> None:
    model.create(gadget(names=["a"]), "me")
    operations = [{"op": "add", "path": "/spec/names/-", "value": "b"}]
    assert model.patch(gadget_ref(), operations, "json", "me").object["spec"]["names"] == ["a", "b"]
    assert failure(lambda: model.patch(gadget_ref(), [{"op": "x"}], "json", "me")).code == 400
    unfitting = [{"op": "test", "path": "/spec/names/0", "value": "z"}]
    refused = failure(lambda: model.patch(gadget_ref(), unfitting, "json", "me"))
    assert (refused.code, refused.reason, refused.causes[0].field) == (422, "Invalid", "patch")


@pytest.mark.parametrize(
    "patch",
    [{"metadata": {"name": "other"}}, {"kind": "Other"}, {"metadata": None}, ["x"], None],
)
def test_a_patch_cannot_make_another_object_of_it(model: ApiModel, patch: Any) -> None:
    model.create(gadget(), "me")
    assert failure(lambda: model.patch(gadget_ref(), patch, "merge", "me")).code == 400


def test_an_apply_conflict_is_409_with_a_cause_for_each_field(model: ApiModel) -> None:
    model.patch(gadget_ref(), gadget(size=1), "apply", "kubectl")
    error = failure(lambda: model.patch(gadget_ref(), gadget(size=2), "apply", "me"))
    assert (error.code, error.reason) == (409, "Conflict")
    assert [tuple(cause) for cause in error.causes] == [
        (".spec.size", "FieldManagerConflict", 'conflict with "kubectl" using example.com/v1')
    ]
    forced = model.patch(gadget_ref(), gadget(size=2), "apply", "me", force=True)
    assert forced.object["spec"]["size"] == 2


def test_status_is_applied_through_its_subresource(model: ApiModel) -> None:
    model.patch(gadget_ref(), gadget(size=1), "apply", "me")
    stated = {**gadget(size=9), "status": {"ready": True, "n": 1}}
    told = model.patch(gadget_ref(), stated, "apply", "me", subresource="status").object
    assert (told["spec"]["size"], told["status"]) == (1, {"ready": True, "n": 1})
    less = {**gadget(), "status": {"ready": True}}
    assert model.patch(gadget_ref(), less, "apply", "me", subresource="status").object["status"] == {"ready": True}
    assert model.patch(gadget_ref(), gadget(size=1), "apply", "me").object["status"] == {"ready": True}


def test_what_was_loaded_as_applied_goes_when_no_longer_applied(model: ApiModel) -> None:
    old = gadget(size=1, names=["a"])
    model.load(old, applied_by="me")
    assert model.take_changes() == []
    result = model.patch(gadget_ref(), gadget(size=1), "apply", "me").object
    assert result["spec"] == {"size": 1, "mode": "Fast"}


def test_what_was_loaded_is_as_it_was_found(model: ApiModel) -> None:
    raw = gadget(size=99, colour="red")
    model.load(raw)
    assert model.get(gadget_ref()) == raw
    identified = gadget("h")
    model.load(identified, identify=True)
    metadata = model.get(gadget_ref("h"))["metadata"]
    assert (metadata["uid"], metadata["generation"]) == ("uid-1", 1)


def test_what_has_a_generation_keeps_it_and_kinds_without_get_none(model: ApiModel) -> None:
    seen = gadget("h")
    seen["metadata"]["generation"] = 7
    model.load(seen, identify=True)
    assert model.get(gadget_ref("h"))["metadata"]["generation"] == 7
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"}}
    ref = model.load(service, identify=True)
    assert "generation" not in model.get(ref)["metadata"]


def test_versions_go_on_after_those_of_loaded_objects(model: ApiModel) -> None:
    raw = gadget()
    raw["metadata"]["resourceVersion"] = "41"
    model.load(raw)
    assert model.create(gadget("h"), "me").object["metadata"]["resourceVersion"] == "42"


def test_nobody_changes_what_is_stored_through_what_was_handed_in_or_out(model: ApiModel) -> None:
    raw = gadget(names=["a"])
    created = model.create(raw, "me").object
    listed, got, change = model.list(GADGET)[0], model.get(gadget_ref()), model.take_changes()[0].new
    assert change is not None
    for taken in (raw, created, listed, got, change):
        taken["spec"]["names"].append("changed")
        taken["metadata"]["labels"] = {"changed": "yes"}
    assert model.get(gadget_ref())["spec"]["names"] == ["a"]
    model.patch(gadget_ref(), {"spec": {"names": ["b"]}}, "merge", "me")
    assert got["spec"]["names"] == ["a", "changed"]


def test_a_namespace_must_be_there_where_that_is_asked_for() -> None:
    model = new_model(namespaces_must_exist=True)
    error = failure(lambda: model.create(gadget(), "me"))
    assert (error.code, error.message) == (404, 'namespaces "x" not found')
    model.create(core("Namespace", "x", ""), "me")
    assert model.create(gadget(), "me").created


def test_a_cluster_scoped_kind_takes_no_namespace(model: ApiModel) -> None:
    assert failure(lambda: model.create(core("Namespace", "n", "x"), "me")).code == 400


def test_a_namespaced_object_without_namespace_goes_to_default(model: ApiModel) -> None:
    assert model.create(core("ConfigMap", "c", ""), "me").object["metadata"]["namespace"] == "default"


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"name": "Upper"}, "metadata.name"),
        ({"name": "g", "labels": {"a": "not valid"}}, "metadata.labels"),
        ({"name": "g", "labels": {"a/b/c": "x"}}, "metadata.labels"),
        ({"name": "g", "labels": {"a": 1}}, "metadata.labels.a"),
        ({"name": "g", "annotations": {"-": "x"}}, "metadata.annotations"),
        ({"name": "g", "finalizers": ["no space "]}, "metadata.finalizers[0]"),
        (
            {"name": "g", "ownerReferences": [{"apiVersion": "v1", "kind": "A", "name": "a", "uid": ""}]},
            "metadata.ownerReferences[0].uid",
        ),
        (
            {"name": "g", "ownerReferences": [{"apiVersion": "v1", "kind": "A", "name": "a"}]},
            "metadata.ownerReferences[0].uid",
        ),
    ],
)
def test_wrong_metadata_is_told_with_its_field(model: ApiModel, metadata: Any, field: str) -> None:
    error = failure(lambda: model.create({**gadget(), "metadata": {**metadata, "namespace": "x"}}, "me"))
    assert error.code == 422
    assert field in [cause.field for cause in error.causes]


specs = st.fixed_dictionaries(
    {},
    optional={
        "size": st.integers(0, 10),
        "mode": st.sampled_from(["Fast", "Slow"]),
        "names": st.lists(st.sampled_from("ab"), max_size=2),
    },
)
edits = st.lists(st.tuples(st.sampled_from(["spec", "labels", "status"]), specs), max_size=6)


@given(edits=edits)
def test_the_generation_moves_if_and_only_if_the_stored_spec_changes(edits: list[tuple[str, Any]]) -> None:
    model = new_model()
    live = model.create(gadget(), "me").object
    for what, value in edits:
        if what == "spec":
            after = model.replace(gadget(**value), "me").object
        elif what == "status":
            after = model.replace({**gadget(), "status": value}, "me", subresource="status").object
        else:
            labels = {key: str(number) for number, key in enumerate(value)}
            after = model.patch(gadget_ref(), {"metadata": {"labels": labels}}, "merge", "me").object
        moved = after["metadata"]["generation"] - live["metadata"]["generation"]
        assert moved == (1 if after["spec"] != live["spec"] else 0)
        live = after


@given(edits=edits)
def test_a_version_is_made_if_and_only_if_a_change_is_told(edits: list[tuple[str, Any]]) -> None:
    model = new_model()
    model.create(gadget(), "me")
    model.take_changes()
    for _, value in edits:
        before = model.resource_version
        written = model.replace(gadget(**value), "me")
        changes = model.take_changes()
        assert model.resource_version - before == len(changes) == (1 if written.changed else 0)
