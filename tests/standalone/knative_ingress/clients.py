"""Real clients in front of the gateway: they connect to its address and name a host."""

from __future__ import annotations

import collections
import json
import ssl
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from knative_ingress import grpc, http2

Raw = dict[str, Any]


class Answer:
    """Status, headers and body of an answer."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def seen(self) -> Raw:
        """What a `Runtime` says that it saw. Raises: AssertionError if it is no answer of one."""
        assert self.status == 200, f"{self.status} {self.body[:200]!r}"
        found: Raw = json.loads(self.body)
        return found


class Gateway:
    """Clients of the gateway at one address."""

    def __init__(self, url: str, http: aiohttp.ClientSession) -> None:
        self.url = url
        self._http = http

    async def get(self, host: str, path: str = "/", headers: dict[str, str] | None = None) -> Answer:
        """One request, never tried again; redirects are not followed."""
        asked = {**(headers or {}), "Host": host}
        async with self._http.get(self.url + path, headers=asked, allow_redirects=False) as answer:
            return Answer(answer.status, dict(answer.headers), await answer.read())

    async def get_with_tls(self, host: str, trust: ssl.SSLContext) -> Answer:
        """The same over TLS with that name, checking the certificate."""
        headers = {"Host": host}
        async with self._http.get(self.url, headers=headers, ssl=trust, server_hostname=host) as answer:
            return Answer(answer.status, dict(answer.headers), await answer.read())

    async def count(self, requests: int, host: str, header: str, path: str = "/") -> collections.Counter[str]:
        """How often which value of a header reached a backend."""
        found = [(await self.get(host, path)).seen["headers"].get(header.lower(), "") for _ in range(requests)]
        return collections.Counter(found)

    def websocket(self, host: str) -> Any:
        """A WebSocket, as an asynchronous context manager."""
        return self._http.ws_connect(self.url.replace("http:", "ws:"), headers={"Host": host})

    async def http2(self) -> http2.Peer:
        """A connection over HTTP/2 in clear text. It is to be closed."""
        at = urlsplit(self.url)
        assert at.hostname is not None
        assert at.port is not None
        return await http2.connect(at.hostname, at.port)

    async def pings(self, host: str, count: int) -> list[str]:
        """What comes back for that many pings on one gRPC stream; the stream ends well."""
        peer = await self.http2()
        try:
            ping = grpc.Ping(peer, host)
            answers = [await ping.round_trip(f"ping - {number}") for number in range(count)]
            assert await ping.close() == grpc.OK
            return answers
        finally:
            await peer.close()


def assert_shares(found: collections.Counter[str], wanted: dict[str, int], within: int) -> None:
    """Whether the found counts are in these shares, in percent, each within that many points; 0 gets nothing."""
    total = sum(found.values())
    assert set(found) <= {name for name, percent in wanted.items() if percent}, found
    for name, percent in wanted.items():
        share = 100 * found[name] / total
        assert abs(share - percent) <= within, f"{name} got {share:.1f} % of {total}, wanted {percent} %"
