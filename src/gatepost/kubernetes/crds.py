"""CustomResourceDefinitions: read as a Resource, and given the status that a server gives them."""

from __future__ import annotations

from typing import Any

from gatepost.kubernetes.resources import PrinterColumn, Resource, Version, assumed_plural
from gatepost.kubernetes.values import Raw, copy_of, list_at, mapping_at
from gatepost.objects.refs import GroupKind

CRD = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")


class InvalidCrd(ValueError):
    """A CustomResourceDefinition that cannot be served; `field` is the path of the field that is wrong."""

    def __init__(self, name: str, field: str, why: str) -> None:
        super().__init__(f"CustomResourceDefinition {name}: {field}: {why}")
        self.field = field
        self.why = why


def resource_from_crd(raw: Raw) -> Resource:
    """The resource that a CustomResourceDefinition (apiextensions.k8s.io/v1) describes.

    Raises: InvalidCrd, a ValueError whose text names the CRD, the field, what was found and what is wanted.
    """
    name = str(mapping_at(raw, "metadata").get("name") or "(without a name)")
    spec = _mapping(name, raw, "spec", "spec")
    group = _text(name, spec, "group", "spec.group")
    names = _mapping(name, spec, "names", "spec.names")
    kind = _text(name, names, "kind", "spec.names.kind")
    plural = _text(name, names, "plural", "spec.names.plural")
    if name != f"{plural}.{group}":
        raise InvalidCrd(name, "metadata.name", f"must be spec.names.plural and spec.group, {plural}.{group}")
    scope = spec.get("scope")
    if scope not in ("Namespaced", "Cluster"):
        raise InvalidCrd(name, "spec.scope", f"found {scope!r}, wanted Namespaced or Cluster")
    return Resource(
        group=group,
        kind=kind,
        plural=plural,
        singular=str(names.get("singular") or kind.lower()),
        namespaced=scope == "Namespaced",
        versions=_versions(name, spec),
        short_names=tuple(str(short) for short in list_at(names, "shortNames")),
        categories=tuple(str(category) for category in list_at(names, "categories")),
        custom=True,
    )


def with_established_status(raw: Raw, now: str) -> Raw:
    """The CRD with accepted names, the stored versions and the conditions NamesAccepted and Established.

    Conditions that already say so keep their transition time; versions once stored stay listed.
    """
    spec = mapping_at(raw, "spec")
    status = copy_of(mapping_at(raw, "status"))
    names = copy_of(mapping_at(spec, "names"))
    kind = str(names.get("kind", ""))
    names.setdefault("singular", kind.lower())
    names.setdefault("listKind", f"{kind}List")
    stored = list_at(status, "storedVersions")
    for version in list_at(spec, "versions"):
        if version.get("storage") and version["name"] not in stored:
            stored = [*stored, version["name"]]
    conditions = [
        _true_condition(status, "NamesAccepted", "NoConflicts", "no conflicts found", now),
        _true_condition(status, "Established", "InitialNamesAccepted", "the initial names have been accepted", now),
    ]
    return {**raw, "status": {"acceptedNames": names, "conditions": conditions, "storedVersions": stored}}


def with_crd_defaults(raw: Raw) -> Raw:
    """The CRD with the names and the conversion strategy that a server fills in."""
    spec = mapping_at(raw, "spec")
    names = mapping_at(spec, "names")
    kind = names.get("kind")
    if not isinstance(kind, str) or not kind:
        return raw
    filled = {
        "plural": names.get("plural", assumed_plural(kind)),
        "singular": kind.lower(),
        "listKind": f"{kind}List",
        **names,
    }
    return {**raw, "spec": {**spec, "names": filled, "conversion": spec.get("conversion", {"strategy": "None"})}}


def _true_condition(status: Raw, type_: str, reason: str, message: str, now: str) -> Raw:
    since = now
    for condition in list_at(status, "conditions"):
        if condition.get("type") == type_ and condition.get("status") == "True":
            since = condition.get("lastTransitionTime", now)
    return {
        "type": type_,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": since,
    }


def _versions(name: str, spec: Raw) -> tuple[Version, ...]:
    listed = spec.get("versions")
    if not isinstance(listed, list) or not listed:
        raise InvalidCrd(name, "spec.versions", "must list at least one version")
    versions = tuple(_version(name, raw, f"spec.versions[{index}]") for index, raw in enumerate(listed))
    seen: set[str] = set()
    for index, version in enumerate(versions):
        if version.name in seen:
            raise InvalidCrd(name, f"spec.versions[{index}].name", f"{version.name!r} is listed twice")
        seen.add(version.name)
    stored = [version.name for version in versions if version.storage]
    if len(stored) != 1:
        found = ", ".join(stored) or "none"
        raise InvalidCrd(name, "spec.versions", f"exactly one must have storage: true, found {found}")
    return versions


def _version(name: str, raw: Any, field: str) -> Version:
    if not isinstance(raw, dict):
        raise InvalidCrd(name, field, f"found {raw!r}, wanted a mapping")
    version = _text(name, raw, "name", f"{field}.name")
    schema_field = f"{field}.schema.openAPIV3Schema"
    schema = _mapping(name, _mapping(name, raw, "schema", f"{field}.schema"), "openAPIV3Schema", schema_field)
    if schema.get("type") != "object":
        raise InvalidCrd(name, f"{schema_field}.type", f"found {schema.get('type')!r}, wanted object")
    warning = ""
    if raw.get("deprecated"):
        warning = str(raw.get("deprecationWarning") or f"{name} {version} is deprecated")
    return Version(
        name=version,
        served=bool(raw.get("served")),
        storage=bool(raw.get("storage")),
        schema=schema,
        status_subresource=isinstance(mapping_at(raw, "subresources").get("status"), dict),
        printer_columns=_printer_columns(name, raw, f"{field}.additionalPrinterColumns"),
        deprecation_warning=warning,
        selectable_fields=_selectable_fields(name, raw, f"{field}.selectableFields"),
    )


def _selectable_fields(name: str, version: Raw, field: str) -> tuple[str, ...]:
    fields = []
    for index, raw in enumerate(list_at(version, "selectableFields")):
        at = f"{field}[{index}]"
        if not isinstance(raw, dict):
            raise InvalidCrd(name, at, f"found {raw!r}, wanted a mapping")
        fields.append(_text(name, raw, "jsonPath", f"{at}.jsonPath").removeprefix("."))
    return tuple(fields)


def _printer_columns(name: str, version: Raw, field: str) -> tuple[PrinterColumn, ...]:
    columns = []
    for index, raw in enumerate(list_at(version, "additionalPrinterColumns")):
        at = f"{field}[{index}]"
        if not isinstance(raw, dict):
            raise InvalidCrd(name, at, f"found {raw!r}, wanted a mapping")
        columns.append(
            PrinterColumn(
                name=_text(name, raw, "name", f"{at}.name"),
                type=_text(name, raw, "type", f"{at}.type"),
                json_path=_text(name, raw, "jsonPath", f"{at}.jsonPath"),
                description=str(raw.get("description") or ""),
                priority=int(raw.get("priority") or 0),
                format=str(raw.get("format") or ""),
            )
        )
    if columns:
        return tuple(columns)
    return (PrinterColumn("Age", "date", ".metadata.creationTimestamp"),)


def _mapping(name: str, raw: Raw, key: str, field: str) -> Raw:
    found = raw.get(key)
    if not isinstance(found, dict):
        raise InvalidCrd(name, field, "is required" if found is None else f"found {found!r}, wanted a mapping")
    return found


def _text(name: str, raw: Raw, key: str, field: str) -> str:
    found = raw.get(key)
    if not isinstance(found, str) or not found:
        raise InvalidCrd(name, field, "is required" if found is None else f"found {found!r}, wanted a text")
    return found
