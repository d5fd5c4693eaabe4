"""Names of gateways asked of a DNS server over UDP, on a clock that only the test moves."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from gatepost.cluster.client import MERGE_PATCH, Client
from gatepost.cluster.connection import Connection, Server
from gatepost.dns.endpoint import Changes
from gatepost.dns.endpoint import Endpoint as Record
from gatepost.objects.lookups import NameLookup
from gatepost.objects.refs import Ref
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.runtime.controllers import Controllers
from gatepost.runtime.lookups import DnsResolver, Found, LookupFailed, NameLookups
from gatepost.runtime.wiring import reconcilers, written_kinds
from gatepost.standalone.apiserver.server import ApiServer
from gatepost.standalone.dnsserver import DnsServer
from running_controllers import running

Raw = dict[str, Any]

NAME = "gw.example.com"


class Clock:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.asleep = asyncio.Event()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def now(self) -> float:
        return self.seconds

    async def wait(self, seconds: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._sleepers, (self.seconds + seconds, self._count, woken))
        self.asleep.set()
        await woken

    async def until_asleep(self) -> float:
        """Returns, when somebody waits, for how many seconds the first does."""
        while not any(not woken.done() for _, _, woken in self._sleepers):
            self.asleep.clear()
            await self.asleep.wait()
        return round(min(due for due, _, woken in self._sleepers if not woken.done()) - self.seconds, 6)

    async def pass_by(self, seconds: float) -> None:
        """Moves on, wakes whoever waited for that long, and returns when they wait again."""
        self.seconds += seconds
        while self._sleepers and self._sleepers[0][0] <= self.seconds:
            woken = heapq.heappop(self._sleepers)[2]
            if not woken.done():
                woken.set_result(None)
        await self.until_asleep()


class Scripted:
    """A resolver with one answer at a time; `asked` are the names in the order in which it was asked for them."""

    def __init__(self, answer: Found | None) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def addresses(self, name: str) -> Found:
        self.asked.append(name)
        if self.answer is None:
            raise LookupFailed("no server answers")
        return self.answer


class Slow(Scripted):
    """A resolver that answers when it is let."""

    def __init__(self, answer: Found) -> None:
        super().__init__(answer)
        self.is_asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def addresses(self, name: str) -> Found:
        self.is_asked.set()
        await self.may_answer.wait()
        return await super().addresses(name)


class Kept:
    """Where answers go."""

    def __init__(self) -> None:
        self.answers: list[tuple[str, tuple[str, ...]]] = []
        self.dropped: list[str] = []

    def put(self, answer: NameLookup) -> None:
        self.answers.append((answer.metadata.name, answer.addresses))

    def drop(self, ref: Ref) -> None:
        self.dropped.append(ref.name)


@asynccontextmanager
async def looking_up(resolver: Any, *names: str, chance: float = 0.0) -> AsyncIterator[tuple[Clock, Kept, NameLookups]]:
    clock, kept = Clock(), Kept()
    lookups = NameLookups(resolver, kept.put, kept.drop, now=clock.now, wait=clock.wait, chance=lambda: chance)
    try:
        lookups.want(names)
        if names:
            await clock.until_asleep()
        yield clock, kept, lookups
    finally:
        await lookups.stop()


@asynccontextmanager
async def dns_server(*records: Record) -> AsyncIterator[tuple[EmbeddedProvider, DnsResolver]]:
    provider = EmbeddedProvider(["example.com"])
    await provider.apply(Changes(create=records))
    async with DnsServer(provider) as server:
        yield provider, DnsResolver([server.host], server.port)


async def test_both_families_are_asked_and_the_shortest_ttl_counts() -> None:
    a, aaaa = Record(NAME, "A", ("192.0.2.2", "192.0.2.1"), 60), Record(NAME, "AAAA", ("2001:db8::1",), 20)
    async with dns_server(a, aaaa) as (_, resolver):
        assert await resolver.addresses(NAME) == Found(("192.0.2.1", "192.0.2.2", "2001:db8::1"), 20.0)


async def test_alias_is_followed_and_its_ttl_counts_too() -> None:
    alias = Record(NAME, "CNAME", ("lb.example.com",), 7)
    async with dns_server(alias, Record("lb.example.com", "A", ("192.0.2.1",), 60)) as (_, resolver):
        assert await resolver.addresses(f"{NAME}.") == Found(("192.0.2.1",), 7.0)


async def test_name_that_does_not_exist_has_no_addresses_and_a_name_of_nobody_is_a_failure() -> None:
    async with dns_server(Record("other.example.com", "TXT", ("x",))) as (_, resolver):
        assert (await resolver.addresses(NAME)).addresses == ()
        assert (await resolver.addresses("other.example.com")).addresses == ()
        with pytest.raises(LookupFailed, match=r"gw\.example\.net"):
            await resolver.addresses("gw.example.net")  # the server refuses: it is not its zone
        with pytest.raises(LookupFailed, match="is no name that DNS could hold"):
            await resolver.addresses("a..b")


@pytest.mark.parametrize(("ttl", "seconds"), [(1, 5.0), (60, 60.0), (86400, 300.0)])
async def test_name_is_asked_again_when_its_ttl_is_up_within_bounds(ttl: int, seconds: float) -> None:
    async with (
        dns_server(Record(NAME, "A", ("192.0.2.1",), ttl)) as (provider, resolver),
        looking_up(resolver, NAME) as (clock, kept, _),
    ):
        assert await clock.until_asleep() == seconds
        await provider.apply(Changes(delete=(Record(NAME, "A", ("192.0.2.1",), ttl),)))
        await provider.apply(Changes(create=(Record(NAME, "A", ("192.0.2.9",), ttl),)))
        await clock.pass_by(seconds - 1)
        assert kept.answers == [(NAME, ("192.0.2.1",))]
        await clock.pass_by(1)
        assert kept.answers == [(NAME, ("192.0.2.1",)), (NAME, ("192.0.2.9",))]


async def test_same_answer_again_is_no_news() -> None:
    async with looking_up(Scripted(Found(("192.0.2.1",), 60)), NAME) as (clock, kept, _):
        await clock.pass_by(60)
        await clock.pass_by(60)
        assert kept.answers == [(NAME, ("192.0.2.1",))]


async def test_jitter_makes_the_wait_up_to_a_tenth_longer() -> None:
    async with looking_up(Scripted(Found(("192.0.2.1",), 60)), NAME, chance=0.5) as (clock, _, _):
        assert await clock.until_asleep() == 63.0


async def test_name_that_is_wanted_twice_is_asked_once_and_one_that_nobody_wants_no_more() -> None:
    resolver = Scripted(Found(("192.0.2.1",), 60))
    async with looking_up(resolver, NAME, NAME, "lb.example.com") as (clock, kept, lookups):
        lookups.want([NAME, "lb.example.com"])
        await clock.until_asleep()
        assert sorted(resolver.asked) == [NAME, "lb.example.com"]
        lookups.want([NAME])
        assert kept.dropped == ["lb.example.com"]
        await clock.pass_by(60)
        assert sorted(resolver.asked) == [NAME, NAME, "lb.example.com"]


async def test_failure_keeps_the_last_answer_and_is_tried_again_later_and_later() -> None:
    resolver = Scripted(Found(("192.0.2.1",), 60))
    async with looking_up(resolver, NAME) as (clock, kept, _):
        resolver.answer = None
        waits = []
        await clock.pass_by(60)
        for _ in range(8):
            waits.append(await clock.until_asleep())
            await clock.pass_by(waits[-1])
        assert waits == [5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0]
        assert kept.answers == [(NAME, ("192.0.2.1",))]
        resolver.answer = Found(("192.0.2.9",), 60)
        await clock.pass_by(300)
        assert kept.answers[1:] == [(NAME, ("192.0.2.9",))]


async def test_name_that_vanished_keeps_its_addresses_for_a_grace_time_and_then_has_none() -> None:
    resolver = Scripted(Found(("192.0.2.1",), 60))
    async with looking_up(resolver, NAME) as (clock, kept, _):
        resolver.answer = Found(())
        await clock.pass_by(60)
        gone_at = clock.seconds
        while len(kept.answers) == 1:
            assert clock.seconds - gone_at < 300 + 160  # the first look after the grace time
            await clock.pass_by(await clock.until_asleep())
        assert clock.seconds - gone_at >= 300
        assert kept.answers == [(NAME, ("192.0.2.1",)), (NAME, ())]


async def test_name_that_comes_back_within_the_grace_time_was_never_gone() -> None:
    resolver = Scripted(Found(("192.0.2.1",), 60))
    async with looking_up(resolver, NAME) as (clock, kept, _):
        resolver.answer = Found(())
        await clock.pass_by(60)
        resolver.answer = Found(("192.0.2.1",), 60)
        await clock.pass_by(5)
        resolver.answer = Found(())
        await clock.pass_by(60)
        await clock.pass_by(250)
        assert kept.answers == [(NAME, ("192.0.2.1",))]


async def test_name_that_was_never_seen_to_have_an_address_is_believed_only_after_the_grace_time_too() -> None:
    async with looking_up(Scripted(Found(())), NAME) as (clock, kept, lookups):
        assert lookups.have_asked([NAME])
        assert not lookups.have_asked([NAME, "other.example.com"])
        started_at = clock.seconds
        while not kept.answers:
            assert clock.seconds - started_at < 300 + 160
            await clock.pass_by(await clock.until_asleep())
        assert clock.seconds - started_at >= 300
        assert kept.answers == [(NAME, ())]


# In the loop


ROUTES = "/apis/serving.knative.dev/v1/namespaces/shop"
NETWORKING = "/apis/networking.internal.knative.dev/v1alpha1/namespaces/shop/ingresses"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices"


class Shop:
    def __init__(self, client: Client) -> None:
        self.client = client

    async def write(self, method: str, path: str, body: Raw, content_type: str = "application/json") -> None:
        await self.client.write(method, path, {"fieldManager": "test"}, body, content_type)

    async def put_route(self, name: str) -> None:
        """A Route to one ready revision, with a gateway that reports a name outside of the cluster."""
        meta = {"name": name, "namespace": "shop"}
        ready = {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]}
        serving = {"apiVersion": "serving.knative.dev/v1", "metadata": meta}
        traffic = [{"revisionName": name, "latestRevision": False, "percent": 100}]
        await self.write("POST", f"{ROUTES}/revisions", {**serving, "kind": "Revision", "spec": {"containers": [{}]}})
        await self.write("PATCH", f"{ROUTES}/revisions/{name}/status", {"status": ready}, MERGE_PATCH)
        await self.write("POST", f"{ROUTES}/routes", {**serving, "kind": "Route", "spec": {"traffic": traffic}})

    async def report(self, name: str, entry: Raw) -> None:
        """What the gateway reports in the status of a Route's KIngress."""
        status = {"privateLoadBalancer": {"ingress": [entry]}}
        await self.write("PATCH", f"{NETWORKING}/{name}/status", {"status": status}, MERGE_PATCH)

    async def slices(self) -> dict[str, list[str]]:
        found = msgspec.json.decode(await self.client.read(SLICES))["items"]
        return {raw["metadata"]["name"]: [e["addresses"][0] for e in raw["endpoints"]] for raw in found}


async def test_routes_are_led_to_what_dns_says_of_their_gateway_with_one_look_up_for_all() -> None:
    resolver = Scripted(Found(("192.0.2.1", "2001:db8::1"), 60))
    names = written_kinds(["route"])
    wiring = reconcilers(["route"])
    async with ApiServer() as server, Client(Connection(Server(server.url))) as client:
        shop = Shop(client)
        await shop.write("POST", "/api/v1/namespaces", {"metadata": {"name": "shop"}})
        await shop.put_route("web")
        await shop.put_route("api")
        controllers = Controllers(client, wiring.rules, wiring.indexes, written=names, resolver=resolver)
        async with running(controllers) as loop:
            await loop.rest()
            assert loop.failures == []
            assert resolver.asked == []
            await shop.report("web", {"domain": NAME})
            await shop.report("api", {"domain": NAME})
            seen = loop.movements.count
            while len(await shop.slices()) < 4:
                seen = await loop.movements.after(seen)
            await loop.rest()
            assert resolver.asked == [NAME]
        assert await shop.slices() == {
            "api-ipv4": ["192.0.2.1"],
            "api-ipv6": ["2001:db8::1"],
            "web-ipv4": ["192.0.2.1"],
            "web-ipv6": ["2001:db8::1"],
        }


async def test_rest_waits_until_every_name_was_asked_for() -> None:
    wiring = reconcilers(["route"])
    async with ApiServer() as server, Client(Connection(Server(server.url))) as client:
        shop = Shop(client)
        await shop.write("POST", "/api/v1/namespaces", {"metadata": {"name": "shop"}})
        await shop.put_route("web")
        written = written_kinds(["route"])
        first = Controllers(client, wiring.rules, wiring.indexes, written=written, resolver=Scripted(None))
        async with running(first) as loop:
            await loop.rest()
        await shop.report("web", {"domain": NAME})
        resolver = Slow(Found(("192.0.2.1",), 60))
        again = Controllers(client, wiring.rules, wiring.indexes, written=written, resolver=resolver)
        async with running(again) as loop:
            rest = asyncio.create_task(loop.rest())
            await resolver.is_asked.wait()
            seen = loop.movements.count
            while not loop.workers.is_idle:
                seen = await loop.movements.after(seen)
            for _ in range(20):  # turns in which it would end if it did not wait
                await asyncio.sleep(0)
            assert not rest.done()
            resolver.may_answer.set()
            await rest
        assert await shop.slices() == {"web-ipv4": ["192.0.2.1"]}
