"""Deletion: finalizers, owners, namespaces, kinds."""

from __future__ import annotations

from typing import Any

import pytest
from kubernetes_model import GADGET_CRD, Clock, core, core_ref, gadget, gadget_ref, new_model

from gatepost.kubernetes.api import ApiError, ApiModel
from gatepost.objects.refs import GroupKind, Ref


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def model(clock: Clock) -> ApiModel:
    return new_model(clock)


def owned(raw: dict[str, Any], *owners: dict[str, Any], block: bool = False) -> dict[str, Any]:
    references = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            **({"blockOwnerDeletion": True} if block else {}),
        }
        for owner in owners
    ]
    return {**raw, "metadata": {**raw["metadata"], "ownerReferences": references}}


def with_finalizers(raw: dict[str, Any], *finalizers: str) -> dict[str, Any]:
    return {**raw, "metadata": {**raw["metadata"], "finalizers": list(finalizers)}}


def names(model: ApiModel) -> list[str]:
    return [raw["metadata"]["name"] for raw in model.list(GroupKind("example.com", "Gadget"))]


def test_an_object_without_finalizers_is_gone_at_once(model: ApiModel) -> None:
    model.create(gadget(), "me")
    assert model.delete(gadget_ref()).gone
    assert model.find(gadget_ref()) is None


def test_a_finalizer_keeps_the_object_until_it_is_removed(model: ApiModel, clock: Clock) -> None:
    model.create(with_finalizers(gadget(), "a.test/one", "a.test/two"), "me")
    clock.time = "2026-02-02T00:00:00Z"
    deleted = model.delete(gadget_ref())
    assert (deleted.gone, deleted.object["metadata"]["deletionTimestamp"]) == (False, "2026-02-02T00:00:00Z")
    model.take_changes()
    model.patch(gadget_ref(), {"metadata": {"finalizers": ["a.test/two"]}}, "merge", "me")
    assert model.find(gadget_ref()) is not None
    model.patch(gadget_ref(), {"metadata": {"finalizers": None}}, "merge", "me")
    assert model.find(gadget_ref()) is None
    assert [change.type for change in model.take_changes()] == ["MODIFIED", "DELETED"]


def test_a_loaded_object_in_deletion_that_nothing_holds_goes_with_what_it_owns(model: ApiModel) -> None:
    going = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    free, held, ends_soon = gadget("free"), gadget("held"), core("Pod", "ends-soon")
    free["metadata"] |= going | {"uid": "uid-of-free"}
    held["metadata"] |= going | {"finalizers": ["a.test/one"]}
    ends_soon["metadata"] |= going | {"deletionGracePeriodSeconds": 30}
    for raw in (free, held, ends_soon, owned(gadget("child"), free)):
        model.load(raw)
    model.collect_garbage()
    assert names(model) == ["held"]
    assert model.find(core_ref("Pod", "ends-soon")) is not None


def test_deleting_twice_keeps_the_first_time_and_makes_no_change(model: ApiModel, clock: Clock) -> None:
    model.create(with_finalizers(gadget(), "a.test/one"), "me")
    first = model.delete(gadget_ref()).object
    clock.time = "2026-02-02T00:00:00Z"
    model.take_changes()
    assert model.delete(gadget_ref()).object == first
    assert model.take_changes() == []


def test_no_finalizer_is_added_to_what_is_being_deleted(model: ApiModel) -> None:
    model.create(with_finalizers(gadget(), "a.test/one"), "me")
    model.delete(gadget_ref())
    with pytest.raises(ApiError) as told:
        model.patch(gadget_ref(), {"metadata": {"finalizers": ["a.test/one", "b.test/new"]}}, "merge", "me")
    assert (told.value.code, told.value.causes[0].field) == (422, "metadata.finalizers")


def test_a_writer_cannot_take_the_deletion_back(model: ApiModel) -> None:
    created = model.create(with_finalizers(gadget(), "a.test/one"), "me").object
    model.delete(gadget_ref())
    del created["metadata"]["resourceVersion"]
    assert "deletionTimestamp" in model.replace(created, "me").object["metadata"]


def test_preconditions_of_a_deletion_hold(model: ApiModel) -> None:
    created = model.create(gadget(), "me").object
    for options in ({"uid": "other"}, {"resource_version": "999"}):
        with pytest.raises(ApiError) as told:
            model.delete(gadget_ref(), **options)  # type: ignore[arg-type]
        assert told.value.code == 409
    metadata = created["metadata"]
    assert model.delete(gadget_ref(), metadata["uid"], metadata["resourceVersion"]).gone


def test_what_is_owned_follows_its_owner_down_the_chain(model: ApiModel) -> None:
    owner = model.create(gadget("owner"), "me").object
    child = model.create(owned(gadget("child"), owner), "me").object
    model.create(owned(gadget("grandchild"), child), "me")
    model.create(gadget("other"), "me")
    model.collect_garbage()
    assert names(model) == ["child", "grandchild", "other", "owner"]
    model.delete(gadget_ref("owner"))
    model.collect_garbage()
    assert names(model) == ["other"]


def test_an_object_with_an_owner_left_stays_and_loses_the_reference(model: ApiModel) -> None:
    one, two = model.create(gadget("one"), "me").object, model.create(gadget("two"), "me").object
    model.create(owned(gadget("child"), one, two), "me")
    model.delete(gadget_ref("one"))
    model.collect_garbage()
    left = model.get(gadget_ref("child"))["metadata"]["ownerReferences"]
    assert [reference["name"] for reference in left] == ["two"]
    model.delete(gadget_ref("two"))
    model.collect_garbage()
    assert names(model) == []


def test_an_owner_made_anew_under_the_same_name_is_another_owner(model: ApiModel) -> None:
    owner = model.create(gadget("owner"), "me").object
    model.create(owned(gadget("child"), owner), "me")
    model.delete(gadget_ref("owner"))
    model.create(gadget("owner"), "me")
    model.collect_garbage()
    assert names(model) == ["owner"]


def test_an_owner_that_was_never_there_keeps_its_dependents_unless_told_otherwise(model: ApiModel) -> None:
    stranger = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "uid": "never-seen"}}
    model.load(owned(gadget("child"), stranger))
    model.collect_garbage()
    assert names(model) == ["child"]
    model.collect_garbage(unknown_owners_are_gone=True)
    assert names(model) == []


def test_orphaned_dependents_stay_without_the_reference(model: ApiModel) -> None:
    owner = model.create(gadget("owner"), "me").object
    model.create(owned(gadget("child"), owner), "me")
    assert not model.delete(gadget_ref("owner"), propagation="Orphan").gone
    model.collect_garbage()
    assert names(model) == ["child"]
    assert "ownerReferences" not in model.get(gadget_ref("child"))["metadata"]


def test_in_the_foreground_the_owner_waits_for_what_blocks_it(model: ApiModel) -> None:
    owner = model.create(gadget("owner"), "me").object
    model.create(with_finalizers(owned(gadget("child"), owner, block=True), "a.test/one"), "me")
    deleted = model.delete(gadget_ref("owner"), propagation="Foreground")
    assert deleted.object["metadata"]["finalizers"] == ["foregroundDeletion"]
    model.collect_garbage()
    assert names(model) == ["child", "owner"]
    assert "deletionTimestamp" in model.get(gadget_ref("child"))["metadata"]
    model.patch(gadget_ref("child"), {"metadata": {"finalizers": None}}, "merge", "me")
    model.collect_garbage()
    assert names(model) == []


def test_a_namespace_goes_with_all_that_is_in_it() -> None:
    model = new_model(namespaces_must_exist=True)
    for name in ("x", "y"):
        model.create(core("Namespace", name, ""), "me")
        model.create(gadget("g", name), "me")
    deleted = model.delete(core_ref("Namespace", "x", ""))
    assert (deleted.gone, deleted.object["status"]["phase"]) == (False, "Terminating")
    model.collect_garbage()
    assert model.find(core_ref("Namespace", "x", "")) is None
    assert model.find(gadget_ref("g", "x")) is None
    assert model.find(gadget_ref("g", "y")) is not None


def test_a_namespace_waits_for_finalizers_in_it_and_takes_nothing_new(model: ApiModel) -> None:
    model.create(core("Namespace", "x", ""), "me")
    model.create(with_finalizers(gadget(), "a.test/one"), "me")
    model.delete(core_ref("Namespace", "x", ""))
    model.collect_garbage()
    assert model.find(core_ref("Namespace", "x", "")) is not None
    with pytest.raises(ApiError) as told:
        model.create(gadget("late"), "me")
    assert (told.value.code, told.value.causes[0].reason) == (403, "NamespaceTerminating")
    model.patch(gadget_ref(), {"metadata": {"finalizers": None}}, "merge", "me")
    model.collect_garbage()
    assert model.find(core_ref("Namespace", "x", "")) is None


def test_a_kind_comes_and_goes_with_its_crd() -> None:
    model = new_model()
    model.resources.remove(GroupKind("example.com", "Gadget"))
    crd = model.create(GADGET_CRD, "me").object
    assert {condition["type"]: condition["status"] for condition in crd["status"]["conditions"]} == {
        "NamesAccepted": "True",
        "Established": "True",
    }
    assert model.resources.at("example.com", "v1", "gadgets") is not None
    model.create(gadget(), "me")
    crd_ref = Ref("apiextensions.k8s.io", "CustomResourceDefinition", "", "gadgets.example.com")
    model.delete(crd_ref)
    model.collect_garbage()
    assert model.find(crd_ref) is None
    assert model.find(gadget_ref()) is None
    assert model.resources.at("example.com", "v1", "gadgets") is None


def test_a_changed_crd_changes_what_is_accepted(model: ApiModel) -> None:
    model.create(GADGET_CRD, "me")
    with pytest.raises(ApiError, match="less than or equal to 10"):
        model.create(gadget(size=11), "me")
    ref = Ref("apiextensions.k8s.io", "CustomResourceDefinition", "", "gadgets.example.com")
    path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/maximum"
    model.patch(ref, [{"op": "replace", "path": path, "value": 20}], "json", "me")
    assert model.create(gadget(size=11), "me").created


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"names": {"kind": "Gadget", "plural": "widgets"}}, "metadata.name"),
        ({"group": "other.test"}, "metadata.name"),
        ({"scope": "Galaxy"}, "spec.scope"),
        ({"versions": []}, "spec.versions"),
    ],
)
def test_a_crd_that_cannot_be_served_is_refused(model: ApiModel, changed: dict[str, Any], field: str) -> None:
    with pytest.raises(ApiError) as told:
        model.create({**GADGET_CRD, "spec": {**GADGET_CRD["spec"], **changed}}, "me")
    assert (told.value.code, told.value.causes[0].field) == (422, field)


def test_two_crds_cannot_share_a_kind(model: ApiModel) -> None:
    spec = {**GADGET_CRD["spec"], "names": {"kind": "Gadget", "plural": "gidgets"}}
    with pytest.raises(ApiError) as told:
        model.create({**GADGET_CRD, "metadata": {"name": "gidgets.example.com"}, "spec": spec}, "me")
    assert (told.value.code, told.value.causes[0].field) == (422, "spec.names.kind")
