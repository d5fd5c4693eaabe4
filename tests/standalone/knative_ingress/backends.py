"""The servers behind the gateway: each a real one, on a loopback address of its own.

All but `GrpcPing` answer probes the way Knative's queue-proxy and activator do: with 200 and the hash that came in.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from typing import Any

import aiohttp
from aiohttp import web

from knative_ingress import grpc, http2

HASH = "K-Network-Hash"
PROBE = "K-Network-Probe"
H2C = "kubernetes.io/h2c"

# Apart from the gateway's own address, and other workers' servers apart from ours.
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_numbers = itertools.count()


def own_address() -> str:
    """A loopback address that no other server of this run has."""
    number = next(_numbers)
    return f"127.0.{1 + _WORKER * 8 + number // 250}.{1 + number % 250}"


class Backend:
    """A server that can be started and stopped; `port` is known after the start."""

    port_name = "http"
    app_protocol = ""

    def __init__(self) -> None:
        self.address = own_address()
        self.port = 0

    async def start(self) -> None:
        raise NotImplementedError

    async def stop(self) -> None:
        raise NotImplementedError


class HttpBackend(Backend):
    """Over HTTP/1. It counts the requests that are no probes."""

    def __init__(self) -> None:
        super().__init__()
        self.requests = 0
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.answer_or_probe)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)

    async def start(self) -> None:
        await self._runner.setup()
        await web.TCPSite(self._runner, self.address, 0).start()
        self.port = int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def answer_or_probe(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get(PROBE) == "probe":
            return _answer_to_probe(request.headers.get(HASH, ""))
        self.requests += 1
        return await self.answer(request)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        raise NotImplementedError


def _answer_to_probe(version: str) -> web.Response:
    return web.Response(headers={HASH: version}) if version else web.Response(status=400, text=f"no {HASH}")


def seen(protocol: str, method: str, path: str, host: str, headers: dict[str, str]) -> dict[str, Any]:
    """What a server saw of a request; names of headers in small letters."""
    headers = {name.lower(): value for name, value in headers.items()}
    return {"protocol": protocol, "method": method, "path": path, "host": host, "headers": headers}


class Runtime(HttpBackend):
    """Answers with what it saw of the request, in JSON."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        protocol = f"HTTP/{request.version.major}.{request.version.minor}"
        return web.json_response(seen(protocol, request.method, request.path, request.host, dict(request.headers)))


class Http2Runtime(Backend):
    """The same over HTTP/2 in clear text."""

    port_name = "h2c"
    app_protocol = H2C

    async def start(self) -> None:
        self._server = http2.Server(self._answer)
        await self._server.start(self.address)
        self.port = self._server.port

    async def stop(self) -> None:
        await self._server.stop()

    async def _answer(self, stream: http2.Stream) -> None:
        headers = await stream.headers()
        await stream.rest()
        if headers.get(PROBE.lower()) == "probe":
            stream.send_headers([(":status", "200"), (HASH.lower(), headers[HASH.lower()])], end=True)
            return
        plain = {name: value for name, value in headers.items() if not name.startswith(":")}
        said = seen("HTTP/2.0", headers[":method"], headers[":path"], headers[":authority"], plain)
        stream.send_headers([(":status", "200"), ("content-type", "application/json")])
        stream.send(json.dumps(said).encode(), end=True)


class GrpcPing(Http2Runtime):
    """Answers each ping on a stream with its text and a suffix."""

    def __init__(self, suffix: str = "") -> None:
        super().__init__()
        self.suffix = suffix
        self.streams = 0

    async def _answer(self, stream: http2.Stream) -> None:
        headers = await stream.headers()
        if headers[":path"] != grpc.PING_STREAM:
            await stream.rest()
            version = headers.get(HASH.lower(), "")
            stream.send_headers([(":status", "200" if version else "404"), (HASH.lower(), version)], end=True)
            return
        self.streams += 1
        stream.send_headers([(":status", "200"), ("content-type", "application/grpc")])
        texts = grpc.Texts(stream)
        while (text := await texts.next()) is not None:
            stream.send(grpc.message(text + self.suffix))
        stream.send_headers([("grpc-status", grpc.OK)], end=True)


class WsServer(HttpBackend):
    """Answers each message on a WebSocket with its text and a suffix."""

    def __init__(self, suffix: str = "") -> None:
        super().__init__()
        self.suffix = suffix

    async def answer(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            await socket.send_str(message.data + self.suffix)
        return socket


class Timeout(HttpBackend):
    """Waits as long as the query says, before the headers (`initialTimeout`) and after them (`timeout`), in seconds."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(float(request.query.get("initialTimeout", 0)))
        response = web.StreamResponse()
        await response.prepare(request)
        await asyncio.sleep(float(request.query.get("timeout", 0)))
        await response.write(b"done")
        await response.write_eof()
        return response


class Retry(HttpBackend):
    """Answers 503 to the first request and 200 to every later one."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        return web.Response(status=503 if self.requests == 1 else 200, text=f"request {self.requests}")


class HttpProxy(HttpBackend):
    """A Pod inside the cluster: asks for `target_host` at the gateway for cluster-local names, and hands on the answer.

    Args:
        gateway: where that gateway answers, as a URL.
    """

    def __init__(self, target_host: str, gateway: str) -> None:
        super().__init__()
        self._target_host = target_host
        self._gateway = gateway

    async def start(self) -> None:
        self._session = aiohttp.ClientSession()
        await super().start()

    async def stop(self) -> None:
        await super().stop()
        await self._session.close()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        url = self._gateway + request.path_qs
        async with self._session.get(url, headers={"Host": self._target_host}) as answer:
            kept = {name: value for name, value in answer.headers.items() if name == "Content-Type"}
            return web.Response(status=answer.status, body=await answer.read(), headers=kept)
