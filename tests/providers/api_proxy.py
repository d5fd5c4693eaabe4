"""An HTTP proxy in front of an API server that shows the Gateway API as a server in trouble would."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

from aiohttp import ClientSession, ClientTimeout, web

GROUP = "gateway.networking.k8s.io"
_HOP_BY_HOP = {"connection", "content-encoding", "content-length", "host", "keep-alive", "transfer-encoding"}


class ApiProxy:
    """Hands requests on, watches included.

    Attributes:
        empty_lists: how many lists of HTTPRoutes come empty from now on.
        lists: how many lists of HTTPRoutes were answered so far, whatever with.
        gone: versions of the Gateway API that are not served.
    """

    def __init__(self, url: str) -> None:
        self._upstream = url
        self._session: ClientSession | None = None
        self._watches: set[asyncio.Transport] = set()
        self._expired = 0
        self.url = ""
        self.empty_lists = 0
        self.lists = 0
        self.gone: frozenset[str] = frozenset()

    def cut_watches(self) -> None:
        """Ends all watches where they are; each is resumed by its client if it can be."""
        for watch in list(self._watches):
            watch.abort()

    def forget_revisions(self) -> None:
        """Ends all watches, and knows no revision to resume that of HTTPRoutes from: they are listed again."""
        self._expired += 1
        self.cut_watches()

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[ApiProxy]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        async with ClientSession(timeout=ClientTimeout(total=None), auto_decompress=False) as self._session:
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            try:
                yield self
            finally:
                await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        is_of_routes = request.method == "GET" and request.path.endswith("/httproutes")
        is_watch = "watch" in request.query
        if any(f"{request.path}/".startswith(f"/apis/{GROUP}/{version}/") for version in self.gone):
            return web.json_response({"kind": "Status", "code": 404, "reason": "NotFound"}, status=404)
        if is_of_routes and is_watch and self._expired:
            self._expired -= 1
            return web.json_response({"kind": "Status", "code": 410, "reason": "Expired"}, status=410)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP_BY_HOP}
        assert self._session is not None
        async with self._session.request(
            request.method, self._upstream + request.path_qs, headers=headers, data=await request.read()
        ) as answer:
            if is_watch:
                return await self._watch(request, answer.content.iter_any())
            body = await answer.read()
            if request.path == "/apis":
                body = self._without_gone_versions(body)
            if is_of_routes:
                self.lists += 1
                if self.empty_lists:
                    self.empty_lists -= 1
                    body = json.dumps(json.loads(body) | {"items": []}).encode()
            return web.Response(body=body, status=answer.status, content_type=answer.content_type)

    async def _watch(self, request: web.Request, lines: AsyncIterator[bytes]) -> web.StreamResponse:
        watch = web.StreamResponse(headers={"Content-Type": "application/json"})
        await watch.prepare(request)
        transport = request.transport
        assert transport is not None
        self._watches.add(transport)
        try:
            with contextlib.suppress(ConnectionError):  # the client left, or `cut_watches` sent it away
                async for chunk in lines:
                    await watch.write(chunk)
        finally:
            self._watches.discard(transport)
        return watch

    def _without_gone_versions(self, body: bytes) -> bytes:
        listed = json.loads(body)
        for group in listed["groups"]:
            if group["name"] == GROUP:
                group["versions"] = [item for item in group["versions"] if item["version"] not in self.gone]
        listed["groups"] = [group for group in listed["groups"] if group["versions"]]
        return json.dumps(listed).encode()
