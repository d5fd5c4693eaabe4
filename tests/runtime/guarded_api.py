"""An API server as a Pod sees it: TLS, a token that is rotated, and no more rights than roles grant."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import trustme
from aiohttp import web

from deploy_manifests import Right, granted

VERBS = {"POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}


class GuardedApi:
    """Stands before an API server that asks nobody who they are.

    Attributes:
        environment, service_account: what a Pod would find.
        refused: calls for which a right was missing.
    """

    def __init__(self, url: str, roles: Sequence[str], folder: Path) -> None:
        self._url = url
        self._roles = roles
        self.service_account = folder
        self.environment: dict[str, str] = {}
        self.refused: list[str] = []
        self.rotate("first")
        (folder / "namespace").write_text("gatepost")

    def rotate(self, token: str) -> None:
        """From now on only this token counts."""
        self._token = token
        (self.service_account / "token").write_text(token)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Bearer {self._token}":
            return _status(401, "Unauthorized", "who are you?")
        namespace, right = asked_for(request.method, request.path, is_watch=request.query.get("watch") == "true")
        if right is not None and right not in granted(*self._roles, namespace=namespace):
            self.refused.append(f"{request.method} {request.path}")
            return _status(403, "Forbidden", f"{right} is not granted")
        return await self._forward(request)

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name in ("Content-Type", "Accept")}
        async with (
            aiohttp.ClientSession(auto_decompress=False) as session,
            session.request(
                request.method, self._url + request.path_qs, data=await request.read(), headers=headers
            ) as found,
        ):
            response = web.StreamResponse(status=found.status, headers={"Content-Type": found.headers["Content-Type"]})
            await response.prepare(request)
            async for chunk in found.content.iter_any():
                await response.write(chunk)
            return response


@asynccontextmanager
async def guarded(url: str, roles: Sequence[str], folder: Path) -> AsyncIterator[GuardedApi]:
    api = GuardedApi(url, roles, folder)
    authority = trustme.CA()
    (folder / "ca.crt").write_bytes(authority.cert_pem.bytes())
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", api.answer)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    port = runner.addresses[0][1]
    api.environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(port)}
    try:
        yield api
    finally:
        await runner.cleanup()


def asked_for(method: str, path: str, *, is_watch: bool) -> tuple[str, Right | None]:
    """The namespace of a call ("" for none) and the right that it takes, None where everybody may call."""
    parts = path.strip("/").split("/")
    group, rest = (parts[1], parts[3:]) if parts[0] == "apis" and len(parts) > 1 else ("", parts[2:])
    if not rest:
        return "", None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    resource, name, subresource = (*rest, "", "")[:3]
    verb = VERBS.get(method) or ("get" if name else "watch" if is_watch else "list")
    return namespace, (group, f"{resource}/{subresource}" if subresource else resource, verb)


def _status(code: int, reason: str, message: str) -> web.Response:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason}
    return web.Response(
        status=code, text=json.dumps({**body, "message": message}), headers={"Content-Type": "application/json"}
    )
