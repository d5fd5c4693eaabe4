"""Messages to DNS servers and their answers, over TCP or TLS, signed; the next server where one cannot be reached."""

from __future__ import annotations

import asyncio
import contextlib
import random
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence

import dns.exception
import dns.message
import dns.rcode
import dns.tsig
from msgspec import Struct

from gatepost.call_faults import reason_of_system
from gatepost.providers.rfc2136.refusals import Unusable, of_signature
from gatepost.providers.rfc2136.settings import DISABLED, RANDOM
from gatepost.providers.rfc2136.tls import require_dot

_LENGTH_OCTETS = 2

UPDATES_AT_ONCE = 20
"""BIND answers nothing at all once more than its update-quota (100) wait; with 20, an update takes no longer."""

TRANSFERS_AT_ONCE = 5
"""BIND gives no more than ten at once to all of its clients (transfers-out)."""


class Server(Struct, frozen=True):
    """Where a DNS server listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Unreachable(Exception):
    """No server could be talked to, or none gave a whole answer to be believed.

    `was_sent`: one may have taken the message.
    """

    def __init__(self, message: str, *, was_sent: bool) -> None:
        super().__init__(message)
        self.was_sent = was_sent


class Dialogue:
    """One TCP connection to a server.

    Args: key: signs what is sent, and must have signed what comes back; None for neither.
    """

    def __init__(
        self,
        server: Server,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        key: dns.tsig.Key | None,
        timeout_seconds: float,
    ) -> None:
        self.server = server
        self._reader = reader
        self._writer = writer
        self.key = key
        self._timeout_seconds = timeout_seconds

    @property
    def is_signed(self) -> bool:
        return self.key is not None

    async def ask(self, wire: bytes, message: dns.message.Message) -> dns.message.Message:
        """The one answer to a message, its signature checked.

        Raises: Unusable, Unreachable, and what a broken connection raises.
        """
        await self._send(wire)
        return self._read(await self._receive(), message)

    async def ask_many(self, message: dns.message.Message) -> AsyncGenerator[dns.message.Message, None]:
        """The answers to a transfer, one by one; ends only when the caller stops listening.

        Raises: Unusable, Unreachable, and what a broken connection raises. That the last one was signed is left to the
            caller.
        """
        wire = self.signed(message)
        await self._send(wire)
        context = None
        while True:
            # Full messages take a tenth of a second to read; in a thread they hold up nobody.
            answer = await asyncio.to_thread(self._read, await self._receive(), message, context, multi=True)
            context = answer.tsig_ctx
            yield answer

    def signed(self, message: dns.message.Message) -> bytes:
        """The message as it is sent. Raises: dns.exception.TooBig if it is larger than a message can be."""
        if self.key is not None:
            message.use_tsig(self.key)
        return message.to_wire()

    async def _send(self, wire: bytes) -> None:
        self._writer.write(len(wire).to_bytes(_LENGTH_OCTETS, "big") + wire)
        async with asyncio.timeout(self._timeout_seconds):
            await self._writer.drain()

    async def _receive(self) -> bytes:
        async with asyncio.timeout(self._timeout_seconds):
            length = int.from_bytes(await self._reader.readexactly(_LENGTH_OCTETS), "big")
            return await self._reader.readexactly(length)

    def _read(
        self,
        wire: bytes,
        asked: dns.message.Message,
        context: dns.tsig.HMACTSig | dns.tsig.GSSTSig | None = None,
        *,
        multi: bool = False,
    ) -> dns.message.Message:
        try:
            answer = dns.message.from_wire(
                wire,
                keyring=self.key,
                request_mac=asked.mac,
                xfr=multi,
                tsig_ctx=context,
                multi=multi,
                one_rr_per_rrset=multi,
            )
        except dns.tsig.PeerError as error:
            assert self.key is not None
            raise Unusable(of_signature(error, str(self.server), self.key)) from error
        except dns.exception.DNSException as error:
            unsigned = self._unsigned_refusal(wire)
            if unsigned is None:
                text = f"server {self.server} gave an answer that cannot be believed: {error or type(error).__name__}"
                raise Unreachable(text, was_sent=True) from error
            answer = unsigned
        if answer.id != asked.id:
            raise Unreachable(f"server {self.server} answered a question that was not asked", was_sent=True)
        return answer

    def _unsigned_refusal(self, wire: bytes) -> dns.message.Message | None:
        """An unsigned answer, if it says no: who does not know the zone may not sign. A yes must be signed."""
        try:
            answer = dns.message.from_wire(wire, keyring=False)
        except dns.exception.DNSException:
            return None
        return answer if answer.rcode() and not answer.had_tsig else None


class Servers:
    """The servers of the zones. One that hangs holds up only what is sent to itself.

    Args:
        servers: at least one.
        tls: for connections over TLS; None for plain ones.
        strategy: how updates are spread over them, see `Rfc2136Settings`.
        chance: numbers from 0 up to 1.
    """

    def __init__(
        self,
        servers: Sequence[Server],
        key: dns.tsig.Key | None,
        timeout_seconds: float,
        *,
        tls: ssl.SSLContext | None = None,
        strategy: str = DISABLED,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._servers = list(servers)
        self._key = key
        self._timeout_seconds = timeout_seconds
        self._tls = tls
        self._strategy = strategy
        self._chance = chance
        self._turn = 0
        self._answered: dict[str, Server] = {}
        self._updating = {server: asyncio.Semaphore(UPDATES_AT_ONCE) for server in servers}
        self._transferring = {server: asyncio.Semaphore(TRANSFERS_AT_ONCE) for server in servers}

    def in_order(self, zone: str) -> list[Server]:
        """All servers, the one that answered last for this zone first: not every server has every zone."""
        answered = self._answered.get(zone)
        return sorted(self._servers, key=lambda server: server != answered)

    def answered(self, zone: str, server: Server) -> None:
        """The one to ask first about this zone from now on."""
        self._answered[zone] = server

    def _in_turn(self, zone: str) -> list[Server]:
        """All servers in the order in which an update is offered to them."""
        if self._strategy == DISABLED:
            return self.in_order(zone)
        first = int(self._chance() * len(self._servers)) if self._strategy == RANDOM else self._turn
        self._turn = (first + 1) % len(self._servers)
        return [*self._servers[first:], *self._servers[:first]]

    @contextlib.asynccontextmanager
    async def transferring(self, server: Server) -> AsyncIterator[Dialogue]:
        """A connection for a transfer, as soon as the server has room for one. Raises: see `dialogue`."""
        async with self._transferring[server], self.dialogue(server) as dialogue:
            yield dialogue

    @contextlib.asynccontextmanager
    async def dialogue(self, server: Server) -> AsyncIterator[Dialogue]:
        """A connection to one server. Raises: Unreachable, for whatever goes wrong with the connection inside too."""
        was_sent = False
        writer: asyncio.StreamWriter | None = None
        try:
            async with asyncio.timeout(self._timeout_seconds):
                reader, writer = await asyncio.open_connection(server.host, server.port, ssl=self._tls)
            require_dot(writer, server)
            was_sent = True
            yield Dialogue(server, reader, writer, self._key, self._timeout_seconds)
        except TimeoutError as error:
            text = f"server {server} gave no answer within {self._timeout_seconds:g} s"
            raise Unreachable(text, was_sent=was_sent) from error
        except (OSError, EOFError) as error:
            raise Unreachable(
                f"server {server} {_what_happened(error, was_sent=was_sent)}", was_sent=was_sent
            ) from error
        finally:
            if writer is not None:
                await _closed(writer)

    async def update(self, zone: str, message: dns.message.Message) -> tuple[Server, dns.message.Message]:
        """Sends an update to the first server that can be reached and has the zone.

        Raises: Unreachable; if it has `was_sent`, it is not known whether the update was made.
            Unusable; dns.exception.TooBig before anything is sent.
        """
        failed: list[str] = []
        no: tuple[Server, dns.message.Message] | None = None
        for server in self._in_turn(zone):
            try:
                async with self._updating[server], self.dialogue(server) as dialogue:
                    answer = await dialogue.ask(dialogue.signed(message), message)
            except Unreachable as error:
                if error.was_sent:  # another server may know of it already, or never hear of it
                    raise
                failed.append(str(error))
                continue
            if answer.rcode() != dns.rcode.NOTAUTH:
                self.answered(zone, server)
                return server, answer
            no = server, answer
        if no is None:
            raise Unreachable("; ".join(failed), was_sent=False)
        return no


async def _closed(writer: asyncio.StreamWriter) -> None:
    """Ends a connection. TLS would wait for the other side to agree, which servers often leave out (RFC 7858 3.4)."""
    if writer.get_extra_info("ssl_object") is not None:
        writer.transport.abort()
        return
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


def _what_happened(error: Exception, *, was_sent: bool) -> str:
    reason = reason_of_system(error) if isinstance(error, OSError) else str(error) or type(error).__name__
    if not was_sent:
        return f"cannot be reached: {reason}"
    # Over TLS 1.3 a server says only after the handshake that it wants another certificate of ours.
    return f"ended TLS: {reason}" if isinstance(error, ssl.SSLError) else "ended the connection in the middle"
