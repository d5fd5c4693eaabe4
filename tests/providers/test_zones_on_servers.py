"""Zones that fail one by one on real servers: unknown, closed, on a server that hangs; and servers that take turns."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import pytest
from dns_proxy import proxy_before
from dns_servers import KEY_NAME, KEY_SECRET, needs, running
from msgspec.structs import replace
from publishing import owned_by, wanted
from record_changes import a

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership.registry import inventory
from gatepost.dns.planner import Planner
from gatepost.dns.standing import GONE, Standing
from gatepost.providers.contract import ZonesUnknown
from gatepost.providers.rfc2136.provider import Rfc2136Provider
from gatepost.providers.rfc2136.servers import Server, Servers
from gatepost.providers.rfc2136.settings import Rfc2136Settings
from gatepost.runtime.dns.reading import Read, read_provider

ZONES = {"example.com": (), "sub.example.com": ("old IN A 192.0.2.9",), "example.org": ()}
TIMEOUT_SECONDS = 2


def settings(*ports: int, zones: tuple[str, ...] = tuple(ZONES)) -> Rfc2136Settings:
    """Servers on 127.0.0.1; where there are several ports, see `provider_at`."""
    return Rfc2136Settings(
        rfc2136_host=("127.0.0.1",),
        rfc2136_port=ports[0],
        rfc2136_zone=zones,
        rfc2136_tsig_keyname=KEY_NAME,
        rfc2136_tsig_secret=KEY_SECRET,
        rfc2136_timeout=TIMEOUT_SECONDS,
    )


def provider_at(*ports: int, zones: tuple[str, ...] = tuple(ZONES)) -> Rfc2136Provider:
    """A provider over several servers that differ in their ports, which the flags do not allow for."""
    provider = Rfc2136Provider(settings(*ports, zones=zones))
    provider._servers = Servers([Server("127.0.0.1", port) for port in ports], provider._key, TIMEOUT_SECONDS)
    return provider


def planned(read: Read, *names: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The names that are changed, and the problems: whose, and why."""
    me = owned_by("me")
    held: Inventory = inventory(me, read.endpoints, read.served.zones or ())
    planner = Planner(me, lambda resource, key: Standing(GONE, "gone"), served=read.served)
    plan = planner.plan_all(held, [wanted(name, route=name.split(".")[0]) for name in names])
    problems = [(problem.about.name, problem.message) for problem in plan.problems]
    return [change.record.dns_name for change in plan.changes], problems


@pytest.mark.parametrize("kind", ["bind", "knot"])
async def test_a_zone_that_the_server_does_not_have_is_unread_and_its_names_fall_to_no_other(kind: str) -> None:
    needs(kind)
    with running(kind, {"example.com": ()}) as server:
        provider = Rfc2136Provider(settings(server.port, zones=("example.com", "sub.example.com")))
        read = await read_provider(provider)
        names, [(who, why)] = planned(read, "app.example.com", "inner.sub.example.com")
        assert names == ["app.example.com"]
        assert who == "inner"
        assert why.startswith(
            "zone sub.example.com cannot be read, and its names are left as they are: "
            f"server 127.0.0.1:{server.port} is not authoritative for zone sub.example.com"
        )
        assert why.endswith("check --rfc2136-zone (NOTAUTH)")


async def test_a_zone_whose_transfer_is_refused_stops_only_itself_and_comes_back() -> None:
    needs("bind")
    with running("bind", ZONES, closed=["sub.example.com"]) as server:
        provider = Rfc2136Provider(settings(server.port))
        read = await read_provider(provider)
        names, [(who, why)] = planned(read, "app.example.com", "app.example.org", "inner.sub.example.com")
        assert names == ["app.example.com", "app.example.org"]
        assert who == "inner"
        assert "refuses: what it is configured to allow does not cover TSIG key gatepost" in why
        with pytest.raises(ZonesUnknown, match="REFUSED"):
            await provider.read_again("sub.example.com")
    with running("bind", ZONES, port=server.port):
        found = await provider.read_again("sub.example.com")
        assert Endpoint("old.sub.example.com", "A", ("192.0.2.9",), 300) in found
        assert provider.unread() == []


@contextlib.asynccontextmanager
async def hanging() -> AsyncIterator[int]:
    """A server that takes connections and never says a word."""

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            await reader.read()
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def test_a_zone_on_a_server_that_hangs_holds_up_no_other_for_long() -> None:
    needs("bind")
    with running("bind", {"example.com": ()}) as server:
        async with hanging() as port:
            provider = provider_at(server.port, port, zones=("example.com", "example.org"))
            assert await provider.zones() == ["example.com"]
            [unread] = provider.unread()
            assert unread.name == "example.org"
            assert f"server 127.0.0.1:{port} gave no answer within {TIMEOUT_SECONDS} s" in unread.why
            begun = time.monotonic()
            assert await provider.zones() == ["example.com"]
            assert time.monotonic() - begun < TIMEOUT_SECONDS  # it is known to hang, and is not waited for again
            assert provider.unread() == [unread]
            assert [result.error for result in await provider.apply(Changes(create=(a("app.example.com"),)))] == [""]


async def test_zones_on_two_servers_are_read_and_written_where_they_are() -> None:
    needs("bind")
    with running("bind", {"example.com": ()}) as one, running("bind", {"example.org": ()}) as other:
        provider = provider_at(one.port, other.port, zones=("example.com", "example.org"))
        assert await provider.zones() == ["example.com", "example.org"]
        results = await provider.apply(Changes(create=(a("app.example.com"), a("app.example.org"))))
        assert [result.error for result in results] == ["", ""]
        assert one.answer("app.example.com", "A") == ["192.0.2.1"]
        assert other.answer("app.example.org", "A") == ["192.0.2.1"]


async def test_updates_that_hang_in_one_zone_leave_the_results_of_the_other() -> None:
    needs("bind")
    with running("bind", {"example.com": ()}) as one, running("bind", {"example.org": ()}) as other:
        async with proxy_before(other.port) as proxy:
            provider = provider_at(one.port, proxy.port, zones=("example.com", "example.org"))
            await provider.zones()
            proxy.held_answers = 1
            with pytest.raises(ZonesUnknown) as caught:
                await provider.apply(Changes(create=(a("app.example.com"), a("app.example.org"))))
            [lost] = caught.value.zones
            assert lost.name == "example.org"
            assert lost.why.startswith("it is not known whether changes were made: server 127.0.0.1:")
            [made] = caught.value.results
            assert (made.key.dns_name, made.error) == ("app.example.com", "")
            assert replace(a("app.example.org"), record_ttl=300) in await provider.read_again("example.org")


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [("disabled", [0, 0, 0, 0]), ("round-robin", [0, 1, 2, 0]), ("random", [2, 0, 1, 2])],
)
async def test_updates_are_spread_over_the_servers_as_the_strategy_says(strategy: str, expected: list[int]) -> None:
    needs("bind")
    chances = iter([0.99, 0.0, 0.5, 0.7])
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(running("bind")) for _ in range(3)]
        provider = Rfc2136Provider(replace(settings(started[0].port, zones=("example.com",)), rfc2136_axfr=False))
        servers = [Server("127.0.0.1", server.port) for server in started]
        provider._servers = Servers(servers, provider._key, 5, strategy=strategy, chance=lambda: next(chances))
        for number, server in enumerate(expected):
            await provider.apply(Changes(create=(a(f"n{number}.example.com"),)))
            answers = [other.answer(f"n{number}.example.com", "A") for other in started]
            assert answers == [["192.0.2.1"] if index == server else [] for index in range(3)]
