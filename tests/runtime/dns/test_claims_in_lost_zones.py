"""A claim, and a zone of which it is not known what was changed: nothing is released before that has been read."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from booked_zone import BookedZone
from faulty_zone import Cluster, Instance

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.served import UnreadZone
from gatepost.providers.contract import RecordResult, ZonesUnknown
from gatepost.providers.embedded import EmbeddedProvider

ZONES = ("example.com", "example.org")


class LosingProvider:
    """Two zones; of one of them no answer comes back while it is `lost`, whether or not the changes are `made`."""

    def __init__(self, inner: EmbeddedProvider) -> None:
        self.inner = inner
        self.is_lost = False
        self.are_made = True

    async def zones(self) -> Sequence[str]:
        return [zone for zone in ZONES if zone not in self._lost()]

    async def records(self) -> Sequence[Endpoint]:
        return [one for one in await self.inner.records() if not one.dns_name.endswith(self._lost())]

    def unread(self) -> Sequence[UnreadZone]:
        return [UnreadZone(zone, "no answer") for zone in self._lost()]

    async def read_again(self, zone: str) -> Sequence[Endpoint]:
        return [one for one in await self.inner.records() if one.dns_name.endswith(zone)]

    def adjust(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        return self.inner.adjust(endpoints)

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        if not self.is_lost:
            return await self.inner.apply(changes)
        here = [
            Changes(*(tuple(r for r in part if r.dns_name.endswith(zone)) for part in _parts(changes)))
            for zone in ZONES
        ]
        results = await self.inner.apply(here[0])
        if self.are_made:
            await self.inner.apply(here[1])
        raise ZonesUnknown([UnreadZone("example.org", "no answer")], results)

    def _lost(self) -> tuple[str, ...]:
        return ("example.org",) if self.is_lost else ()


def _parts(changes: Changes) -> tuple[tuple[Endpoint, ...], ...]:
    return (changes.create, changes.update_old, changes.update_new, changes.delete)


class Place:
    """One instance with a name in each zone."""

    def __init__(self) -> None:
        self.zone = BookedZone()
        self.zone.inner = EmbeddedProvider(ZONES)
        self.provider = LosingProvider(self.zone.inner)
        self.cluster = Cluster("192.0.2.1")
        self.instance = Instance("east", self.cluster, self.zone, self.provider)
        self.ask("a.example.com", "b.example.org")

    def ask(self, *names: str) -> None:
        self.cluster.routes.clear()
        if names:
            self.cluster.routes["app"] = names
        self.zone.asked["east"] = self.cluster.names

    async def round(self) -> None:
        self.instance.pass_time(1000)
        await self.instance.round()

    async def write_with_an_answer_lost(self) -> None:
        """A round whose writes into example.org get no answer."""
        self.instance.poll()
        await self.instance.list_zone()
        self.provider.is_lost = True
        await self.instance.write()


@pytest.mark.parametrize("are_made", [True, False])
async def test_a_creation_without_answer_keeps_its_claim(are_made: bool) -> None:
    place = Place()
    place.provider.are_made = are_made
    await place.write_with_an_answer_lost()
    assert place.zone.owners() == {"a.example.com": "east", "b.example.org": "east"}
    await place.round()  # the zone cannot be read yet
    assert place.zone.owners() == {"a.example.com": "east", "b.example.org": "east"}
    place.provider.is_lost = False
    await place.round()
    assert set(await place.zone.addresses()) == {"a.example.com", "b.example.org"}
    assert not place.instance.zones.is_failing


@pytest.mark.parametrize("are_made", [True, False])
async def test_a_deletion_without_answer_keeps_its_entry_until_the_zone_is_read(are_made: bool) -> None:
    place = Place()
    await place.round()
    place.ask()
    place.provider.are_made = are_made
    await place.write_with_an_answer_lost()
    assert place.zone.owners() == {"b.example.org": "east"}
    await place.round()
    assert place.zone.owners() == {"b.example.org": "east"}
    place.provider.is_lost = False
    await place.round()
    assert (await place.zone.contents(), place.zone.owners()) == ({}, {})
    assert place.zone.offences == []


async def test_a_record_that_somebody_made_in_a_zone_without_answer_stays_theirs() -> None:
    place = Place()
    place.provider.are_made = False
    await place.write_with_an_answer_lost()
    await place.zone.inner.apply(Changes(create=(Endpoint("b.example.org", "A", ("203.0.113.1",), 60),)))
    place.provider.is_lost = False
    await place.round()
    assert (await place.zone.addresses())["b.example.org"] == ("203.0.113.1",)
    assert place.zone.owners() == {"a.example.com": "east"}
