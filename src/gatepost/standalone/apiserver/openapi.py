"""OpenAPI v3 documents: what `kubectl explain` shows, and what `kubectl apply` and `create` look up before they write.

kubectl refuses to write when a kind has no PATCH operation with the query parameters `fieldValidation` and `dryRun`.
Strategic merge patch is left out of the request bodies on purpose: kubectl then merges the core kinds by the rules
built into it instead of by patch strategies in these schemas.
Source: kubernetes.io/docs/concepts/overview/kubernetes-api, "OpenAPI V3".
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from gatepost.kubernetes.resources import Resource, Resources, Version
from gatepost.kubernetes.values import Raw
from gatepost.objects.refs import api_version_of
from gatepost.standalone.apiserver.discovery import groups_of, versions_of

_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_OBJECT_META = f"{_META}.ObjectMeta"
_LIST_META = f"{_META}.ListMeta"
_PATCHES = ("application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json")


def _text(description: str, **more: Any) -> Raw:
    return {"type": "string", "description": description, **more}


def _texts(description: str) -> Raw:
    return {"type": "object", "description": description, "additionalProperties": {"type": "string"}}


_METADATA_SCHEMAS: Raw = {
    _OBJECT_META: {
        "type": "object",
        "description": "What every object carries: its name, labels, owners and history.",
        "properties": {
            "annotations": _texts("Free notes of tools and people; not selected by."),
            "creationTimestamp": _text("When the server created the object.", format="date-time"),
            "deletionGracePeriodSeconds": {"type": "integer", "format": "int64"},
            "deletionTimestamp": _text("When deletion was asked for; finalizers hold it off.", format="date-time"),
            "finalizers": {"type": "array", "items": {"type": "string"}},
            "generateName": _text("Prefix from which the server makes a unique name."),
            "generation": {"type": "integer", "format": "int64", "description": "Rises with each change of the spec."},
            "labels": _texts("Keys and values that selectors match."),
            "managedFields": {"type": "array", "items": {"type": "object"}},
            "name": _text("Unique among objects of the kind in the namespace."),
            "namespace": _text("The namespace of the object."),
            "ownerReferences": {
                "type": "array",
                "description": "Owners; when the last of them is gone, this object goes too.",
                "items": {
                    "type": "object",
                    "required": ["apiVersion", "kind", "name", "uid"],
                    "properties": {
                        "apiVersion": {"type": "string"},
                        "blockOwnerDeletion": {"type": "boolean"},
                        "controller": {"type": "boolean"},
                        "kind": {"type": "string"},
                        "name": {"type": "string"},
                        "uid": {"type": "string"},
                    },
                },
            },
            "resourceVersion": _text("Changes with each write; give it back to write only what you have read."),
            "selfLink": {"type": "string"},
            "uid": _text("Unique over space and time."),
        },
    },
    _LIST_META: {
        "type": "object",
        "properties": {
            "continue": _text("Token for the next page."),
            "remainingItemCount": {"type": "integer", "format": "int64"},
            "resourceVersion": _text("From where to watch for changes."),
        },
    },
}


def index(resources: Resources) -> Raw:
    """The answer to /openapi/v3: where the document of each group version is, with a hash that changes with it."""
    served = [("", version) for version in versions_of(resources, "")]
    served += [(group, version) for group in groups_of(resources) for version in versions_of(resources, group)]
    paths: Raw = {}
    for group, version in served:
        place = f"apis/{group}/{version}" if group else f"api/{version}"
        content = msgspec.json.encode(document(resources, group, version))
        digest = hashlib.sha256(content).hexdigest()[:32].upper()
        paths[place] = {"serverRelativeURL": f"/openapi/v3/{place}?hash={digest}"}
    return {"paths": paths}


def document(resources: Resources, group: str, version: str) -> Raw | None:
    """The document of one group version: components and operations of its kinds; None if nothing is served there."""
    paths: Raw = {}
    schemas: Raw = dict(_METADATA_SCHEMAS)
    for resource in resources:
        served = resource.version(version) if resource.group == group else None
        if served is None or not served.served:
            continue
        name = _component(group, version, resource.kind)
        schemas[name] = _schema(resource, served)
        schemas[f"{name}List"] = _list_schema(resource, version, name)
        paths.update(_paths(resource, served, name))
    if not paths:
        return None
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _component(group: str, version: str, kind: str) -> str:
    reversed_group = ".".join(reversed(group.split("."))) if group else "io.k8s.api.core"
    return f"{reversed_group}.{version}.{kind}"


def _group_version_kind(resource: Resource, version: str) -> Raw:
    return {"group": resource.group, "version": version, "kind": resource.kind}


def _ref(component: str) -> Raw:
    return {"$ref": f"#/components/schemas/{component}"}


def _schema(resource: Resource, served: Version) -> Raw:
    schema = dict(served.schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    properties = dict(schema.get("properties") or {})
    properties["apiVersion"] = _text("Group and version of this form of the object.")
    properties["kind"] = _text("The kind of the object.")
    properties["metadata"] = {"allOf": [_ref(_OBJECT_META)], "default": {}}
    schema["properties"] = properties
    schema.setdefault("description", f"{resource.kind} of {api_version_of(resource.group, served.name)}")
    schema["x-kubernetes-group-version-kind"] = [_group_version_kind(resource, served.name)]
    return schema


def _list_schema(resource: Resource, version: str, component: str) -> Raw:
    list_kind = {"group": resource.group, "version": version, "kind": resource.list_kind}
    return {
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "items": {"type": "array", "items": _ref(component)},
            "metadata": _ref(_LIST_META),
        },
        "x-kubernetes-group-version-kind": [list_kind],
    }


def _paths(resource: Resource, served: Version, component: str) -> Raw:
    root = f"/apis/{resource.group}/{served.name}" if resource.group else f"/api/{served.name}"
    within = "/namespaces/{namespace}" if resource.namespaced else ""
    collection = f"{root}{within}/{resource.plural}"
    kind = _group_version_kind(resource, served.name)
    paths: Raw = {
        collection: {
            "get": _operation("list", kind, f"{component}List"),
            "post": _operation("post", kind, component, body=("application/json", "application/yaml")),
            "delete": _operation("deletecollection", kind, ""),
        },
        f"{collection}/{{name}}": _object_operations(kind, component),
    }
    if resource.namespaced:
        paths[f"{root}/{resource.plural}"] = {"get": _operation("list", kind, f"{component}List")}
    if served.status_subresource:
        operations = _object_operations(kind, component)
        del operations["delete"]
        paths[f"{collection}/{{name}}/status"] = operations
    return paths


def _object_operations(kind: Raw, component: str) -> Raw:
    return {
        "get": _operation("get", kind, component),
        "put": _operation("put", kind, component, body=("application/json", "application/yaml")),
        "patch": _operation("patch", kind, component, body=_PATCHES),
        "delete": _operation("delete", kind, ""),
    }


def _operation(action: str, kind: Raw, component: str, body: tuple[str, ...] = ()) -> Raw:
    answer = {"schema": _ref(component)} if component else {}
    operation: Raw = {
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": kind,
        "parameters": _parameters(action),
        "responses": {"200": {"description": "OK", "content": {"application/json": answer}}},
    }
    if body:
        sent = {"schema": {"type": "object"} if action == "patch" else _ref(component)}
        operation["requestBody"] = {"required": True, "content": dict.fromkeys(body, sent)}
    return operation


def _parameters(action: str) -> list[Raw]:
    names = {
        "post": ("dryRun", "fieldManager", "fieldValidation"),
        "put": ("dryRun", "fieldManager", "fieldValidation"),
        "patch": ("dryRun", "fieldManager", "fieldValidation", "force"),
        "delete": ("dryRun", "gracePeriodSeconds", "propagationPolicy"),
        "deletecollection": ("dryRun", "fieldSelector", "labelSelector"),
        "list": ("continue", "fieldSelector", "labelSelector", "limit", "resourceVersion", "timeoutSeconds", "watch"),
    }.get(action, ())
    return [{"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}} for name in names]
