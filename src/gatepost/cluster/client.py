"""One HTTP client for one cluster: identity, TLS, waiting when told to, and errors in one family.

With `dry_run` no writing call leaves the process: `write` is the only way to send anything but GET, and it refuses.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import msgspec
from msgspec import Struct, structs
from yarl import URL

from gatepost import __version__
from gatepost.call_faults import reason_of
from gatepost.cluster.authorities import Authorities
from gatepost.cluster.backoff import Backoff, Pause, pause
from gatepost.cluster.connection import Connection, tls_context
from gatepost.cluster.credentials import ClientCertificate, Identity
from gatepost.cluster.errors import ApiError, CredentialError, NotLeading, Unreachable, WriteWithheld, api_error
from gatepost.cluster.rate import TokenBucket

MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"  # JSON is YAML
JSON = "application/json"

_ATTEMPTS_WHEN_THROTTLED = 5
_NOT_TRUSTED = (aiohttp.ClientConnectorCertificateError, ssl.SSLCertVerificationError)
_encoder = msgspec.json.Encoder()


class _Call(Struct, frozen=True):
    """One request. `silence_seconds` is how long the server may say nothing within its answer."""

    method: str
    path: str
    params: Mapping[str, str]
    silence_seconds: float
    body: bytes | None = None
    content_type: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Took(Struct):
    """How many answers of one kind there were, and how long they took together until they began."""

    count: int = 0
    seconds: float = 0.0


class Client:
    """One connection to a cluster; use it as an async context manager.

    Args:
        dry_run: holds back every writing call.
        answer_seconds: how long the server may be silent within one answer.
        wait: how waiting is done.
        may_write: asked before each writing call; see `runtime.leadership.leading`.
        limit: slows all calls down but watches.

    Attributes:
        durations: by resource, method and status of the answer.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        dry_run: bool = False,
        answer_seconds: float = 30.0,
        wait: Pause = pause,
        may_write: Callable[[], bool] = lambda: True,
        limit: TokenBucket | None = None,
    ) -> None:
        self.connection = connection
        self.dry_run = dry_run
        self._may_write = may_write
        self._limit = limit
        self.durations: dict[tuple[str, str, int], Took] = {}
        self.wait = wait
        self._answer_seconds = answer_seconds
        self._authorities = Authorities(connection.server.ca, connection.server.ca_file)
        self._contexts: dict[tuple[bytes | None, ClientCertificate | None], ssl.SSLContext | None] = {}
        self._session: aiohttp.ClientSession | None = None
        self._proxy = connection.server.proxy_url or _proxy_of_environment(connection.server.url)

    async def __aenter__(self) -> Client:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, socket_factory=_socket_that_notices_silence),
            headers=[
                ("User-Agent", f"gatepost/{__version__}"),
                ("Accept", JSON),
                *self.connection.headers,
            ],
            cookie_jar=aiohttp.DummyCookieJar(),
            read_bufsize=2**20,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    @property
    def url(self) -> URL:
        return URL(self.connection.server.url)

    async def read(self, path: str, params: Mapping[str, str] | None = None) -> bytes:
        """The body of an answer to GET. Raises: ApiError, Unreachable, CredentialError."""
        await self._until_within_limit()
        async with self._answer(_Call("GET", path, params or {}, self._answer_seconds)) as response:
            return await response.read()

    @asynccontextmanager
    async def lines(
        self, path: str, params: Mapping[str, str], silence_seconds: float
    ) -> AsyncIterator[AsyncIterator[list[bytes]]]:
        """The lines of an endless answer, as many at a time as have come.

        The iterator ends when the server ends its answer; a last line without its end is dropped, for it was cut.
        Raises: as `read`, also while iterating.
        """
        async with self._answer(_Call("GET", path, params, silence_seconds)) as response:
            yield _batches_of_lines(response.content.iter_any())

    async def write(
        self, method: str, path: str, params: Mapping[str, str], body: Any, content_type: str = JSON
    ) -> bytes:
        """The body of the answer to a writing call.

        Raises: WriteWithheld before anything is sent if this is a dry run, NotLeading if it is not for this process to
            write; else as `read`.
        """
        if self.dry_run:
            raise WriteWithheld(f"{method} {path} was not sent: this is a dry run")
        await self._until_within_limit()
        if not self._may_write():
            raise NotLeading(f"{method} {path} was not sent: this replica does not lead")
        call = _Call(method, path, params, self._answer_seconds, _encoder.encode(body), content_type)
        async with self._answer(call) as response:
            return await response.read()

    async def _until_within_limit(self) -> None:
        seconds = self._limit.take(asyncio.get_running_loop().time()) if self._limit is not None else 0.0
        if seconds > 0:
            await self.wait(seconds)

    @asynccontextmanager
    async def _answer(self, call: _Call) -> AsyncIterator[aiohttp.ClientResponse]:
        try:
            async with await self._accepted(call) as response:
                yield response
        except _NOT_TRUSTED as error:
            raise Unreachable(
                f"{self.connection.server.url}: {reason_of(error)}. "
                "Give its authority in certificate-authority, or the name in it in tls-server-name."
            ) from error
        except TimeoutError as error:
            raise Unreachable(f"{call}: no answer for {call.silence_seconds:g} s") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            raise Unreachable(f"{call}: {reason_of(error)}") from error

    async def _accepted(self, call: _Call) -> aiohttp.ClientResponse:
        """An answer of success. One 401 makes the credentials new; 429 is waited out as the server asks."""
        identity = await self.connection.credentials.identity()
        was_renewed = False
        backoff = Backoff(1.0, 30.0)
        for attempt in range(1, _ATTEMPTS_WHEN_THROTTLED + 1):
            response = await self._send(call, identity)
            if response.status == 401 and not was_renewed:
                was_renewed = True
                renewed = await self.connection.credentials.renewed(identity)
                if renewed is not None:
                    response.release()
                    identity = renewed
                    response = await self._send(call, identity)
            if response.status < 300:
                return response
            error = await _error_in(response)
            if error.code != 429 or attempt == _ATTEMPTS_WHEN_THROTTLED:
                raise error
            asked = error.retry_after_seconds
            # A little more than asked for: all who were sent away together were told the same time.
            await self.wait(backoff.next_seconds() if asked is None else asked * (1 + 0.1 * backoff.chance()))
        raise AssertionError("the last attempt returns or raises")

    async def _send(self, call: _Call, identity: Identity) -> aiohttp.ClientResponse:
        if self._session is None:
            raise RuntimeError("the client is used outside of its context")
        began = asyncio.get_running_loop().time()
        response = await self._request(self._session, call, identity)
        took = self.durations.setdefault((resource_in(call.path), call.method, response.status), Took())
        took.count += 1
        took.seconds += asyncio.get_running_loop().time() - began
        return response

    async def _request(self, session: aiohttp.ClientSession, call: _Call, identity: Identity) -> aiohttp.ClientResponse:
        """One call. Authorities may have been rotated, so a certificate that is not trusted has them read again."""
        ca = await self._authorities.current()
        try:
            return await self._request_trusting(ca, session, call, identity)
        except _NOT_TRUSTED:  # which is noticed before anything is sent, so a write may be repeated as well
            renewed = await self._authorities.renewed(ca)
            if renewed is None:
                raise
        return await self._request_trusting(renewed, session, call, identity)

    async def _request_trusting(
        self, ca: bytes | None, session: aiohttp.ClientSession, call: _Call, identity: Identity
    ) -> aiohttp.ClientResponse:
        headers = {"Authorization": identity.authorization} if identity.authorization else {}
        if call.content_type:
            headers["Content-Type"] = call.content_type
        server = self.connection.server
        context = self._context(ca, identity.certificate)
        return await session.request(
            call.method,
            URL(server.url + call.path),
            params=dict(call.params),
            data=call.body,
            headers=headers,
            ssl=context if context is not None else True,
            server_hostname=server.tls_server_name or None,
            proxy=self._proxy or None,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=10.0, sock_read=call.silence_seconds),
        )

    def _context(self, ca: bytes | None, certificate: ClientCertificate | None) -> ssl.SSLContext | None:
        key = (ca, certificate)
        if key not in self._contexts:
            if len(self._contexts) > 4:  # plugins make new certificates for ever
                self._contexts.clear()
            self._contexts[key] = tls_context(structs.replace(self.connection.server, ca=ca), certificate)
        return self._contexts[key]


def resource_in(path: str) -> str:
    """The plural of what a path of the Kubernetes API is about, with its subresource; "" for discovery."""
    parts = path.strip("/").split("/")
    rest = parts[3:] if parts[0] == "apis" else parts[2:]
    if rest[:1] == ["namespaces"] and len(rest) > 2:
        rest = rest[2:]
    return "/".join(rest[::2][:2])


async def _error_in(response: aiohttp.ClientResponse) -> ApiError:
    async with response:
        body = await response.read()
        error = api_error(response.status, body, response.headers.get("Retry-After"))
    if error.code == 401:
        raise CredentialError(f"the API server does not accept the credentials ({error.message})") from error
    return error


async def _batches_of_lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[list[bytes]]:
    begun: list[bytes] = []  # the parts of a line whose end has not come yet
    async for chunk in chunks:
        lines = chunk.split(b"\n")
        if len(lines) == 1:
            begun.append(chunk)
            continue
        if begun:
            lines[0] = b"".join((*begun, lines[0]))
        rest = lines.pop()
        begun = [rest] if rest else []
        yield [line for line in lines if line]


def _socket_that_notices_silence(address: Any) -> socket.socket:
    """A socket on which the loss of the other side is noticed within a minute, even when nothing is sent."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    made.setblocking(False)  # noqa: FBT003 - the socket takes it in no other way
    return made


def _proxy_of_environment(server: str) -> str:
    """The proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY give for a server, "" for none."""
    parts = urlsplit(server)
    if parts.hostname is None or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return ""
    return getproxies().get(parts.scheme, "")
