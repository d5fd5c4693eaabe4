"""How gatepost names a kind and an object of it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class GroupKind(Struct, frozen=True, gc=False, order=True):
    """A kind of the Kubernetes API, whatever its version: `group` is "" for the core group."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


class Ref(Struct, frozen=True, gc=False, order=True):
    """Names one object: kind, namespace ("" for cluster-scoped kinds) and name. The version plays no part."""

    group: str
    kind: str
    namespace: str
    name: str

    @property
    def group_kind(self) -> GroupKind:
        return GroupKind(self.group, self.kind)

    def __str__(self) -> str:
        """As people write it: `DomainMapping shop/app.example.com`."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


def group_of(api_version: str) -> str:
    """The group in an apiVersion: "" for "v1", "apps" for "apps/v1"."""
    group, slash, _ = api_version.rpartition("/")
    return group if slash else ""


def version_of(api_version: str) -> str:
    """The version in an apiVersion: "v1" for "v1" and for "apps/v1"."""
    return api_version.rpartition("/")[2]


def api_version_of(group: str, version: str) -> str:
    """The apiVersion of a group and version, the way manifests write it."""
    return f"{group}/{version}" if group else version


def ref_of(raw: Any) -> Ref:
    """The Ref of an object in its raw form (a mapping as read from YAML or JSON).

    Raises: KeyError if `apiVersion`, `kind` or `metadata.name` is missing.
    """
    metadata = raw["metadata"]
    return Ref(group_of(raw["apiVersion"]), raw["kind"], metadata.get("namespace") or "", metadata["name"])
