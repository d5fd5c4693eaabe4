"""The kinds that an API serves: names, scope, versions with their schema, and how tables show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from gatepost.kubernetes.values import Raw, mapping_at
from gatepost.objects.refs import GroupKind, group_of, version_of


class PrinterColumn(Struct, frozen=True):
    """A column of `kubectl get`: `json_path` as in a CRD (".spec.url"), priority 0 is shown without `-o wide`."""

    name: str
    type: str
    json_path: str
    description: str = ""
    priority: int = 0
    format: str = ""


class Version(Struct, frozen=True, eq=False):
    """One version of a kind. `schema` is the structural OpenAPI schema as published; None accepts everything.

    `selectable_fields` are those that a field selector may name besides name and namespace: `spec.type`.
    """

    name: str
    served: bool = True
    storage: bool = True
    schema: Raw | None = None
    status_subresource: bool = False
    printer_columns: tuple[PrinterColumn, ...] = ()
    deprecation_warning: str = ""
    selectable_fields: tuple[str, ...] = ()


class Resource(Struct, frozen=True, eq=False):
    """A kind with everything a server must know about it.

    `has_generation` is False for the old core kinds, whose objects carry no metadata.generation. `custom` is True for
    kinds that come from a CustomResourceDefinition: they take no strategic merge patch.
    """

    group: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    versions: tuple[Version, ...]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    has_generation: bool = True
    custom: bool = False

    @property
    def group_kind(self) -> GroupKind:
        return GroupKind(self.group, self.kind)

    @property
    def list_kind(self) -> str:
        return f"{self.kind}List"

    @property
    def storage_version(self) -> Version:
        """The version in which objects are kept; the first one where none is marked."""
        return next((version for version in self.versions if version.storage), self.versions[0])

    @property
    def served_versions(self) -> tuple[Version, ...]:
        return tuple(version for version in self.versions if version.served)

    def selectable_in(self, version: Version) -> tuple[str, ...]:
        """The fields that a field selector may name in a version of the kind."""
        of_all = ("metadata.name", "metadata.namespace") if self.namespaced else ("metadata.name",)
        return (*of_all, *version.selectable_fields)

    def version(self, name: str) -> Version | None:
        """The version of that name, served or not; None if the kind has no such version."""
        return next((version for version in self.versions if version.name == name), None)


class Resources:
    """The table of kinds. Found by kind, or by group, version and plural as a URL names them."""

    def __init__(self, resources: Iterable[Resource] = ()) -> None:
        self._by_kind: dict[GroupKind, Resource] = {}
        for resource in resources:
            self.add(resource)

    def __iter__(self) -> Iterator[Resource]:
        """All of them, by group and plural."""
        return iter(sorted(self._by_kind.values(), key=lambda resource: (resource.group, resource.plural)))

    def __len__(self) -> int:
        return len(self._by_kind)

    def of(self, group_kind: GroupKind) -> Resource | None:
        return self._by_kind.get(group_kind)

    def at(self, group: str, version: str, plural: str) -> Resource | None:
        """The resource behind a URL, if that version of it is served."""
        for resource in self._by_kind.values():
            if resource.group == group and resource.plural == plural:
                found = resource.version(version)
                return resource if found is not None and found.served else None
        return None

    def of_object(self, raw: Raw) -> Resource:
        """The kind of an object; one that is not in the table is believed to be as `assumed_resource` says."""
        group_kind = GroupKind(group_of(str(raw.get("apiVersion", ""))), str(raw.get("kind", "")))
        return self._by_kind.get(group_kind) or assumed_resource(raw)

    def plural_of(self, group_kind: GroupKind) -> str:
        """The plural of a kind, in the table or not."""
        found = self._by_kind.get(group_kind)
        return found.plural if found is not None else assumed_plural(group_kind.kind)

    def add(self, resource: Resource) -> None:
        """Adds a kind that is not yet there.

        Raises: ValueError if the kind, or another kind with the same group and plural, is there already.
        """
        if resource.group_kind in self._by_kind:
            raise ValueError(f"kind {resource.group_kind} is already served; replace it instead")
        self._refuse_taken_plural(resource)
        self._by_kind[resource.group_kind] = resource

    def replace(self, resource: Resource) -> None:
        """Adds the kind, or takes the place of the one of that name.

        Raises: ValueError if another kind has the same group and plural.
        """
        self._refuse_taken_plural(resource)
        self._by_kind[resource.group_kind] = resource

    def remove(self, group_kind: GroupKind) -> Resource | None:
        """Takes the kind out; gives what was there."""
        return self._by_kind.pop(group_kind, None)

    def _refuse_taken_plural(self, resource: Resource) -> None:
        for other in self._by_kind.values():
            taken = other.group == resource.group and other.plural == resource.plural
            if taken and other.kind != resource.kind:
                raise ValueError(
                    f"kind {resource.group_kind}: plural {resource.plural!r} is taken by kind {other.group_kind}"
                )


def assumed_resource(raw: Raw) -> Resource:
    """What to believe of a kind that no resource describes: no schema, status apart, scope as the object has it."""
    kind = str(raw.get("kind", ""))
    api_version = str(raw.get("apiVersion", ""))
    namespaced = bool(mapping_at(raw, "metadata").get("namespace"))
    version = Version(name=version_of(api_version), status_subresource=True)
    return Resource(
        group=group_of(api_version),
        kind=kind,
        plural=assumed_plural(kind),
        singular=kind.lower(),
        namespaced=namespaced,
        versions=(version,),
        custom=True,
    )


def assumed_plural(kind: str) -> str:
    """The plural that kinds usually have: `gateways`, `ingresses`, `policies`."""
    lower = kind.lower()
    if lower.endswith("y") and lower[-2:-1] not in set("aeiou"):
        return lower[:-1] + "ies"
    if lower.endswith(("s", "x", "z", "ch", "sh")):
        return lower + "es"
    return lower + "s"


def in_version(raw: dict[str, Any], group: str, version: str) -> dict[str, Any]:
    """The object in another version of its kind: only apiVersion differs, the rest is shared with `raw`."""
    api_version = f"{group}/{version}" if group else version
    return raw if raw.get("apiVersion") == api_version else {**raw, "apiVersion": api_version}
