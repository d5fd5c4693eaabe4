"""Zones that cannot be read, or are lost on the way: they stop only themselves, and are told where their names are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.names import zone_of
from gatepost.dns.ownership.txt_format import OWNED_RECORD
from gatepost.dns.served import UnreadZone
from gatepost.objects.problems import Problem
from gatepost.providers.contract import RecordResult, ZonesUnknown
from gatepost.providers.embedded import EmbeddedProvider
from publishing_cluster import Cluster, HandClock, Provider, gateway, namespace, publishing, route

ZONES = ("example.com", "example.org", "sub.example.com")
WHY = "server ns1 refuses (REFUSED); allow the transfer"


class ZonedProvider(Provider):
    """Zones in memory, each of which can be broken by itself.

    Attributes:
        broken: why a zone cannot be read, by its name.
        losing: zones whose next changes are made, and never answered.
        hanging: set to let attempts at single zones go on.
        read_alone: the zones that were read by themselves.
    """

    def __init__(self, **broken: str) -> None:
        super().__init__()
        EmbeddedProvider.__init__(self, ZONES)
        self.broken = {name.replace("_", "."): why for name, why in broken.items()}
        self.losing: set[str] = set()
        self.hanging: asyncio.Event | None = None
        self.read_alone: list[str] = []
        self._lost: set[str] = set()

    async def zones(self) -> Sequence[str]:
        self._lost.clear()
        if self.broken.keys() == set(ZONES):
            raise ZonesUnknown(self.unread())
        return [zone for zone in ZONES if zone not in self.broken]

    async def records(self) -> Sequence[Endpoint]:
        return [record for record in await super().records() if self._zone(record) not in self.broken]

    def unread(self) -> Sequence[UnreadZone]:
        return [UnreadZone(zone, why) for zone, why in sorted(self.broken.items())]

    async def read_again(self, zone: str) -> Sequence[Endpoint]:
        self.read_alone.append(zone)
        if self.hanging is not None:
            await self.hanging.wait()
        if zone in self.broken:
            raise ZonesUnknown([UnreadZone(zone, self.broken[zone])])
        self._lost.discard(zone)
        return [record for record in await EmbeddedProvider.records(self) if self._zone(record) == zone]

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        touched = {self._zone(record) for record in (*changes.create, *changes.update_new, *changes.delete)}
        assert not touched & self.broken.keys(), "nothing is to be sent to a zone of which nothing is known"
        results = await super().apply(changes)
        lost = touched & self.losing
        if not lost:
            return results
        self.losing -= lost
        records = {r.key: r for r in (*changes.create, *changes.update_new, *changes.delete)}
        known = [result for result in results if self._zone(records[result.key]) not in lost]
        raise ZonesUnknown([UnreadZone(zone, "the answer was lost") for zone in sorted(lost)], known)

    def _zone(self, record: Endpoint) -> str:
        return zone_of(record.labels.get(OWNED_RECORD) or record.dns_name, ZONES) or ""


async def with_routes(cluster: Cluster, *names: str) -> dict[str, tuple[str, ...]]:
    """A Route of each name, called by its first label. Returns: the addresses in DNS at rest."""
    cluster.put(namespace("shop"), gateway(), *(route(name.partition(".")[0], name) for name in names))
    cluster.complete()
    return await cluster.rest()


def told(cluster: Cluster) -> list[tuple[str, str]]:
    return sorted((problem.about.name, problem.reason) for problem in cluster.told)


async def test_a_zone_that_cannot_be_read_stops_only_itself_and_is_told_on_the_objects_behind_its_names() -> None:
    async with publishing(ZonedProvider(sub_example_com=WHY)) as cluster:
        assert await with_routes(cluster, "a.example.com", "b.sub.example.com", "c.example.org") == {
            "a.example.com": ("192.0.2.1",),
            "c.example.org": ("192.0.2.1",),
        }
        [problem] = cluster.told
        assert problem == Problem(
            "ZoneUnreadable",
            f"zone sub.example.com cannot be read, and its names are left as they are: {WHY}",
            route("b").ref,
            hint="It is tried again, later and later.",
        )
        assert cluster.loop.failures == [f"zone sub.example.com cannot be read: {WHY}"]


async def test_if_no_zone_can_be_read_each_object_is_told_why() -> None:
    broken = {"example_com": "one", "example_org": "two", "sub_example_com": "three"}
    async with publishing(ZonedProvider(**broken)) as cluster:
        assert await with_routes(cluster, "a.example.com", "c.example.org") == {}
        assert told(cluster) == [("a", "ZoneUnreadable"), ("c", "ZoneUnreadable")]
        assert len(cluster.loop.failures) == 3


async def test_an_object_with_many_names_in_the_zone_is_told_once() -> None:
    async with publishing(ZonedProvider(sub_example_com=WHY)) as cluster:
        cluster.put(namespace("shop"), gateway(), route("r", "a.sub.example.com", "b.sub.example.com"))
        cluster.complete()
        await cluster.rest()
        assert told(cluster) == [("r", "ZoneUnreadable")]


async def test_it_is_tried_again_by_itself_and_then_its_names_are_published() -> None:
    provider, clock = ZonedProvider(sub_example_com=WHY), HandClock()
    async with publishing(provider, clock=clock) as cluster:
        await with_routes(cluster, "a.example.com", "b.sub.example.com")
        await clock.advance(2.0)
        await cluster.until(lambda: _is_read(provider, 1))
        await clock.advance(3.5)
        await cluster.until(lambda: _is_read(provider, 2))
        assert provider.read_alone == ["sub.example.com"] * 2
        del provider.broken["sub.example.com"]
        await clock.advance(7.0)
        await cluster.until(lambda: _has(provider, "b.sub.example.com"))
        await cluster.until(lambda: _is_well(cluster))
        assert provider.listings == 1
        assert told(cluster) == [("b", "ZoneUnreadable")]


async def test_an_attempt_that_hangs_holds_up_no_other_zone() -> None:
    provider, clock = ZonedProvider(sub_example_com=WHY), HandClock()
    provider.hanging = asyncio.Event()
    async with publishing(provider, clock=clock) as cluster:
        await with_routes(cluster, "a.example.com", "b.sub.example.com")
        await clock.advance(2.0)
        await cluster.until(lambda: _is_read(provider, 1))
        cluster.put(route("new", "new.example.com"))
        await cluster.until(lambda: _has(provider, "new.example.com"))
        assert provider.read_alone == ["sub.example.com"]


async def test_what_is_in_it_is_not_deleted_when_its_object_goes_until_it_can_be_read() -> None:
    provider, clock = ZonedProvider(), HandClock()
    async with publishing(provider, clock=clock, interval_seconds=60.0) as cluster:
        both = {"a.example.com": ("192.0.2.1",), "b.sub.example.com": ("192.0.2.1",)}
        assert await with_routes(cluster, "a.example.com", "b.sub.example.com") == both
        provider.broken["sub.example.com"] = WHY
        await clock.advance(61.0)
        cluster.loop.intake.remove(route("b").ref)
        await cluster.loop.rest()
        assert await _names(provider) == set(both)
        del provider.broken["sub.example.com"]
        await clock.advance(2.0)
        await cluster.until(lambda: _lacks(provider, "b.sub.example.com"))
        assert await _names(provider) == {"a.example.com"}


async def test_a_lost_answer_in_one_zone_leaves_the_others_as_they_are_and_heals() -> None:
    provider, clock = ZonedProvider(), HandClock()
    provider.losing = {"example.org"}
    async with publishing(provider, clock=clock) as cluster:
        await with_routes(cluster, "a.example.com", "c.example.org")
        assert cluster.loop.failures == ["zone example.org cannot be read: the answer was lost"]
        cluster.put(route("new", "new.example.com"))
        await cluster.until(lambda: _has(provider, "new.example.com"))
        await clock.advance(2.0)
        await cluster.until(lambda: _is_well(cluster))
        assert provider.listings == 1
        assert [len(batch.create) for batch in provider.batches] == [4, 2]  # nothing is made twice
        assert {problem.about.name for problem in cluster.told} <= {"c"}


async def test_a_name_in_no_zone_is_told_with_the_zones_that_there_are() -> None:
    async with publishing(ZonedProvider()) as cluster:
        assert await with_routes(cluster, "a.example.com", "d.example.net") == {"a.example.com": ("192.0.2.1",)}
        [problem] = cluster.told
        assert (problem.reason, problem.about.name) == ("NoZone", "d")
        assert problem.message == (
            "d.example.net is in no zone of gatepost's own DNS server, which has "
            "example.com, example.org, sub.example.com"
        )
        assert cluster.loop.failures == []


async def test_a_name_that_the_domain_filter_leaves_out_is_nobodys_problem() -> None:
    async with publishing(ZonedProvider(), domain_filter=("example.com",)) as cluster:
        await with_routes(cluster, "a.example.com", "d.example.net")
        assert cluster.told == []


async def _is_well(cluster: Cluster) -> bool:
    return not cluster.loop.failures


async def _is_read(provider: ZonedProvider, times: int) -> bool:
    return len(provider.read_alone) >= times


async def _has(provider: ZonedProvider, name: str) -> bool:
    return name in await _names(provider)


async def _lacks(provider: ZonedProvider, name: str) -> bool:
    return name not in await _names(provider)


async def _names(provider: ZonedProvider) -> set[str]:
    return {record.dns_name for record in await EmbeddedProvider.records(provider) if record.record_type == "A"}
