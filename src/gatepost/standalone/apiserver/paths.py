"""What a URL of the Kubernetes API names."""

from __future__ import annotations

from msgspec import Struct


class ResourcePath(Struct, frozen=True):
    """A resource URL taken apart.

    `namespace` is "" for cluster-scoped kinds and for a list over all namespaces, `name` is "" for a collection,
    `subresource` is "" for the object itself.
    """

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def is_collection(self) -> bool:
        return not self.name


def resource_path(path: str) -> ResourcePath | None:
    """The resource that a decoded URL path names; None for anything else.

    `/api/v1/namespaces/shop` is a Namespace, `/api/v1/namespaces/shop/services` the Services in it, and
    `/api/v1/namespaces/shop/status` the status of the Namespace.
    """
    parts = path.strip("/").split("/")
    if "" in parts:
        return None
    if parts[:2] == ["api", "v1"]:
        group, version, rest = "", "v1", parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = ""
    if len(rest) >= 3 and rest[0] == "namespaces" and not (group == "" and rest[2] in ("status", "finalize")):
        namespace, rest = rest[1], rest[2:]
    if not 1 <= len(rest) <= 3:
        return None
    plural, name, subresource = (*rest, "", "")[:3]
    return ResourcePath(group, version, plural, namespace, name, subresource)
