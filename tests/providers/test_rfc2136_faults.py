"""The provider rfc2136 when things break: answers lost, transfers cut off, servers gone, answers that nobody signed."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterator

import dns.message
import pytest
from dns_proxy import proxy_before
from dns_servers import KEY_NAME, KEY_SECRET, DnsServer, needs, running
from msgspec.structs import replace
from publishing import listed, owned_by, provider_of, wanted
from record_changes import a

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.providers.contract import ProviderError
from gatepost.providers.rfc2136.provider import Rfc2136Provider
from gatepost.providers.rfc2136.settings import Rfc2136Settings

pytest_plugins = ("dns_fixtures",)

NS1 = "ns1.example.com. 300 A 127.0.0.1"
OWNED = '"heritage=external-dns,external-dns/owner=me,external-dns/resource=httproute/shop/cart"'
MANY = 2000
ME = owned_by("me")


def settings_for(port: int) -> Rfc2136Settings:
    return Rfc2136Settings(
        rfc2136_host=("127.0.0.1",),
        rfc2136_port=port,
        rfc2136_zone=("example.com",),
        rfc2136_tsig_keyname=KEY_NAME,
        rfc2136_tsig_secret=KEY_SECRET,
        rfc2136_timeout=5,
    )


@pytest.fixture(params=["bind", "knot"])
def large(request: pytest.FixtureRequest) -> Iterator[DnsServer]:
    """A server whose zone takes several messages to transfer."""
    needs(request.param)
    lines = [f"host-with-a-long-name-{number} 300 IN A 192.0.2.{number % 250 + 1}" for number in range(MANY)]
    lines += [f'text-{number} 300 IN TXT "{number} {"x" * 200}"' for number in range(MANY // 4)]
    with running(request.param, {"example.com": lines}) as started:
        yield started


async def test_an_answer_lost_after_the_change_was_made_does_no_harm(server: DnsServer) -> None:
    async with proxy_before(server.port) as proxy:
        found = await listed(provider_of(server, proxy.port), ME)
        proxy.lost_answers = 1
        with pytest.raises(ProviderError, match=r"it is not known whether changes were made: server 127.0.0.1"):
            await found.publish(wanted("app.example.com"))
        made = {NS1, "app.example.com. 300 A 192.0.2.1", f"a-app.example.com. 300 TXT {OWNED}"}
        assert server.records() == made
        again = await listed(found.provider, ME)
        assert again.plan(wanted("app.example.com")).changes == ()
        assert not [result for result in await again.publish(wanted("app.example.com", "192.0.2.2")) if result.error]
        assert "app.example.com. 300 A 192.0.2.2" in server.records()


async def test_no_answer_at_all_ends_the_wait(server: DnsServer) -> None:
    async with proxy_before(server.port) as proxy:
        provider = Rfc2136Provider(replace(settings_for(proxy.port), rfc2136_timeout=1))
        proxy.held_answers = 1
        with pytest.raises(ProviderError, match="gave no answer within 1 s"):
            await provider.apply(Changes(create=(a("app.example.com"),)))


async def test_after_a_lost_answer_the_rest_of_the_zone_is_not_sent(server: DnsServer) -> None:
    async with proxy_before(server.port) as proxy:
        provider = Rfc2136Provider(replace(settings_for(proxy.port), rfc2136_batch_change_size=1))
        found = await listed(provider, ME)
        proxy.lost_answers_to_updates = 1000
        before = proxy.queries
        with pytest.raises(ProviderError, match="ended the connection in the middle"):
            await found.publish(*(wanted(f"n{number}.example.com") for number in range(30)))
        assert proxy.queries - before == 1


async def test_half_of_the_batches_made_is_completed_by_the_next_plan(server: DnsServer) -> None:
    names = [f"n{number}.example.com" for number in range(30)]
    everything = [wanted(name) for name in names]
    async with proxy_before(server.port) as proxy:
        provider = Rfc2136Provider(replace(settings_for(proxy.port), rfc2136_batch_change_size=4))
        found = await listed(provider, ME)
        proxy.updates_let_through = 5
        with pytest.raises(ProviderError):
            await found.publish(*everything)
        assert proxy.updates_let_through == 0
        proxy.updates_let_through = None
        again = await listed(provider, ME)
        assert not [result for result in await again.publish(*everything) if result.error]
    assert server.records() == {NS1} | {f"{name}. 300 A 192.0.2.1" for name in names} | {
        f"a-{name}. 300 TXT {OWNED}" for name in names
    }


async def test_a_transfer_cut_off_in_the_middle_is_no_listing(large: DnsServer) -> None:
    async with proxy_before(large.port) as proxy:
        provider = Rfc2136Provider(settings_for(proxy.port))
        whole = len(await provider.records())
        assert whole == MANY + MANY // 4 + 2
        size = proxy.octets
        for cut in (0, 1, 100, size // 3, size // 2, size - 1):
            proxy.cut_after = cut
            with pytest.raises(ProviderError, match="ended the connection in the middle"):
                await Rfc2136Provider(settings_for(proxy.port)).records()
        proxy.cut_after = None
        assert len(await provider.records()) == whole


async def test_following_a_change_costs_nothing_near_the_zone(large: DnsServer) -> None:
    async with proxy_before(large.port) as proxy:
        provider = Rfc2136Provider(settings_for(proxy.port))
        await provider.records()
        assert proxy.octets > 50_000
        other = Rfc2136Provider(settings_for(large.port))
        await other.apply(Changes(create=(a("new.example.com"),)))
        proxy.octets = 0
        assert "new.example.com" in {endpoint.dns_name for endpoint in await provider.records()}
        assert proxy.octets < 1500
        proxy.octets = 0
        await provider.records()
        assert proxy.octets < 400  # only the SOA record


async def test_differences_that_do_not_come_whole_are_replaced_by_the_whole_zone(large: DnsServer) -> None:
    async with proxy_before(large.port) as proxy:
        provider = Rfc2136Provider(settings_for(proxy.port))
        before = len(await provider.records())
        other = Rfc2136Provider(settings_for(large.port))
        await other.apply(Changes(create=tuple(a(f"new-{number}.example.com") for number in range(300))))
        proxy.cut_after = 600  # the SOA gets through, the differences do not
        with pytest.raises(ProviderError):
            await provider.records()
        proxy.cut_after = None
        assert len(await provider.records()) == before + 300


async def test_the_next_server_is_asked_when_one_is_gone(server: DnsServer) -> None:
    provider = Rfc2136Provider(replace(settings_for(server.port), rfc2136_host=("127.0.0.9", "127.0.0.1")))
    assert await provider.zones() == ["example.com"]
    assert [result.error for result in await provider.apply(Changes(create=(a("app.example.com"),)))] == [""]
    assert "app.example.com. 300 A 192.0.2.1" in server.records()


async def test_a_server_that_cannot_be_reached_is_told_for_each_record() -> None:
    provider = Rfc2136Provider(replace(settings_for(1), rfc2136_host=("127.0.0.9",)))
    with pytest.raises(ProviderError, match=r"server 127.0.0.9:1 cannot be reached"):
        await provider.zones()
    fresh = Rfc2136Provider(replace(settings_for(1), rfc2136_host=("127.0.0.9",)))
    [result] = await fresh.apply(Changes(create=(a("app.example.com"),)))
    assert "server 127.0.0.9:1 cannot be reached" in result.error


@contextlib.asynccontextmanager
async def impostor() -> AsyncIterator[int]:
    """A server that says yes to everything, and signs nothing."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError):
            length = int.from_bytes(await reader.readexactly(2), "big")
            asked = dns.message.from_wire(await reader.readexactly(length), keyring=False)
            said = dns.message.make_response(asked)
            said.tsig = None
            wire = said.to_wire()
            writer.write(len(wire).to_bytes(2, "big") + wire)
            await writer.drain()
        writer.close()

    serving = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield serving.sockets[0].getsockname()[1]
    finally:
        serving.close()


async def test_a_yes_that_is_not_signed_is_not_believed() -> None:
    async with impostor() as port:
        provider = Rfc2136Provider(settings_for(port))
        with pytest.raises(ProviderError, match="cannot be believed: response requires a TSIG"):
            await provider.apply(Changes(create=(a("app.example.com"),)))


async def test_records_too_large_for_a_message_are_refused_alone(server: DnsServer) -> None:
    provider = Rfc2136Provider(settings_for(server.port))
    texts = tuple(f'"{os.urandom(100).hex()}"' for _ in range(400))
    results = await provider.apply(Changes(create=(Endpoint("big.example.com", "TXT", texts), a("app.example.com"))))
    assert {result.key.dns_name: result.error for result in results} == {
        "app.example.com": "",
        "big.example.com": "the records of this name do not fit into one DNS message of 64 KiB",
    }


async def test_two_hundred_updates_at_once_all_get_through(server: DnsServer) -> None:
    provider = Rfc2136Provider(replace(settings_for(server.port), rfc2136_batch_change_size=1))
    results = await provider.apply(Changes(create=tuple(a(f"n{number}.example.com") for number in range(200))))
    assert not [result for result in results if result.error]
    assert len(server.records()) == 201
