"""The table of kinds, and CustomResourceDefinitions as kinds."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from gatepost.kubernetes.builtin import builtin_resources
from gatepost.kubernetes.crds import InvalidCrd, resource_from_crd, with_established_status
from gatepost.kubernetes.resources import PrinterColumn, Resource, Resources, Version, assumed_resource
from gatepost.objects.refs import GroupKind

CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {
            "kind": "Gadget",
            "plural": "gadgets",
            "singular": "gadget",
            "shortNames": ["gd"],
            "categories": ["all"],
        },
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
                "subresources": {"status": {}},
                "additionalPrinterColumns": [{"name": "Ready", "type": "string", "jsonPath": ".status.ready"}],
            },
            {
                "name": "v1beta1",
                "served": False,
                "storage": False,
                "deprecated": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            },
        ],
    },
}


def test_a_crd_becomes_a_resource() -> None:
    resource = resource_from_crd(CRD)
    v1, v1beta1 = resource.versions
    assert (resource.group, resource.kind, resource.plural, resource.singular) == (
        "example.com",
        "Gadget",
        "gadgets",
        "gadget",
    )
    assert (resource.namespaced, resource.short_names, resource.categories) == (True, ("gd",), ("all",))
    assert (v1.name, v1.served, v1.storage, v1.status_subresource) == ("v1", True, True, True)
    assert v1.printer_columns == (PrinterColumn("Ready", "string", ".status.ready"),)
    assert (v1beta1.served, v1beta1.status_subresource) == (False, False)
    assert resource.storage_version is v1
    assert resource.served_versions == (v1,)


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (("spec", "group"), None, "spec.group"),
        (("spec", "names", "kind"), 7, "spec.names.kind"),
        (("spec", "scope"), "Galaxy", "spec.scope"),
        (("spec", "versions"), [], "spec.versions"),
        (("spec", "versions", 0, "name"), None, "spec.versions[0].name"),
        (("spec", "versions", 0, "schema"), None, "spec.versions[0].schema"),
        (("spec", "versions", 1, "storage"), True, "spec.versions"),
        (("spec", "versions", 1, "name"), "v1", "spec.versions[1].name"),
        (("metadata", "name"), "other.example.com", "metadata.name"),
    ],
)
def test_a_crd_that_cannot_be_served_is_told_with_its_field(path: tuple[Any, ...], value: Any, field: str) -> None:
    crd = copy.deepcopy(CRD)
    node: Any = crd
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    with pytest.raises(InvalidCrd) as told:
        resource_from_crd(crd)
    assert told.value.field == field
    assert field in str(told.value)


def test_established_status_keeps_its_transition_time() -> None:
    first = with_established_status(CRD, "2026-01-01T00:00:00Z")
    again = with_established_status(first, "2026-02-02T00:00:00Z")
    assert again == first
    assert first["status"]["storedVersions"] == ["v1"]
    assert [condition["type"] for condition in first["status"]["conditions"]] == [
        "NamesAccepted",
        "Established",
    ]


def test_a_resource_is_found_by_kind_and_by_url() -> None:
    table = builtin_resources()
    slices = table.of(GroupKind("discovery.k8s.io", "EndpointSlice"))
    assert slices is not None
    assert table.at("discovery.k8s.io", "v1", "endpointslices") is slices
    assert table.at("discovery.k8s.io", "v1beta1", "endpointslices") is None
    assert table.at("", "v1", "gadgets") is None


def test_a_version_that_is_not_served_is_not_found_by_url() -> None:
    table = Resources([resource_from_crd(CRD)])
    assert table.at("example.com", "v1", "gadgets") is not None
    assert table.at("example.com", "v1beta1", "gadgets") is None


def test_a_kind_is_added_once_and_a_plural_taken_once() -> None:
    table = Resources([resource_from_crd(CRD)])
    with pytest.raises(ValueError, match="already served"):
        table.add(resource_from_crd(CRD))
    other = Resource("example.com", "Gizmo", "gadgets", "gizmo", True, (Version("v1"),))
    with pytest.raises(ValueError, match=r"Gadget\.example\.com"):
        table.add(other)


def test_a_removed_kind_is_gone() -> None:
    table = Resources([resource_from_crd(CRD)])
    assert table.remove(GroupKind("example.com", "Gadget")) is not None
    assert list(table) == []


@pytest.mark.parametrize(
    ("kind", "plural"),
    [("Gateway", "gateways"), ("Ingress", "ingresses"), ("BackendTLSPolicy", "backendtlspolicies")],
)
def test_an_unknown_kind_gets_the_usual_plural(kind: str, plural: str) -> None:
    assert assumed_resource({"apiVersion": "a.b/v1", "kind": kind}).plural == plural


def test_an_unknown_kind_has_the_scope_of_the_object() -> None:
    raw = {"apiVersion": "a.b/v1", "kind": "Thing", "metadata": {"name": "x"}}
    assert assumed_resource(raw).namespaced is False
    assert assumed_resource({**raw, "metadata": {"name": "x", "namespace": "n"}}).namespaced is True
