"""A TCP proxy in front of a DNS server, that breaks connections at the worst moments and counts what goes through."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

_LENGTH_OCTETS = 2


class DnsProxy:
    """Hands messages on, one connection at a time or many.

    Attributes:
        cut_after: ends a connection once that many octets of answers went through; None for never.
        lost_answers: how many answers are kept back from now on, their connections ended.
        held_answers: how many are kept back with their connections left open.
        queries: messages to the server so far.
        octets, octets_asked: of answers and of queries so far.
    """

    def __init__(self, port_of_server: int) -> None:
        self._port_of_server = port_of_server
        self._connections: set[asyncio.Task[None]] = set()
        self.port = 0
        self.cut_after: int | None = None
        self.lost_answers = 0
        self.held_answers = 0
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
                    async with asyncio.TaskGroup() as tasks:
                        forward = tasks.create_task(self._forward(reader, their_writer))
                        await self._answer(their_reader, writer)
                        forward.cancel()
                finally:
                    their_writer.close()
        finally:
            writer.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError):
            while True:
                message = await _message(reader)
                self.queries += 1
                self.octets_asked += len(message)
                writer.write(message)
                await writer.drain()
        writer.write_eof()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent = 0
        with contextlib.suppress(OSError, EOFError):
            while True:
                message = await _message(reader)
                if self.lost_answers:
                    self.lost_answers -= 1
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
                    return


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
