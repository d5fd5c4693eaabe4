"""Every URL that the server answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

from gatepost.kubernetes.values import Raw
from gatepost.standalone.apiserver import discovery, openapi_v2
from gatepost.standalone.apiserver.access import access_review
from gatepost.standalone.apiserver.answers import (
    errors_as_status,
    json_answer,
    local_only,
    method_not_allowed,
    page_not_found,
)
from gatepost.standalone.apiserver.bodies import LIMIT_BYTES, object_body
from gatepost.standalone.apiserver.negotiation import DISCOVERY, DISCOVERY_BETA, PLAIN, accepted_form
from gatepost.standalone.apiserver.paths import ResourcePath, resource_path
from gatepost.standalone.apiserver.reads import Reads
from gatepost.standalone.apiserver.schemas import Schemas
from gatepost.standalone.apiserver.storage import Storage
from gatepost.standalone.apiserver.targets import target_of
from gatepost.standalone.apiserver.writes import Writes

VERSION = {
    "major": "1",
    "minor": "34",
    "gitVersion": "v1.34.0+gatepost",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "",
    "goVersion": "",
    "compiler": "",
    "platform": "",
}
"""The API that is served is that of this release; client-go programs refuse releases that are too old for them."""

_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Site:
    """The URLs over one storage."""

    def __init__(self, storage: Storage, reads: Reads, writes: Writes) -> None:
        self._storage = storage
        self._reads = reads
        self._writes = writes
        self._schemas = Schemas(storage.resources)

    def application(self) -> web.Application:
        application = web.Application(middlewares=[errors_as_status, local_only], client_max_size=LIMIT_BYTES)
        application.router.add_route("*", "/{path:.*}", self._answer)
        return application

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        path = resource_path(request.path)
        if request.path == _REVIEWS and request.method == "POST":
            return json_answer(access_review(await object_body(request)), 201)
        if path is not None:
            return await self._answer_resource(request, path)
        if request.method != "GET":
            raise method_not_allowed()
        return self._answer_page(request)

    async def _answer_resource(self, request: web.Request, path: ResourcePath) -> web.StreamResponse:
        target = target_of(path, self._storage.resources)
        answer: Callable[..., Awaitable[web.StreamResponse]] | None
        if path.is_collection:
            answer = {
                "GET": self._reads.many,
                "POST": self._writes.create,
                "DELETE": self._writes.delete_collection,
            }.get(request.method)
        else:
            answer = {
                "GET": self._reads.one,
                "PUT": self._writes.replace,
                "PATCH": self._writes.patch,
                "DELETE": None if path.subresource else self._writes.delete,
            }.get(request.method)
        if answer is None:
            raise method_not_allowed()
        return await answer(request, target)

    def _answer_page(self, request: web.Request) -> web.Response:
        parts = request.path.strip("/").split("/")
        match parts:
            case ["version"]:
                return json_answer(VERSION)
            case ["healthz" | "livez", *_]:
                return web.Response(text="ok")
            case ["readyz", *_]:
                self._storage.raise_if_failed()
                return web.Response(text="ok")
            case ["api"]:
                return self._groups(request, core=True)
            case ["apis"]:
                return self._groups(request, core=False)
            case ["openapi", "v2"]:
                return web.Response(body=openapi_v2.document(), content_type=openapi_v2.CONTENT_TYPE)
            case ["openapi", "v3", *place]:
                return json_answer(self._schemas.at(place))
            case ["api", version]:
                return _found(discovery.api_resource_list(self._storage.resources, "", version))
            case ["apis", group]:
                return _found(discovery.api_group(self._storage.resources, group))
            case ["apis", group, version]:
                return _found(discovery.api_resource_list(self._storage.resources, group, version))
        raise page_not_found()

    def _groups(self, request: web.Request, *, core: bool) -> web.Response:
        form = accepted_form(request.headers.get("Accept", ""), (DISCOVERY, DISCOVERY_BETA, PLAIN))
        resources = self._storage.resources
        if form == PLAIN:
            return json_answer(discovery.api_versions(request.host) if core else discovery.api_group_list(resources))
        api_version = f"{form.group}/{form.version}"
        listed = discovery.aggregated(resources, api_version, core=core)
        return json_answer(listed, content_type=form.content_type)


def _found(answer: Raw | None) -> web.Response:
    if answer is None:
        raise page_not_found()
    return json_answer(answer)
