"""Server-side apply: who owns what, what goes, what conflicts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.kubernetes.apply import ApplyConflict, applied, merged, merged_over
from gatepost.kubernetes.core_schemas import SERVICE
from gatepost.kubernetes.fields import fields_of, from_fields_v1, to_fields_v1
from gatepost.kubernetes.managed_fields import (
    APPLY,
    UPDATE,
    Manager,
    managers_of,
    updated_managers,
    with_managers,
)

Raw = dict[str, Any]


def manager(name: str, operation: str = APPLY, time: str = "2026-01-01T00:00:00Z") -> Manager:
    return Manager(name, operation, "", "v1", time, frozenset())


def service(**spec: Any) -> Raw:
    raw: Raw = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "x"}}
    return {**raw, "spec": spec} if spec else raw


def apply(live: Raw | None, stated: Raw, name: str = "one", *, force: bool = False) -> Raw:
    return applied(live, stated, manager(name), SERVICE, force=force, status_apart=True)


def update(live: Raw, new: Raw, name: str = "editor") -> Raw:
    return with_managers(new, updated_managers(live, new, manager(name, UPDATE), SERVICE))


def owners(raw: Raw) -> dict[str, Any]:
    return {entry["manager"]: entry["fieldsV1"] for entry in raw["metadata"].get("managedFields", [])}


def test_what_is_applied_first_is_the_object() -> None:
    result = apply(None, service(type="ClusterIP", ports=[{"port": 80}]))
    assert result["spec"] == {"type": "ClusterIP", "ports": [{"port": 80}]}
    assert owners(result) == {
        "one": {
            "f:spec": {
                "f:type": {},
                "f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}}},
            }
        }
    }


def test_a_field_no_longer_applied_goes() -> None:
    first = apply(None, service(type="ClusterIP", externalName="a.test"))
    assert apply(first, service(type="ClusterIP"))["spec"] == {"type": "ClusterIP"}


def test_a_field_no_longer_applied_stays_while_another_manager_applies_it() -> None:
    both = apply(apply(None, service(type="ClusterIP")), service(type="ClusterIP"), "two")
    left = apply(both, service(), "one")
    assert left["spec"] == {"type": "ClusterIP"}
    assert list(owners(left)) == ["two"]
    assert "type" not in apply(left, service(), "two").get("spec", {})


def test_what_another_manager_owns_is_not_touched() -> None:
    first = apply(None, service(type="ClusterIP"))
    second = apply(first, service(ports=[{"port": 443}]), "two")
    assert second["spec"] == {"type": "ClusterIP", "ports": [{"port": 443}]}
    assert apply(second, service(type="ClusterIP"))["spec"] == second["spec"]


def test_items_of_a_keyed_list_have_their_own_owners() -> None:
    first = apply(None, service(ports=[{"port": 80, "name": "http"}]))
    both = apply(first, service(ports=[{"port": 443, "name": "https"}]), "two")
    assert [port["port"] for port in both["spec"]["ports"]] == [80, 443]
    left = apply(both, service(ports=[]), "one")
    assert left["spec"]["ports"] == [{"port": 443, "name": "https"}]


def test_another_value_for_an_owned_field_conflicts_and_names_manager_and_field() -> None:
    first = apply(None, service(type="ClusterIP", ports=[{"port": 80, "name": "http"}]), "kubectl")
    with pytest.raises(ApplyConflict) as told:
        apply(first, service(type="NodePort", ports=[{"port": 80, "name": "web"}]), "two")
    assert [(conflict.who, conflict.field) for conflict in told.value.conflicts] == [
        ('conflict with "kubectl" using v1', '.spec.ports[port=80,protocol="TCP"].name'),
        ('conflict with "kubectl" using v1', ".spec.type"),
    ]


def test_force_takes_the_field_from_its_owner() -> None:
    first = apply(None, service(type="ClusterIP", externalName="a.test"), "kubectl")
    forced = apply(first, service(type="NodePort"), "two", force=True)
    assert forced["spec"] == {"type": "NodePort", "externalName": "a.test"}
    assert owners(forced) == {
        "kubectl": {"f:spec": {"f:externalName": {}}},
        "two": {"f:spec": {"f:type": {}}},
    }


def test_the_same_value_is_shared_without_conflict() -> None:
    shared = apply(apply(None, service(type="ClusterIP"), "kubectl"), service(type="ClusterIP"), "two")
    assert owners(shared) == {
        "kubectl": {"f:spec": {"f:type": {}}},
        "two": {"f:spec": {"f:type": {}}},
    }


def test_an_update_owns_what_it_changed_and_its_owner_loses_it() -> None:
    first = apply(None, service(type="ClusterIP", externalName="a.test"))
    changed = update(first, {**first, "spec": {"type": "NodePort", "externalName": "a.test"}})
    assert owners(changed) == {
        "editor": {"f:spec": {"f:type": {}}},
        "one": {"f:spec": {"f:externalName": {}}},
    }


def test_a_field_changed_by_an_update_conflicts_with_the_next_apply() -> None:
    first = apply(None, service(type="ClusterIP"))
    changed = update(first, {**first, "spec": {"type": "NodePort"}})
    with pytest.raises(ApplyConflict, match='"editor"'):
        apply(changed, service(type="ClusterIP"))


def test_a_field_removed_by_an_update_has_no_owner_left() -> None:
    first = apply(None, service(type="ClusterIP", externalName="a.test"))
    changed = update(first, {**first, "spec": {"type": "ClusterIP"}})
    assert owners(changed) == {"one": {"f:spec": {"f:type": {}}}}


def test_an_object_without_managers_is_not_changed_unasked() -> None:
    with pytest.raises(ApplyConflict, match="before-first-apply"):
        apply(service(type="ClusterIP"), service(type="NodePort"))
    assert apply(service(type="ClusterIP"), service(type="NodePort"), force=True)["spec"] == {"type": "NodePort"}


def test_the_time_of_a_manager_stays_while_its_fields_do() -> None:
    first = apply(None, service(type="ClusterIP"))
    later = applied(
        first,
        service(type="ClusterIP"),
        manager("one", time="2026-09-09T00:00:00Z"),
        SERVICE,
        force=False,
        status_apart=True,
    )
    assert later == first


def test_the_last_label_takes_the_labels_along() -> None:
    labelled = service(type="ClusterIP")
    labelled["metadata"]["labels"] = {"app": "web"}
    first = apply(None, labelled)
    assert "labels" not in apply(first, service(type="ClusterIP"))["metadata"]


def test_an_empty_mapping_that_is_applied_stays() -> None:
    stated = service(sessionAffinityConfig={})
    assert apply(apply(None, stated), stated)["spec"] == {"sessionAffinityConfig": {}}
    assert "spec" not in apply(apply(None, stated), service())


def test_status_is_not_owned_through_the_object_itself() -> None:
    stated = {**service(type="ClusterIP"), "status": {"loadBalancer": {}}}
    assert owners(apply(None, stated)) == {"one": {"f:spec": {"f:type": {}}}}


def test_items_come_in_the_order_applied_and_the_others_keep_their_place() -> None:
    schema = {
        "type": "array",
        "items": {"type": "object"},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["n"],
    }
    live = [{"n": "a"}, {"n": "b"}, {"n": "c"}]
    assert merged(live, [{"n": "b", "x": 1}, {"n": "a"}, {"n": "d"}], schema) == [
        {"n": "b", "x": 1},
        {"n": "c"},
        {"n": "a"},
        {"n": "d"},
    ]


def test_without_any_record_only_what_was_stated_before_goes() -> None:
    live = {"spec": {"mine": 1, "foreign": 2}}
    previously = fields_of({"spec": {"mine": 1}}, None)
    assert merged_over(live, {"spec": {"new": 3}}, previously, frozenset(), None) == {"spec": {"foreign": 2, "new": 3}}
    assert merged_over(live, {"spec": {"new": 3}}, frozenset(), frozenset(), None) == {
        "spec": {"mine": 1, "foreign": 2, "new": 3}
    }


def test_an_atomic_list_is_replaced_as_a_whole() -> None:
    schema = {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "string"}}}}
    assert merged({"list": ["a", "b"]}, {"list": ["c"]}, schema) == {"list": ["c"]}


def test_fields_v1_is_read_whatever_the_order_of_keys_in_it() -> None:
    foreign: Raw = {"f:spec": {"f:ports": {'k:{"protocol":"TCP", "port":80}': {".": {}, "f:name": {}}}}}
    step = 'k:{"port":80,"protocol":"TCP"}'
    assert from_fields_v1(foreign) == {
        ("f:spec", "f:ports", step),
        ("f:spec", "f:ports", step, "f:name"),
    }


ports = st.lists(
    st.fixed_dictionaries(
        {"port": st.sampled_from([80, 443, 8080])},
        optional={"name": st.sampled_from("ab"), "protocol": st.sampled_from(["TCP", "UDP"])},
    ),
    max_size=3,
    unique_by=lambda port: (port["port"], port.get("protocol", "TCP")),
)
specs = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["ClusterIP", "NodePort"]),
        "selector": st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy"), max_size=2),
        "ports": ports,
        "externalIPs": st.lists(st.sampled_from(["192.0.2.1", "192.0.2.2"]), max_size=2),
    },
)


@given(one=specs, two=specs)
def test_applying_twice_changes_nothing(one: Raw, two: Raw) -> None:
    live = apply(apply(None, service(**one), "one"), service(**two), "two", force=True)
    assert apply(live, service(**two), "two") == live


@given(one=specs, two=specs)
def test_an_applied_object_holds_what_was_stated_whatever_was_there(one: Raw, two: Raw) -> None:
    spec = apply(apply(None, service(**one), "one"), service(**two), "two", force=True).get("spec", {})
    for key, value in two.items():
        if key == "ports":
            for port in value:
                key_of = (port["port"], port.get("protocol", "TCP"))
                found = [item for item in spec["ports"] if (item["port"], item.get("protocol", "TCP")) == key_of]
                assert len(found) == 1
                assert found[0].items() >= port.items()
        else:
            assert spec[key] == value


@given(one=specs, two=specs, three=specs)
def test_the_only_manager_leaves_exactly_what_it_stated_last(one: Raw, two: Raw, three: Raw) -> None:
    live = apply(None, service(**one))
    for spec in (two, three):
        live = apply(live, service(**spec))
    alone = apply(None, service(**three))
    assert live.get("spec", {}) == alone.get("spec", {})


@given(spec=specs)
def test_fields_survive_the_nested_form(spec: Raw) -> None:
    fields = fields_of(service(**spec), SERVICE)
    assert from_fields_v1(to_fields_v1(fields)) == fields


@given(one=specs, two=specs)
def test_managers_survive_the_object(one: Raw, two: Raw) -> None:
    live = apply(apply(None, service(**one), "one"), service(**two), "two", force=True)
    assert with_managers(live, managers_of(live)) == live
