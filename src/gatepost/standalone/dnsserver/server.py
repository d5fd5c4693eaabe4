"""The sockets of the DNS server: UDP and TCP on one port."""

from __future__ import annotations

import asyncio
import struct
from typing import cast

from gatepost.standalone.dnsserver.answer import Answerer, ServedTTL, Zone, Zones
from gatepost.standalone.dnsserver.message import Responder
from gatepost.standalone.ports import bind_udp_and_tcp

_TCP_IDLE_SECONDS = 30.0


class DnsServer:
    """Serves `zones`, and cluster-local names from `cluster`, until it is stopped.

    Args:
        zones: read at each query, usually an EmbeddedProvider.
        cluster: a zone whose answers may change at any time, usually a ClusterZone.
        host: the address to listen on, IPv4 or IPv6.
        port: the number for both UDP and TCP; 0 chooses one that is free for both.
        ttl: for record sets that set none, and for negative answers.
    """

    def __init__(
        self,
        zones: Zones,
        cluster: Zone | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        ttl: ServedTTL = ServedTTL(),  # noqa: B008 - immutable
    ) -> None:
        self.host = host
        self._wanted_port = port
        self._responder = Responder(Answerer(zones, cluster, ttl), zones)
        self._udp: asyncio.DatagramTransport | None = None
        self._tcp: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._port = 0

    @property
    def port(self) -> int:
        """The port that is listened on; 0 before the start."""
        return self._port

    async def start(self) -> None:
        """Returns once queries are answered. Raises: PortTakenError, AddressUnusableError."""
        udp, tcp = bind_udp_and_tcp("DNS server", self.host, self._wanted_port)
        self._port = tcp.getsockname()[1]
        loop = asyncio.get_running_loop()
        self._udp, _ = await loop.create_datagram_endpoint(lambda: _Datagrams(self._responder), sock=udp)
        self._tcp = await asyncio.start_server(self._serve_connection, sock=tcp)

    async def stop(self) -> None:
        """Closes the sockets and open connections. Stopping what was not started, or twice, does nothing."""
        if self._tcp is not None:
            self._tcp.close()
        if self._udp is not None:
            self._udp.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if self._tcp is not None:
            await self._tcp.wait_closed()
        self._tcp = self._udp = None
        self._port = 0

    async def __aenter__(self) -> DnsServer:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._answer_queries(reader, writer)
        except (ConnectionError, TimeoutError, asyncio.IncompleteReadError):
            pass  # the client left, in whatever way
        except asyncio.CancelledError:
            pass  # the server stops; nobody waits for this task but `stop`
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer_queries(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one query after the other (RFC 7766) until the client leaves or sends nothing for a while."""
        while True:
            async with asyncio.timeout(_TCP_IDLE_SECONDS):
                (octets,) = struct.unpack("!H", await reader.readexactly(2))
                query = await reader.readexactly(octets)
            response = self._responder.over_tcp(query)
            if response is None:
                return
            writer.write(struct.pack("!H", len(response)) + response)
            async with asyncio.timeout(_TCP_IDLE_SECONDS):
                await writer.drain()


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, responder: Responder) -> None:
        self._responder = responder
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)  # not a subclass of it in every event loop

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        response = self._responder.over_udp(data)
        if response is not None and self._transport is not None:
            self._transport.sendto(response, addr)
