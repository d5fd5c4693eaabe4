"""Which versions of a kind the cluster serves, and under which path."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct, field

from gatepost.cluster.client import Client
from gatepost.cluster.errors import ApiError, ClusterError, Unreachable
from gatepost.objects.refs import GroupKind, api_version_of

AnswerT = TypeVar("AnswerT")


class ServedKind(Struct, frozen=True):
    """A kind in one version that the cluster serves."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        return api_version_of(self.group, self.version)

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The URL path of a list (over all namespaces for "") or of an object."""
        path = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        if self.namespaced and namespace:
            path += f"/namespaces/{namespace}"
        path += f"/{self.plural}"
        if name:
            path += f"/{name}"
        return f"{path}/{subresource}" if subresource else path


class _Resource(Struct, frozen=True):
    name: str
    kind: str
    namespaced: bool = False


class _ResourceList(Struct, frozen=True):
    resources: tuple[_Resource, ...] = ()


class _GroupVersion(Struct, frozen=True):
    version: str


class _Group(Struct, frozen=True, rename="camel"):
    name: str
    versions: tuple[_GroupVersion, ...] = ()
    preferred_version: _GroupVersion | None = None


class _GroupList(Struct, frozen=True):
    groups: tuple[_Group, ...] = field(default=())


class Discovery:
    """Answers from one look at each group; `forget` makes the next question look again."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._versions: dict[str, tuple[str, ...]] | None = None
        self._kinds: dict[str, tuple[ServedKind, ...]] = {}
        # Many reflectors ask at once; the first one looks, the others wait for its answer.
        self._looking_at_versions = asyncio.Lock()
        self._looking_at: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def find(self, group_kind: GroupKind, versions: Sequence[str] = ()) -> ServedKind | None:
        """The kind in the first of `versions` that is served, else in the version that the server prefers.

        Returns: None if no version is served.
        Raises: ClusterError if the server could not be asked; the next call asks again.
        """
        served = {s.version: s for s in await self._kinds_of(group_kind.group) if s.kind == group_kind.kind}
        for version in versions:
            if version in served:
                return served[version]
        return next(iter(served.values()), None)

    def forget(self, group: str) -> None:
        self._kinds.pop(group, None)
        self._versions = None

    async def _kinds_of(self, group: str) -> tuple[ServedKind, ...]:
        async with self._looking_at[group]:
            if group not in self._kinds:
                self._kinds[group] = await self._look_at(group)
            return self._kinds[group]

    async def _look_at(self, group: str) -> tuple[ServedKind, ...]:
        versions = ("v1",) if not group else (await self._group_versions()).get(group, ())
        found = [await self._look_at_version(group, version) for version in versions]
        return tuple(kind for kinds in found for kind in kinds)

    async def _look_at_version(self, group: str, version: str) -> tuple[ServedKind, ...]:
        path = f"/apis/{group}/{version}" if group else f"/api/{version}"
        try:
            answer = _decoded(path, await self._client.read(path), _ResourceList)
        except ApiError as error:
            if error.code == 404 and group:
                return ()  # it went between two looks
            raise _told_for(path, error) from error
        return tuple(
            ServedKind(group, version, resource.kind, resource.name, resource.namespaced)
            for resource in answer.resources
            if "/" not in resource.name  # subresources are listed beside the kinds
        )

    async def _group_versions(self) -> dict[str, tuple[str, ...]]:
        async with self._looking_at_versions:
            if self._versions is None:
                self._versions = await self._look_at_groups()
            return self._versions

    async def _look_at_groups(self) -> dict[str, tuple[str, ...]]:
        try:
            answer = _decoded("/apis", await self._client.read("/apis"), _GroupList)
        except ApiError as error:
            raise _told_for("/apis", error) from error
        return {group.name: _preferred_first(group) for group in answer.groups}


def _decoded(path: str, answer: bytes, type_: type[AnswerT]) -> AnswerT:
    """Raises: Unreachable if it is another kind of answer, such as the page of a proxy."""
    try:
        return msgspec.json.decode(answer, type=type_)
    except msgspec.DecodeError as error:
        raise Unreachable(f"GET {path}: the answer is none of a Kubernetes API ({error})") from error


def _told_for(path: str, error: ApiError) -> ClusterError:
    """The error, told as what it is where every Kubernetes API has an answer and this server has none.

    A web server at a wrong URL says 404 to everything. To take that for a cluster in which no kind is served would be
    to wait for its kinds for ever.
    """
    if error.code != 404:
        return error
    return Unreachable(f"GET {path}: found 404, wanted the answer of a Kubernetes API; check the URL of the server")


def _preferred_first(group: _Group) -> tuple[str, ...]:
    names = [item.version for item in group.versions]
    if group.preferred_version is not None and group.preferred_version.version in names:
        names.sort(key=lambda name: group.preferred_version is None or name != group.preferred_version.version)
    return tuple(names)
