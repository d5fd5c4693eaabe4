"""A revision of the website: an HTTP server that answers with its name and the headers that it saw."""

from __future__ import annotations

from aiohttp import web


class Revision:
    """A real HTTP server on one loopback address. Use `start` and `stop`; `port` is known after the start."""

    def __init__(self, name: str, host: str) -> None:
        self.name = name
        self.host = host
        self.port = 0
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None)

    async def start(self) -> None:
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.host, 0)
        await site.start()
        self.port = int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        if request.headers.get("K-Network-Probe") == "probe":
            # As Knative's queue-proxy does in front of each revision: it says which routing brought the request here.
            return web.Response(headers={"K-Network-Hash": request.headers["K-Network-Hash"]})
        return web.json_response({"revision": self.name, "path": request.path, "headers": dict(request.headers)})
