"""The DNS server on the wire: EDNS, truncation, TCP, malformed messages, ports."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import AsyncIterator

import dns.asyncquery
import dns.edns
import dns.flags
import dns.message
import dns.opcode
import pytest
from dns.rcode import Rcode
from hypothesis import given
from hypothesis import strategies as st

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.standalone.dnsserver import DnsServer
from gatepost.standalone.dnsserver.answer import Answerer, ServedTTL
from gatepost.standalone.dnsserver.message import Responder
from gatepost.standalone.errors import AddressUnusableError, PortTakenError

MANY = tuple(f"192.0.2.{number}" for number in range(1, 61))  # 60 A records: 960 octets of answer
QUERY = dns.message.make_query("app.example.com", "A", use_edns=False, id=4711)


@pytest.fixture
async def provider() -> EmbeddedProvider:
    provider = EmbeddedProvider(["example.com"])
    huge = tuple(f'"{number:03}{"x" * 200}"' for number in range(20))
    await provider.apply(
        Changes(
            create=(
                Endpoint("app.example.com", "A", ("192.0.2.1",)),
                Endpoint("many.example.com", "A", MANY),
                Endpoint("huge.example.com", "TXT", huge),
            )
        )
    )
    return provider


@pytest.fixture
async def server(provider: EmbeddedProvider) -> AsyncIterator[DnsServer]:
    async with DnsServer(provider) as server:
        yield server


async def udp(server: DnsServer, query: dns.message.Message) -> dns.message.Message:
    return await dns.asyncquery.udp(query, "127.0.0.1", timeout=5, port=server.port)


async def udp_octets(server: DnsServer, query: bytes) -> bytes:
    """The response to octets that are no proper message."""
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.setblocking(False)
        client.connect(("127.0.0.1", server.port))
        await loop.sock_sendall(client, query)
        async with asyncio.timeout(5):
            return await loop.sock_recv(client, 65535)


async def test_without_edns_a_response_over_512_octets_is_truncated(server: DnsServer) -> None:
    response = await udp(server, dns.message.make_query("many.example.com", "A", use_edns=False))
    assert response.flags & dns.flags.TC
    assert response.answer == []


async def test_the_size_that_the_client_offers_is_used_up_to_1232(server: DnsServer) -> None:
    whole = await udp(server, dns.message.make_query("many.example.com", "A", use_edns=0, payload=1232))
    assert not whole.flags & dns.flags.TC
    assert len(whole.answer[0]) == 60
    assert (whole.edns, whole.payload) == (0, 1232)
    less = await udp(server, dns.message.make_query("many.example.com", "A", use_edns=0, payload=900))
    assert less.flags & dns.flags.TC
    more = await udp(server, dns.message.make_query("huge.example.com", "TXT", use_edns=0, payload=65000))
    assert more.flags & dns.flags.TC


async def test_an_offer_below_512_counts_as_512(server: DnsServer) -> None:
    response = await udp(server, dns.message.make_query("app.example.com", "A", use_edns=0, payload=1))
    assert len(response.answer) == 1


async def test_a_client_without_edns_gets_none_back(server: DnsServer) -> None:
    assert (await udp(server, QUERY)).edns == -1


async def test_an_unknown_edns_version_is_told(server: DnsServer) -> None:
    response = await udp(server, dns.message.make_query("app.example.com", "A", use_edns=1))
    assert response.rcode() == Rcode.BADVERS
    assert response.answer == []


async def test_unknown_edns_options_are_ignored(server: DnsServer) -> None:
    option = dns.edns.GenericOption(dns.edns.OptionType.make(65001), b"whatever")
    response = await udp(server, dns.message.make_query("app.example.com", "A", use_edns=0, options=[option]))
    assert (response.rcode(), len(response.answer)) == (Rcode.NOERROR, 1)


async def test_a_truncated_answer_comes_whole_over_tcp(server: DnsServer) -> None:
    query = dns.message.make_query("huge.example.com", "TXT")
    response, used_tcp = await dns.asyncquery.udp_with_fallback(query, "127.0.0.1", timeout=5, port=server.port)
    assert used_tcp
    assert len(response.answer[0]) == 20


async def test_one_connection_serves_several_queries_also_sent_together(server: DnsServer) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    octets = QUERY.to_wire()
    message = struct.pack("!H", len(octets)) + octets
    writer.write(message + message[:5])
    assert (await tcp_response(reader)).answer[0][0].to_text() == "192.0.2.1"
    writer.write(message[5:] + message)
    for _ in range(2):
        assert (await tcp_response(reader)).answer[0][0].to_text() == "192.0.2.1"
    writer.close()
    await writer.wait_closed()


async def tcp_response(reader: asyncio.StreamReader) -> dns.message.Message:
    async with asyncio.timeout(5):
        (length,) = struct.unpack("!H", await reader.readexactly(2))
        return dns.message.from_wire(await reader.readexactly(length))


async def test_the_second_of_two_equal_queries_gets_its_own_id(server: DnsServer) -> None:
    for query_id in (1, 65535):
        query = dns.message.make_query("app.example.com", "A", id=query_id)
        assert (await udp(server, query)).id == query_id


@pytest.mark.parametrize("recursion_desired", [True, False])
async def test_the_wish_for_recursion_goes_back_as_it_came(server: DnsServer, recursion_desired: bool) -> None:
    query = dns.message.make_query(
        "app.example.com", "A", flags=dns.flags.RD if recursion_desired else dns.flags.Flag(0)
    )
    assert bool((await udp(server, query)).flags & dns.flags.RD) is recursion_desired


async def test_other_opcodes_are_not_implemented(server: DnsServer) -> None:
    notify = dns.message.make_query("example.com", "SOA", use_edns=False, id=9)
    notify.set_opcode(dns.opcode.NOTIFY)
    response = await udp_octets(server, notify.to_wire())
    # ID 9; QR, opcode NOTIFY (4), RD as it came; rcode NOTIMP (4); no sections
    assert response == bytes.fromhex("0009 a104 0000 0000 0000 0000")


@pytest.mark.parametrize(
    "octets",
    [
        bytes.fromhex("0009 0100 0001 0000 0000 0000"),  # says one question, has none
        bytes.fromhex("0009 0100 0001 0000 0000 0000 3f61"),  # a label longer than the message
        bytes.fromhex("0009 0100 0001 0000 0000 0000 c00c 0001 0001"),  # a name that points to itself
        bytes.fromhex("0009 0100 0001 0000 0000 0000 00 0001 0001 ff"),  # something behind the end
    ],
)
async def test_a_malformed_query_is_answered_with_formerr(server: DnsServer, octets: bytes) -> None:
    assert await udp_octets(server, octets) == bytes.fromhex("0009 8101 0000 0000 0000 0000")


async def test_a_query_must_ask_one_question(server: DnsServer) -> None:
    none = bytes.fromhex("0009 0100 0000 0000 0000 0000")
    two = bytes.fromhex("0009 0100 0002 0000 0000 0000 0161 00 0001 0001 0162 00 0001 0001")
    for query in (none, two):
        response = await udp_octets(server, query)
        assert response[:2] == b"\x00\x09"
        assert response[3] & 0x0F == Rcode.FORMERR


async def test_what_deserves_no_response_gets_none_and_the_server_goes_on(server: DnsServer) -> None:
    response_to_someone = dns.message.make_response(QUERY).to_wire()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.setblocking(False)
        client.connect(("127.0.0.1", server.port))
        for octets in (b"", b"\x00", response_to_someone, QUERY.to_wire()):
            client.send(octets)
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(5):
            first = dns.message.from_wire(await loop.sock_recv(client, 65535))
        # Datagrams on loopback keep their order, so the first response would belong to the first that got one.
        assert (first.id, len(first.answer)) == (4711, 1)


async def test_a_malformed_length_over_tcp_ends_only_that_connection(server: DnsServer) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"\xff\xff then nothing")
    writer.close()
    await writer.wait_closed()
    response = await dns.asyncquery.tcp(QUERY, "127.0.0.1", timeout=5, port=server.port)
    assert len(response.answer) == 1


@given(st.binary(max_size=200))
def test_no_octets_make_the_responder_fail(octets: bytes) -> None:
    zones = EmbeddedProvider(["example.com"])
    responder = Responder(Answerer(zones, None, ServedTTL()), zones)
    for response in (responder.over_udp(octets), responder.over_tcp(octets)):
        assert response is None or response[:2] == octets[:2]


@given(st.integers(min_value=0), st.integers(min_value=0, max_value=255))
def test_a_query_with_one_octet_changed_gets_a_response_that_can_be_read(position: int, value: int) -> None:
    zones = EmbeddedProvider(["example.com"])
    responder = Responder(Answerer(zones, None, ServedTTL()), zones)
    octets = bytearray(dns.message.make_query("app.example.com", "A", use_edns=0).to_wire())
    octets[position % len(octets)] = value
    response = responder.over_udp(bytes(octets))
    if response is not None:
        assert dns.message.from_wire(response).flags & dns.flags.QR


def bound_outside_the_ephemeral_range(kind: socket.SocketKind) -> socket.socket:
    """A socket on a port that no client of another test is given at the same time for the other protocol."""
    for port in range(20000 + os.getpid() % 5000, 30000):
        bound = socket.socket(socket.AF_INET, kind)
        try:
            bound.bind(("127.0.0.1", port))
        except OSError:
            bound.close()
        else:
            return bound
    raise AssertionError("no port is free between 20000 and 30000")


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
async def test_a_taken_port_is_told(provider: EmbeddedProvider, kind: socket.SocketKind) -> None:
    with bound_outside_the_ephemeral_range(kind) as other:
        if kind == socket.SOCK_STREAM:
            other.listen()
        port = other.getsockname()[1]
        protocol = "TCP" if kind == socket.SOCK_STREAM else "UDP"
        with pytest.raises(PortTakenError) as caught:
            await DnsServer(provider, port=port).start()
        assert str(caught.value) == (
            f"DNS server: {protocol} port {port} on 127.0.0.1 is already taken by another process. "
            "Stop that process, or choose another port (0 chooses a free one)."
        )


async def test_an_address_of_another_machine_is_told(provider: EmbeddedProvider) -> None:
    with pytest.raises(AddressUnusableError, match=r"DNS server: cannot listen on 192\.0\.2\.1 port 0"):
        await DnsServer(provider, host="192.0.2.1").start()


async def test_stopping_closes_open_connections_and_frees_the_port(provider: EmbeddedProvider) -> None:
    server = DnsServer(provider)
    await server.start()
    port = server.port
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    # One answered query makes sure that the connection reached the server before it stops.
    octets = QUERY.to_wire()
    writer.write(struct.pack("!H", len(octets)) + octets)
    await tcp_response(reader)
    await server.stop()
    assert await reader.read() == b""
    writer.close()
    await server.stop()
    async with DnsServer(provider, port=port) as again:
        assert again.port == port
        assert len((await udp(again, QUERY)).answer) == 1
