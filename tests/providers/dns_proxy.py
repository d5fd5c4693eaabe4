"""A TCP proxy in front of a DNS server, that breaks connections at the worst moments and counts what goes through."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

_LENGTH_OCTETS = 2
_UPDATE = 5


class DnsProxy:
    """Hands messages on, one connection at a time or many.

    Attributes:
        cut_after: ends a connection once that many octets of answers went through; None for never.
        lost_answers: how many answers are kept back from now on, their connections ended.
        lost_answers_to_updates: the same, where other answers get through.
        held_answers: how many are kept back with their connections left open.
        updates_let_through: how many updates still get to the server, the connections of all others are ended; None for
            no limit.
        on_update: told of each update that a client sends, before it goes on.
        broken: how many connections were ended in these ways so far.
        queries: messages to the server so far.
        octets, octets_asked: of answers and of queries so far.
    """

    def __init__(self, port_of_server: int) -> None:
        self._port_of_server = port_of_server
        self._connections: set[asyncio.Task[None]] = set()
        self.port = 0
        self.cut_after: int | None = None
        self.lost_answers = 0
        self.lost_answers_to_updates = 0
        self.held_answers = 0
        self.updates_let_through: int | None = None
        self.on_update: Callable[[bytes], None] = lambda wire: None
        self.broken = 0
        self.queries = 0
        self.octets = 0
        self.octets_asked = 0

    async def stop(self) -> None:
        """Ends all connections."""
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        try:
            # Cancelled by `stop`: asyncio cannot tell that from a failure, and would say so.
            with contextlib.suppress(OSError, EOFError, asyncio.CancelledError):
                their_reader, their_writer = await asyncio.open_connection("127.0.0.1", self._port_of_server)
                try:
                    updates: set[bytes] = set()
                    async with asyncio.TaskGroup() as tasks:
                        forward = tasks.create_task(self._forward(reader, their_writer, updates))
                        await self._answer(their_reader, writer, updates)
                        forward.cancel()
                finally:
                    their_writer.close()
        finally:
            writer.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, updates: set[bytes]) -> None:
        """Args: updates: takes the identifiers of the updates that go through."""
        with contextlib.suppress(OSError, EOFError):
            while True:
                message = await _message(reader)
                self.queries += 1
                self.octets_asked += len(message)
                if _is_update(message):
                    self.on_update(message[_LENGTH_OCTETS:])
                    if not self._lets_through():
                        break
                    updates.add(_id_of(message))
                writer.write(message)
                await writer.drain()
        writer.write_eof()

    def _loses(self, *, is_to_update: bool) -> bool:
        """Whether an answer does not go on to the client."""
        if self.lost_answers:
            self.lost_answers -= 1
            return True
        if is_to_update and self.lost_answers_to_updates:
            self.lost_answers_to_updates -= 1
            return True
        return False

    def _lets_through(self) -> bool:
        """Whether an update goes on to the server."""
        if self.updates_let_through is None:
            return True
        if self.updates_let_through:
            self.updates_let_through -= 1
            return True
        self.broken += 1
        return False

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, updates: set[bytes]) -> None:
        sent = 0
        with contextlib.suppress(OSError, EOFError):
            while True:
                message = await _message(reader)
                if self._loses(is_to_update=_id_of(message) in updates):
                    self.broken += 1
                    return
                if self.held_answers:
                    self.held_answers -= 1
                    continue
                room = len(message) if self.cut_after is None else max(0, self.cut_after - sent)
                writer.write(message[:room])
                await writer.drain()
                sent += len(message)
                self.octets += len(message)
                if room < len(message):
                    self.broken += 1
                    return


def _is_update(message: bytes) -> bool:
    """Whether a message, with its length before it, has the opcode UPDATE (RFC 2136 2.2)."""
    return message[_LENGTH_OCTETS + 2] >> 3 & 0xF == _UPDATE


def _id_of(message: bytes) -> bytes:
    return message[_LENGTH_OCTETS : _LENGTH_OCTETS + 2]


async def _message(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readexactly(_LENGTH_OCTETS)
    return head + await reader.readexactly(int.from_bytes(head, "big"))


@contextlib.asynccontextmanager
async def proxy_before(port: int) -> AsyncIterator[DnsProxy]:
    """A proxy on a free port of 127.0.0.1 until the block ends."""
    proxy = DnsProxy(port)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.stop()
