"""What a request is about: the URL looked up in the table of kinds."""

from __future__ import annotations

from msgspec import Struct

from gatepost.kubernetes.resources import Resource, Resources, Version
from gatepost.objects.refs import Ref
from gatepost.standalone.apiserver.answers import page_not_found
from gatepost.standalone.apiserver.paths import ResourcePath


class Target(Struct, frozen=True):
    """A kind in one of its versions, and the object or collection of it that the URL names."""

    resource: Resource
    version: Version
    namespace: str
    name: str
    subresource: str

    @property
    def ref(self) -> Ref:
        return Ref(self.resource.group, self.resource.kind, self.namespace, self.name)

    @property
    def selectable_fields(self) -> tuple[str, ...]:
        return self.resource.selectable_in(self.version)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Each use of a deprecated version is answered with its warning."""
        return (self.version.deprecation_warning,) if self.version.deprecation_warning else ()


def target_of(path: ResourcePath, resources: Resources) -> Target:
    """What the URL names.

    Raises: ApiError 404 if no such kind is served, or if a namespace stands where none belongs or is missing.
    """
    resource = resources.at(path.group, path.version, path.plural)
    version = resource.version(path.version) if resource is not None else None
    if resource is None or version is None:
        raise page_not_found()
    if path.namespace and not resource.namespaced:
        raise page_not_found()
    if path.name and resource.namespaced and not path.namespace:
        raise page_not_found()
    if path.subresource and not (path.subresource == "status" and version.status_subresource):
        raise page_not_found()
    return Target(resource, version, path.namespace, path.name, path.subresource)
