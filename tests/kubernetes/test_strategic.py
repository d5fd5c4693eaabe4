"""Strategic merge patches of built-in kinds."""

from __future__ import annotations

import pytest

from gatepost.kubernetes.core_schemas import POD, SERVICE
from gatepost.kubernetes.merge import BadPatch
from gatepost.kubernetes.strategic import strategic_patched

SERVICE_OBJECT = {
    "metadata": {"name": "web", "finalizers": ["a.test/x"], "labels": {"app": "web"}},
    "spec": {
        "type": "ClusterIP",
        "externalIPs": ["192.0.2.1"],
        "ports": [{"port": 80, "name": "http", "targetPort": 8080}, {"port": 443, "name": "https"}],
    },
}


def test_service_ports_merge_by_port() -> None:
    patch = {"spec": {"ports": [{"port": 443, "targetPort": 8443}, {"port": 9090, "name": "metrics"}]}}
    assert strategic_patched(SERVICE_OBJECT, patch, SERVICE)["spec"]["ports"] == [
        {"port": 80, "name": "http", "targetPort": 8080},
        {"port": 443, "name": "https", "targetPort": 8443},
        {"port": 9090, "name": "metrics"},
    ]


def test_an_item_with_patch_delete_goes() -> None:
    patch = {"spec": {"ports": [{"port": 80, "$patch": "delete"}]}}
    assert strategic_patched(SERVICE_OBJECT, patch, SERVICE)["spec"]["ports"] == [{"port": 443, "name": "https"}]


def test_a_list_with_patch_replace_is_replaced() -> None:
    patch = {"spec": {"ports": [{"$patch": "replace"}, {"port": 1}]}}
    assert strategic_patched(SERVICE_OBJECT, patch, SERVICE)["spec"]["ports"] == [{"port": 1}]


def test_a_mapping_with_patch_replace_is_replaced() -> None:
    patch = {"metadata": {"labels": {"$patch": "replace", "tier": "a"}}}
    assert strategic_patched(SERVICE_OBJECT, patch, SERVICE)["metadata"]["labels"] == {"tier": "a"}


def test_a_list_without_merge_strategy_is_replaced() -> None:
    patch = {"spec": {"externalIPs": ["192.0.2.9"]}}
    assert strategic_patched(SERVICE_OBJECT, patch, SERVICE)["spec"]["externalIPs"] == ["192.0.2.9"]


def test_finalizers_merge_as_a_set_and_leave_by_directive() -> None:
    added = strategic_patched(SERVICE_OBJECT, {"metadata": {"finalizers": ["b.test/y", "a.test/x"]}}, SERVICE)
    assert added["metadata"]["finalizers"] == ["a.test/x", "b.test/y"]
    left = strategic_patched(added, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a.test/x"]}}, SERVICE)
    assert left["metadata"]["finalizers"] == ["b.test/y"]


def test_null_removes_a_key() -> None:
    assert "labels" not in strategic_patched(SERVICE_OBJECT, {"metadata": {"labels": None}}, SERVICE)["metadata"]


def test_element_order_is_followed() -> None:
    patch = {
        "spec": {
            "$setElementOrder/ports": [{"port": 443}, {"port": 8}, {"port": 80}],
            "ports": [{"port": 8}],
        }
    }
    ports = strategic_patched(SERVICE_OBJECT, patch, SERVICE)["spec"]["ports"]
    assert [port["port"] for port in ports] == [443, 8, 80]


def test_element_order_alone_changes_no_item() -> None:
    patch = {"spec": {"$setElementOrder/ports": [{"port": 80}, {"port": 443}]}}
    assert strategic_patched(SERVICE_OBJECT, patch, SERVICE) == SERVICE_OBJECT


def test_containers_merge_by_name_and_env_inside_them() -> None:
    pod = {"spec": {"containers": [{"name": "a", "image": "x:1", "env": [{"name": "A", "value": "1"}]}]}}
    patch = {"spec": {"containers": [{"name": "a", "image": "x:2", "env": [{"name": "B", "value": "2"}]}]}}
    assert strategic_patched(pod, patch, POD)["spec"]["containers"] == [
        {"name": "a", "image": "x:2", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}
    ]


def test_retain_keys_drops_the_other_kind_of_volume() -> None:
    pod = {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}
    patch = {"spec": {"volumes": [{"name": "v", "$retainKeys": ["name", "secret"], "secret": {"secretName": "s"}}]}}
    assert strategic_patched(pod, patch, POD)["spec"]["volumes"] == [{"name": "v", "secret": {"secretName": "s"}}]


@pytest.mark.parametrize(
    ("patch", "told"),
    [
        ({"spec": {"ports": [{"name": "http"}]}}, "lacks that key"),
        ({"spec": {"$patch": "turn"}}, "wanted delete, replace or merge"),
        ([], "is a mapping"),
    ],
)
def test_a_patch_that_does_not_fit_is_told(patch: object, told: str) -> None:
    with pytest.raises(BadPatch, match=told):
        strategic_patched(SERVICE_OBJECT, patch, SERVICE)
