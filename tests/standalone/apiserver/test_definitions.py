"""The compact definitions agree with the published ones, and files with definitions are read or refused by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gatepost.standalone.apiserver.definitions import compact_crds, load_crds
from gatepost.standalone.apiserver.errors import InvalidDefinition

KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    "gateway.networking.k8s.io": {
        "GatewayClass": ("v1", "v1beta1"),
        "Gateway": ("v1", "v1beta1"),
        "ListenerSet": ("v1",),
        "HTTPRoute": ("v1", "v1beta1"),
        "GRPCRoute": ("v1",),
        "TLSRoute": ("v1", "v1alpha3", "v1alpha2"),
        "TCPRoute": ("v1", "v1alpha2"),
        "UDPRoute": ("v1", "v1alpha2"),
        "ReferenceGrant": ("v1", "v1beta1"),
        "BackendTLSPolicy": ("v1",),
    },
    "serving.knative.dev": {
        "Service": ("v1",),
        "Route": ("v1",),
        "Configuration": ("v1",),
        "Revision": ("v1",),
        "DomainMapping": ("v1beta1",),
    },
    "networking.internal.knative.dev": {
        "Ingress": ("v1alpha1",),
        "Certificate": ("v1alpha1",),
        "ClusterDomainClaim": ("v1alpha1",),
        "ServerlessService": ("v1alpha1",),
    },
    "externaldns.k8s.io": {"DNSEndpoint": ("v1alpha1",)},
}
# What decides how an object is stored and whether it is let in.
COMPARED = (
    "type",
    "format",
    "default",
    "enum",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "maxProperties",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
)
# The experimental channel alone has it, and only its alpha versions are compared with that channel.
ONLY_EXPERIMENTAL = {".spec.useDefaultGateways"}
BROKEN = """
apiVersion: v1
kind: Namespace
metadata: {name: passed-over}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec: {group: example.com, scope: Galaxy, names: {kind: Thing, plural: things}, versions: []}
"""


def differences(compact: Any, published: Any, path: str = "") -> Iterator[str]:
    for key in COMPARED:
        if compact.get(key) != published.get(key):
            yield f"{path or '.'}: {key} is {compact.get(key)!r}, published as {published.get(key)!r}"
    if set(compact.get("required", ())) != set(published.get("required", ())):
        yield f"{path or '.'}: requires {compact.get('required')}, published as {published.get('required')}"
    ours, theirs = compact.get("properties", {}), published.get("properties", {})
    if not compact.get("x-kubernetes-preserve-unknown-fields"):
        missing = {f"{path}.{name}" for name in theirs.keys() - ours.keys()} - ONLY_EXPERIMENTAL
        yield from (f"{field} is missing" for field in sorted(missing))
    for name, schema in ours.items():
        if name in theirs:
            yield from differences(schema, theirs[name], f"{path}.{name}")
        else:
            yield f"{path}.{name} is not published"
    for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(compact.get(key), dict):
            yield from differences(compact[key], published.get(key) or {}, path + mark)


ADDED = {"dnsendpoints.externaldns.k8s.io": (".status.conditions is not published",)}
"""Name of a definition -> what it has beyond the published one: gatepost tells a DNSEndpoint more (decision 0014)."""


def test_compact_definitions_cover_the_kinds_that_gatepost_uses() -> None:
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for crd in compact_crds():
        spec = crd["spec"]
        versions = tuple(version["name"] for version in spec["versions"] if version["served"])
        found.setdefault(spec["group"], {})[spec["names"]["kind"]] = versions
    assert found == KINDS


def test_compact_definitions_agree_with_the_published_ones(published_crds: Path) -> None:
    published: dict[tuple[str, str], Any] = {}
    # The standard channel comes last: where it serves a version, it is the one to agree with.
    for folder in ("gateway-api-experimental", "gateway-api-standard", "knative", "external-dns"):
        for crd in load_crds(published_crds / folder):
            for version in crd["spec"]["versions"]:
                if version["served"]:
                    published[crd["metadata"]["name"], version["name"]] = (crd["spec"], version)
    compared = 0
    for crd in compact_crds():
        name = crd["metadata"]["name"]
        for version in crd["spec"]["versions"]:
            spec, other = published[name, version["name"]]
            schemas = [one["schema"]["openAPIV3Schema"] for one in (version, other)]
            assert list(differences(*schemas)) == list(ADDED.get(name, ())), f"{name} {version['name']}"
            assert columns(version) == columns(other), f"{name} {version['name']}"
            assert version.get("subresources", {}) == other.get("subresources", {}), f"{name} {version['name']}"
            for key in ("storage", "deprecated"):
                assert version.get(key) == other.get(key), f"{name} {version['name']} {key}"
            assert crd["spec"]["scope"] == spec["scope"]
            for key in ("kind", "plural", "singular", "shortNames", "categories"):
                assert crd["spec"]["names"].get(key) == spec["names"].get(key), f"{name} {key}"
            compared += 1
    assert compared == sum(len(versions) for kinds in KINDS.values() for versions in kinds.values())


def columns(version: Any) -> list[tuple[str, str, str, int]]:
    return [
        (column["name"], column["type"], column["jsonPath"].replace('"', "'"), column.get("priority", 0))
        for column in version.get("additionalPrinterColumns", ())
    ]


def test_http_route_defaults_are_those_that_gateways_rely_on() -> None:
    (route,) = [crd for crd in compact_crds() if crd["spec"]["names"]["kind"] == "HTTPRoute"]
    spec = route["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    everything = [{"path": {"type": "PathPrefix", "value": "/"}}]
    assert spec["rules"]["default"] == [{"matches": everything}]
    rule = spec["rules"]["items"]["properties"]
    assert rule["matches"]["default"] == everything
    backend = rule["backendRefs"]["items"]["properties"]
    assert (backend["group"]["default"], backend["kind"]["default"], backend["weight"]["default"]) == ("", "Service", 1)
    parent = spec["parentRefs"]["items"]["properties"]
    assert (parent["group"]["default"], parent["kind"]["default"]) == ("gateway.networking.k8s.io", "Gateway")


def test_folder_is_read_with_its_subfolders_and_other_kinds_are_passed_over(tmp_path: Path) -> None:
    crd = BROKEN.replace("Galaxy", "Cluster").replace(
        "versions: []",
        "versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]",
    )
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "things.yaml").write_text(crd)
    (tmp_path / "notes.txt").write_text("no YAML: [")
    assert [found["metadata"]["name"] for found in load_crds(tmp_path)] == ["things.example.com"]


def test_broken_definition_is_named_with_file_and_document(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(BROKEN)
    with pytest.raises(InvalidDefinition, match=r"a\.yaml, document 2: .*spec\.scope: found 'Galaxy'"):
        load_crds(tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [", "document 1: is not YAML"),
        ("a: b\n---\n\tc: d\n", "document 2: is not YAML"),
        (
            "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\n",
            "document 1: apiVersion is 'apiextensions.k8s.io/v1beta1', wanted apiextensions.k8s.io/v1",
        ),
        ("kind: Namespace\n", "no CustomResourceDefinition in 1 YAML files"),
    ],
)
def test_file_without_a_usable_definition_is_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(InvalidDefinition, match=re.escape(told)):
        load_crds(tmp_path)


def test_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidDefinition, match=r"missing.* is not a folder"):
        load_crds(tmp_path / "missing")
