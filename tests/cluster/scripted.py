"""An API server over a real socket whose every answer a test writes, and a sink that tests can wait on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from msgspec import Struct

from gatepost.cluster.client import Client
from gatepost.cluster.connection import Connection, Server
from gatepost.cluster.errors import ClusterError
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem
from gatepost.objects.refs import GroupKind, Ref

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Seen(Struct, frozen=True):
    """A request that came in."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any = None


class Watch:
    """One watch connection. The test sends lines and decides how it ends."""

    def __init__(self, query: dict[str, str]) -> None:
        self.query = query
        self._commands: asyncio.Queue[bytes | str] = asyncio.Queue()

    def send(self, type_: str, obj: Any) -> None:
        self.send_bytes(json.dumps({"type": type_, "object": obj}).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        self._commands.put_nowait(data)

    def end(self) -> None:
        """Ends the answer as a server does when the time of a watch is over."""
        self._commands.put_nowait("end")

    def drop(self) -> None:
        """Loses the connection."""
        self._commands.put_nowait("drop")

    async def serve(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        while True:
            command = await self._commands.get()
            if isinstance(command, bytes):
                await response.write(command)
            elif command == "end":
                return response
            else:
                assert request.transport is not None
                request.transport.abort()
                return response


class ScriptedCluster:
    """Answers by method and path: each answer once, in order; the last one again and again."""

    def __init__(self) -> None:
        self.url = ""
        self.seen: list[Seen] = []
        self.watches: list[Watch] = []
        self.pauses: list[float] = []
        self._scripts: dict[tuple[str, str], list[Handler]] = {}
        self._changed = asyncio.Event()

    def on(self, method: str, path: str, *answers: Handler) -> None:
        self._scripts.setdefault((method, path), []).extend(answers)

    def kind(self, group: str, version: str, kind: str, plural: str, namespaced: bool = True) -> str:
        """Makes discovery know one kind. Returns: the path of its list."""
        resource = {"name": plural, "kind": kind, "namespaced": namespaced}
        prefix = f"/apis/{group}/{version}" if group else f"/api/{version}"
        if group:
            entry = {"groupVersion": f"{group}/{version}", "version": version}
            self.on("GET", "/apis", answer({"groups": [{"name": group, "versions": [entry]}]}))
        self.on("GET", prefix, answer({"resources": [resource]}))
        return f"{prefix}/{plural}"

    def requests(self, method: str = "GET", path: str = "") -> list[Seen]:
        return [seen for seen in self.seen if seen.method == method and path in (seen.path, "")]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits until something that came in makes the condition true."""
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    async def watch(self, number: int) -> Watch:
        """The watch of that number, counted from 0, as soon as it has been opened."""
        await self.until(lambda: len(self.watches) > number)
        return self.watches[number]

    async def pause(self, seconds: float) -> None:
        """Stands in for waiting: takes note and lets others run."""
        self.pauses.append(seconds)
        await asyncio.sleep(0)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        text = await request.text()
        body = json.loads(text) if text else None
        query = dict(request.query)
        self.seen.append(Seen(request.method, request.path, query, dict(request.headers), body))
        self._changed.set()
        if request.query.get("watch") and ("WATCH", request.path) not in self._scripts:
            watch = Watch(query)
            self.watches.append(watch)
            return await watch.serve(request)
        method = "WATCH" if request.query.get("watch") else request.method
        script = self._scripts.get((method, request.path))
        if not script:
            return await status(404, "NotFound")(request)
        handler = script.pop(0) if len(script) > 1 else script[0]
        return await handler(request)


def answer(body: Any, code: int = 200, headers: dict[str, str] | None = None) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.json_response(body, status=code, headers=headers)

    return handler


def status(code: int, reason: str, message: str = "no", headers: dict[str, str] | None = None) -> Handler:
    body = {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": message}
    return answer(body, code, headers)


def listing(items: list[Any], revision: str = "1", token: str = "") -> Handler:
    metadata = {"resourceVersion": revision, **({"continue": token} if token else {})}
    return answer({"kind": "List", "metadata": metadata, "items": items})


def truncated(body: bytes, promised: int) -> Handler:
    """Half an answer: the headers promise more than comes before the connection is lost."""

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(promised)})
        await response.prepare(request)
        await response.write(body)
        assert request.transport is not None
        request.transport.close()
        return response

    return handler


@asynccontextmanager
async def scripted_cluster() -> AsyncIterator[ScriptedCluster]:
    cluster = ScriptedCluster()
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{path:.*}", cluster.handle)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    cluster.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield cluster
    finally:
        await runner.cleanup()


@asynccontextmanager
async def client_of(cluster: ScriptedCluster, **settings: Any) -> AsyncIterator[Client]:
    async with Client(Connection(Server(cluster.url)), **{"wait": cluster.pause, **settings}) as client:
        yield client


class RecordingSink:
    """Takes note of all that a reflector says."""

    def __init__(self) -> None:
        self.objects: dict[Ref, KubernetesObject] = {}
        self.raw: dict[Ref, bytes | None] = {}
        self.removed: list[Ref] = []
        self.problems: list[Problem] = []
        self.states: list[str] = []
        self.errors: list[ClusterError] = []
        self._changed = asyncio.Event()

    def put(self, ref: Ref, obj: KubernetesObject, raw: bytes | None) -> None:
        self.objects[ref] = obj
        self.raw[ref] = raw
        self._changed.set()

    def remove(self, ref: Ref) -> None:
        self.objects.pop(ref, None)
        self.removed.append(ref)
        self._changed.set()

    def unreadable(self, problem: Problem) -> None:
        self.problems.append(problem)
        self._changed.set()

    def complete(self, group_kind: GroupKind) -> None:
        self._state("complete")

    def missing(self, group_kind: GroupKind) -> None:
        self._state("missing")

    def failing(self, group_kind: GroupKind, error: ClusterError) -> None:
        self.errors.append(error)
        self._state("failing")

    def recovered(self, group_kind: GroupKind) -> None:
        self._state("recovered")

    def _state(self, state: str) -> None:
        self.states.append(state)
        self._changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    @property
    def names(self) -> set[str]:
        return {ref.name for ref in self.objects}
