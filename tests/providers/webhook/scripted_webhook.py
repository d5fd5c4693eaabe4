"""A webhook provider over a socket, of which a test writes every byte."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gatepost.providers.webhook.client import WebhookProvider
from gatepost.providers.webhook.settings import WebhookSettings

TYPE = "application/external.dns.webhook+json;version=1"
EVERYTHING = b"{}"


def answer(status: str = "200 OK", body: bytes = b"", content_type: str = TYPE) -> bytes:
    """A whole HTTP answer."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Webhook:
    """Gives its answers in order, one to a connection, and keeps what was asked. An answer `b""` only hangs up."""

    def __init__(self, answers: tuple[bytes, ...]) -> None:
        self.answers = list(answers)
        self.requests: list[bytes] = []
        self.waits: list[float] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        body = await reader.readexactly(int(length.group(1))) if length else b""
        self.requests.append(head + body)
        writer.write(self.answers.pop(0))
        writer.close()

    @property
    def calls(self) -> list[str]:
        """The first lines of the requests, without the version of HTTP."""
        return [request.split(b" HTTP/")[0].decode() for request in self.requests]

    def body(self, number: int) -> bytes:
        return self.requests[number].partition(b"\r\n\r\n")[2]

    def headers(self, number: int) -> dict[str, str]:
        lines = self.requests[number].partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
        return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}

    def provider(self, **settings: int) -> WebhookProvider:
        async def note(seconds: float) -> None:
            self.waits.append(seconds)

        url = f"http://127.0.0.1:{self.port}"
        return WebhookProvider(WebhookSettings(webhook_provider_url=url, **settings), note)


@asynccontextmanager
async def webhook(*answers: bytes) -> AsyncIterator[Webhook]:
    """A webhook provider that listens inside the block, and has given all its answers at its end."""
    scripted = Webhook(answers)
    server = await asyncio.start_server(scripted.serve, "127.0.0.1", 0)
    scripted.port = server.sockets[0].getsockname()[1]
    try:
        yield scripted
    finally:
        server.close()
        await server.wait_closed()
    assert scripted.answers == []


NEGOTIATED = answer(body=EVERYTHING)
