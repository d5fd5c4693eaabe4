"""A client that leaves is nothing to tell of, whatever it asked for and however far the answer has come."""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from apiserver.api_client import Client
from gatepost.standalone.apiserver.answers import errors_as_status
from gatepost.standalone.apiserver.server import ApiServer

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
TIMES = 100
TURNS = 10
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER that makes a close send RST: what was not read yet is thrown away."""


def request_for(method: str, path: str, *headers: str) -> bytes:
    return "\r\n".join((f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *headers, "", "")).encode()


async def drop(server: ApiServer, request: bytes, turns: int) -> None:
    """Sends a request and is gone after so many turns of the loop, in which the server works too."""
    url = urlsplit(server.url)
    _, writer = await asyncio.open_connection(url.hostname, url.port)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.write(request)
    await writer.drain()
    for _ in range(turns):
        await asyncio.sleep(0)
    writer.transport.abort()


@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(request_for("GET", f"{CONFIG_MAPS}?watch=true"), id="watch"),
        pytest.param(request_for("GET", f"{CONFIG_MAPS}?watch=true&resourceVersion=1"), id="watch-from-a-version"),
        pytest.param(request_for("GET", CONFIG_MAPS), id="list"),
        pytest.param(request_for("GET", "/nothing/here"), id="error"),
        pytest.param(request_for("POST", CONFIG_MAPS, "Content-Length: 1000") + b"{", id="half-a-body"),
    ],
)
async def test_nothing_is_logged_of_a_client_that_leaves_at_once(
    server: ApiServer, client: Client, caplog: pytest.LogCaptureFixture, request_bytes: bytes
) -> None:
    with caplog.at_level(logging.INFO):
        for number in range(TIMES):
            await drop(server, request_bytes, number % TURNS)
        assert (await client("GET", "/version")).status == 200
    assert [record.getMessage() for record in caplog.records] == []


async def test_a_handler_that_finds_its_client_gone_ends_in_silence() -> None:
    async def finds_it_gone(request: web.Request) -> web.StreamResponse:
        raise ConnectionResetError("Cannot write to closing transport")

    middleware: Callable[..., Awaitable[web.StreamResponse]] = errors_as_status
    answer = await middleware(make_mocked_request("GET", CONFIG_MAPS), finds_it_gone)
    assert isinstance(answer, web.Response)
