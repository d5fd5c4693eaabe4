"""HTTP/2 in clear text with prior knowledge, both sides of it, on asyncio.

Enough for small messages: what arrives is acknowledged at once, and what is sent must fit the window.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

import h2.config
import h2.connection
import h2.events

Headers = list[tuple[str, str]]


class Reset(Exception):
    """The other side ended a stream or the connection before its time."""


class Stream:
    """One request and its answer, from either side."""

    def __init__(self, peer: Peer, stream_id: int) -> None:
        self._peer = peer
        self._id = stream_id
        self._headers: asyncio.Queue[Headers | None] = asyncio.Queue()
        self._data: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.trailers: Headers = []
        self.has_headers = False
        self.is_reset = False

    async def headers(self) -> dict[str, str]:
        """The headers that the other side sent first. Raises: Reset."""
        found = await self._headers.get()
        if found is None:
            raise Reset(f"stream {self._id} ended without headers")
        return dict(found)

    async def receive(self) -> bytes:
        """The next piece of data, b"" at the end. Raises: Reset."""
        piece = await self._data.get()
        if self.is_reset:
            raise Reset(f"stream {self._id} was reset")
        return piece or b""

    async def rest(self) -> bytes:
        """All data that is still to come. Raises: Reset."""
        pieces = []
        while piece := await self.receive():
            pieces.append(piece)
        return b"".join(pieces)

    def send_headers(self, headers: Iterable[tuple[str, str]], *, end: bool = False) -> None:
        self._peer.connection.send_headers(self._id, list(headers), end_stream=end)
        self._peer.flush()

    def send(self, data: bytes, *, end: bool = False) -> None:
        self._peer.connection.send_data(self._id, data, end_stream=end)
        self._peer.flush()

    def note_headers(self, headers: Headers) -> None:
        if self.has_headers:
            self.trailers = headers
        else:
            self.has_headers = True
            self._headers.put_nowait(headers)

    def note_data(self, data: bytes) -> None:
        if data:
            self._data.put_nowait(data)

    def note_end(self, *, is_reset: bool) -> None:
        self.is_reset = is_reset
        self._headers.put_nowait(None)
        self._data.put_nowait(None)


Answer = Callable[[Stream], Awaitable[None]]


class Peer(asyncio.Protocol):
    """One side of a connection. With `answer` it is a server's, which runs it for each stream."""

    def __init__(self, answer: Answer | None = None) -> None:
        config = h2.config.H2Configuration(client_side=answer is None, header_encoding="utf-8")
        self.connection = h2.connection.H2Connection(config)
        self._answer = answer
        self._transport: asyncio.Transport | None = None
        self._streams: dict[int, Stream] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = asyncio.Event()

    def open(self, headers: Headers, *, end: bool) -> Stream:
        """Begins a request."""
        stream_id = self.connection.get_next_available_stream_id()
        stream = self._streams[stream_id] = Stream(self, stream_id)
        stream.send_headers(headers, end=end)
        return stream

    async def close(self) -> None:
        """Returns when the connection is gone."""
        if self._transport is not None:
            self._transport.close()
            await self._closed.wait()

    def flush(self) -> None:
        if self._transport is not None:
            self._transport.write(self.connection.data_to_send())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.connection.initiate_connection()
        self.flush()

    def data_received(self, data: bytes) -> None:
        for event in self.connection.receive_data(data):
            self._take(event)
        self.flush()

    def connection_lost(self, _error: Exception | None) -> None:
        for stream in self._streams.values():
            stream.note_end(is_reset=True)
        for task in self._tasks:
            task.cancel()
        self._closed.set()

    def _take(self, event: h2.events.Event) -> None:
        if isinstance(event, h2.events.RequestReceived):
            stream = self._streams[event.stream_id] = Stream(self, event.stream_id)
            stream.note_headers(_pairs(event.headers))
            assert self._answer is not None  # only a server gets requests
            task = asyncio.ensure_future(self._answer(stream))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif isinstance(event, h2.events.ResponseReceived | h2.events.TrailersReceived):
            self._streams[event.stream_id].note_headers(_pairs(event.headers))
        elif isinstance(event, h2.events.DataReceived):
            self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            self._streams[event.stream_id].note_data(event.data)
        elif isinstance(event, h2.events.StreamEnded | h2.events.StreamReset):
            self._streams[event.stream_id].note_end(is_reset=isinstance(event, h2.events.StreamReset))


async def connect(host: str, port: int) -> Peer:
    """A client's connection. Raises: OSError."""
    _, peer = await asyncio.get_running_loop().create_connection(Peer, host, port)
    return peer


class Server:
    """Runs `answer` for each request; `port` is known after the start."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._peers: list[Peer] = []
        self.port = 0

    async def start(self, host: str) -> None:
        self._server = await asyncio.get_running_loop().create_server(self._new_peer, host, 0)
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        self._server.close()
        for peer in self._peers:
            await peer.close()

    def _new_peer(self) -> Peer:
        peer = Peer(self._answer)
        self._peers.append(peer)
        return peer


def _pairs(headers: Iterable[tuple[str | bytes, str | bytes]]) -> Headers:
    return [(_text(name), _text(value)) for name, value in headers]


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode()
