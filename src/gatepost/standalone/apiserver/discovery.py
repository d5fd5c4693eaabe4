"""Which kinds are served: the answers under /api and /apis.

Aggregated discovery gives all of it in two answers; the older form has an answer per group and version.
Source: kubernetes.io/docs/concepts/overview/kubernetes-api, "Discovery API".
"""

from __future__ import annotations

import re
from typing import Any

from gatepost.kubernetes.resources import Resource, Resources, Version
from gatepost.kubernetes.values import Raw
from gatepost.objects.refs import api_version_of

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
STATUS_VERBS = ("get", "patch", "update")

_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")


def version_priority(version: str) -> tuple[int, int, int, str]:
    """Sorts versions the way clients prefer them: v2, v1, v1beta2, v1beta1, v1alpha1, then anything else by name.

    Source: CustomResourceDefinition, "Version priority".
    """
    match = _VERSION.fullmatch(version)
    if match is None:
        return (3, 0, 0, version)
    stability = {None: 0, "beta": 1, "alpha": 2}[match[2]]
    return (stability, -int(match[1]), -int(match[3] or 0), "")


def versions_of(resources: Resources, group: str) -> list[str]:
    """The served versions of a group, the preferred one first; empty if there is no such group."""
    served = {version.name for resource in resources if resource.group == group for version in resource.served_versions}
    return sorted(served, key=version_priority)


def groups_of(resources: Resources) -> list[str]:
    """The named groups that serve something, sorted; the core group "" is not among them."""
    return sorted({resource.group for resource in resources if resource.group and resource.served_versions})


def api_versions(address: str) -> Raw:
    """The plain answer to /api."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def api_group_list(resources: Resources) -> Raw:
    """The plain answer to /apis."""
    return {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [_group(resources, group) for group in groups_of(resources)],
    }


def api_group(resources: Resources, group: str) -> Raw | None:
    """The answer to /apis/GROUP; None if there is no such group."""
    if group not in groups_of(resources):
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(resources, group)}


def api_resource_list(resources: Resources, group: str, version: str) -> Raw | None:
    """The answer to /api/v1 and /apis/GROUP/VERSION; None if nothing is served there."""
    listed: list[Raw] = []
    for resource, served in _served(resources, group, version):
        listed.append(_api_resource(resource))
        if served.status_subresource:
            listed.append(
                {
                    "name": f"{resource.plural}/status",
                    "singularName": "",
                    "namespaced": resource.namespaced,
                    "kind": resource.kind,
                    "verbs": list(STATUS_VERBS),
                }
            )
    if not listed:
        return None
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": api_version_of(group, version),
        "resources": listed,
    }


def aggregated(resources: Resources, api_version: str, *, core: bool) -> Raw:
    """Everything under /api (`core`) or under /apis in one APIGroupDiscoveryList.

    Args:
        api_version: of the answer, "apidiscovery.k8s.io/v2" or "apidiscovery.k8s.io/v2beta1".
    """
    groups = [""] if core else groups_of(resources)
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": api_version,
        "metadata": {},
        "items": [_aggregated_group(resources, group) for group in groups],
    }


def _served(resources: Resources, group: str, version: str) -> list[tuple[Resource, Version]]:
    found = [
        (resource, served)
        for resource in resources
        if resource.group == group
        for served in resource.served_versions
        if served.name == version
    ]
    return sorted(found, key=lambda pair: pair[0].plural)


def _group(resources: Resources, group: str) -> Raw:
    versions = [
        {"groupVersion": api_version_of(group, version), "version": version}
        for version in versions_of(resources, group)
    ]
    return {"name": group, "versions": versions, "preferredVersion": versions[0]}


def _api_resource(resource: Resource) -> Raw:
    listed: Raw = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(VERBS),
    }
    if resource.short_names:
        listed["shortNames"] = list(resource.short_names)
    if resource.categories:
        listed["categories"] = list(resource.categories)
    return listed


def _aggregated_group(resources: Resources, group: str) -> Raw:
    return {
        "metadata": {"name": group, "creationTimestamp": None},
        "versions": [
            {
                "version": version,
                "freshness": "Current",
                "resources": [
                    _aggregated_resource(resource, served) for resource, served in _served(resources, group, version)
                ],
            }
            for version in versions_of(resources, group)
        ],
    }


def _aggregated_resource(resource: Resource, served: Version) -> Raw:
    response_kind = {"group": resource.group, "version": served.name, "kind": resource.kind}
    listed: dict[str, Any] = {
        "resource": resource.plural,
        "responseKind": response_kind,
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(VERBS),
    }
    if resource.short_names:
        listed["shortNames"] = list(resource.short_names)
    if resource.categories:
        listed["categories"] = list(resource.categories)
    if served.status_subresource:
        listed["subresources"] = [{"subresource": "status", "responseKind": response_kind, "verbs": list(STATUS_VERBS)}]
    return listed
