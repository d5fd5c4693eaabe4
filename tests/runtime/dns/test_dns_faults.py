"""DNS through faults, at random and one at a time: nothing of another owner is touched, nothing is deleted on doubt,

and once the faults are over every living claim has its record.
"""

from __future__ import annotations

import pytest
from faulty_dns import ADDRESSES, FaultyDns
from faulty_zone import ANSWER_IS_LOST, GATEWAYS, HALF_IS_MADE, ROUTES, SOME_ARE_REFUSED, Cluster, Fault, Instance, Zone
from hypothesis import settings

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.objects.refs import GroupKind

FaultyDns.TestCase.settings = settings(max_examples=120, stateful_step_count=30, deadline=None)

TestFaultyDns = FaultyDns.TestCase


# The same, one fault at a time, with so few records that no cap on removals helps


async def small(*names: str, owner: str = "east", zone: Zone | None = None) -> tuple[Zone, Cluster, Instance]:
    """One cluster with one Route that asks for these names, and an instance that has published them."""
    zone = zone or Zone()
    cluster = Cluster(ADDRESSES[owner])
    cluster.routes["app"] = names
    zone.asked[owner] = cluster.names
    instance = Instance(owner, cluster, zone)
    await instance.round()
    return zone, cluster, instance


@pytest.mark.parametrize("kind", [ROUTES, GATEWAYS], ids=str)
async def test_an_instance_that_starts_while_a_kind_is_not_served_deletes_nothing(kind: GroupKind) -> None:
    zone, cluster, _ = await small("app.example.com")
    cluster.missing.add(kind)
    fresh = Instance("east", cluster, zone)
    await fresh.round()
    assert await zone.addresses() == {"app.example.com": ("192.0.2.1",)}
    cluster.missing.clear()
    cluster.routes.clear()
    zone.asked["east"] = set()
    await fresh.round()
    assert await zone.contents() == {}


@pytest.mark.parametrize("kind", [ROUTES, GATEWAYS], ids=str)
async def test_an_instance_that_starts_while_a_kind_cannot_be_read_deletes_nothing(kind: GroupKind) -> None:
    zone, cluster, _ = await small("app.example.com")
    cluster.failing.add(kind)
    await Instance("east", cluster, zone).round()
    assert await zone.addresses() == {"app.example.com": ("192.0.2.1",)}
    assert zone.offences == []


@pytest.mark.parametrize("made", range(5))
async def test_after_half_of_a_batch_was_made_the_next_round_makes_the_rest(made: int) -> None:
    zone, cluster, instance = await small()
    cluster.routes["app"] = ("a.example.com", "b.example.com")
    zone.asked["east"] = cluster.names
    instance.access.fault = Fault(HALF_IS_MADE, made)
    await instance.round()
    await instance.round()
    assert set(await zone.addresses()) == {"a.example.com", "b.example.com"}
    assert [await zone.owner_of(name) for name in ("a.example.com", "b.example.com")] == ["east", "east"]


@pytest.mark.parametrize("made", range(5))
async def test_after_half_of_a_deletion_was_made_the_next_rounds_leave_nothing_behind(made: int) -> None:
    zone, cluster, instance = await small("a.example.com", "b.example.com")
    cluster.routes.clear()
    zone.asked["east"] = set()
    instance.access.fault = Fault(HALF_IS_MADE, made)
    await instance.round()
    await instance.round()
    assert await zone.contents() == {}


async def test_a_lost_answer_is_no_reason_to_write_again() -> None:
    zone, cluster, instance = await small()
    cluster.routes["app"] = ("a.example.com",)
    zone.asked["east"] = cluster.names
    before = instance.access.calls
    instance.access.fault = Fault(ANSWER_IS_LOST)
    await instance.round()
    await instance.round()
    assert instance.access.calls == before + 1
    assert set(await zone.addresses()) == {"a.example.com"}


async def test_a_second_instance_of_the_same_owner_finds_nothing_to_do() -> None:
    zone, cluster, _ = await small("a.example.com", "b.example.com")
    second = Instance("east", cluster, zone)
    await second.round()
    assert second.access.calls == 0


async def test_ownership_without_a_record_keeps_others_out_only_as_long_as_its_owner_claims_the_name() -> None:
    zone, east, first = await small()
    east.routes["app"] = ("app.example.com",)
    first.access.fault = Fault(HALF_IS_MADE, 1)  # the ownership record
    await first.round()
    _, _, second = await small("app.example.com", owner="west", zone=zone)
    assert await zone.addresses() == {}
    east.has_address = False  # in doubt: it still keeps the name
    await first.round()
    await second.round()
    assert await zone.addresses() == {}
    east.routes.clear()
    await first.round()
    await second.round()
    assert await zone.addresses() == {"app.example.com": ("198.51.100.2",)}
    assert await zone.owner_of("app.example.com") == "west"


async def test_a_gateway_that_flaps_leaves_no_trace_in_dns() -> None:
    zone, cluster, instance = await small("app.example.com")
    calls = instance.access.calls
    for has_address in (False, True, False, True):
        cluster.has_address = has_address
        await instance.round()
        assert await zone.addresses() == {"app.example.com": ("192.0.2.1",)}
    assert instance.access.calls == calls


async def test_a_replica_that_cannot_read_routes_keeps_what_another_has_published_since() -> None:
    zone, cluster, one = await small("a.example.com")
    other = Instance("east", cluster, zone)
    await other.round()
    cluster.routes["new"] = ("new.example.com",)
    zone.asked["east"] = cluster.names
    await one.round()
    cluster.failing.add(ROUTES)
    await other.round()
    assert await zone.addresses() == {"a.example.com": ("192.0.2.1",), "new.example.com": ("192.0.2.1",)}
    cluster.failing.clear()
    del cluster.routes["new"]
    zone.asked["east"] = cluster.names
    await other.round()
    assert await zone.addresses() == {"a.example.com": ("192.0.2.1",)}


async def late_after_half(first: str, second: str) -> tuple[Zone, Instance]:
    """One instance makes the ownership record alone; the second, which had read the zone before, makes the record."""
    zone, cluster, half = await small(owner=first)
    late = Instance(second, cluster, zone)
    await late.round()
    cluster.routes["app"] = ("app.example.com",)
    zone.asked[first] = zone.asked[second] = cluster.names
    late.poll()
    assert await late.list_zone()
    half.access.fault = Fault(HALF_IS_MADE, 1)
    await half.round()
    await late.write()
    return zone, late


async def test_a_record_stays_whose_ownership_another_instance_of_the_same_owner_wrote() -> None:
    zone, late = await late_after_half("east", "east")
    assert set(await zone.addresses()) == {"app.example.com"}
    await late.round()
    assert await zone.owner_of("app.example.com") == "east"
    assert set(await zone.addresses()) == {"app.example.com"}
    assert zone.offences == []


async def test_a_record_is_taken_back_whose_ownership_another_owner_wrote() -> None:
    zone, late = await late_after_half("west", "east")
    assert set(await zone.addresses()) == {"app.example.com"}
    await late.round()
    assert await zone.owner_of("app.example.com") == "west"
    assert await zone.addresses() == {}


async def test_who_made_a_record_whose_ownership_was_refused_takes_it_back_when_it_leads_again() -> None:
    zone, cluster, one = await small()
    other = Instance("east", cluster, zone)
    cluster.routes["app"] = ("app.example.com",)
    zone.asked["east"] = cluster.names
    one.access.fault = Fault(SOME_ARE_REFUSED)  # the ownership record
    await one.round()
    one.lead(False)
    await other.round()
    assert await zone.owner_of("app.example.com") == ""
    one.lead(True)
    await one.round()
    await one.round()
    assert await zone.addresses() == {"app.example.com": ("192.0.2.1",)}
    assert await zone.owner_of("app.example.com") == "east"
    assert zone.offences == []


async def test_a_record_stays_while_a_route_cannot_be_read_that_may_have_agreed_with_the_one_that_is_gone() -> None:
    zone, cluster, _ = await small("app.example.com")
    cluster.routes["other"] = ("app.example.com",)
    cluster.unreadable.add("other")
    del cluster.routes["app"]
    await Instance("east", cluster, zone).round()
    assert await zone.addresses() == {"app.example.com": ("192.0.2.1",)}
    cluster.be_well()
    del cluster.routes["other"]
    zone.asked["east"] = cluster.names
    await Instance("east", cluster, zone).round()
    assert await zone.addresses() == {}


async def test_ownership_left_behind_beside_a_record_of_somebody_else_keeps_nobody_from_the_name() -> None:
    by_hand = Endpoint("app.example.com", "TXT", ('"v=spf1 -all"',))
    zone = Zone()
    await zone.inner.apply(Changes(create=(by_hand,)))
    _, east, first = await small("app.example.com", zone=zone)
    east.routes.clear()
    zone.asked["east"] = set()
    first.access.fault = Fault(HALF_IS_MADE, 1)  # the record is gone, its ownership is not
    await first.round()
    await first.round()
    await small("app.example.com", owner="west", zone=zone)
    assert await zone.addresses() == {"app.example.com": ("198.51.100.2",)}
    assert await zone.owner_of("app.example.com") == "west"


async def test_ownership_without_a_record_stays_while_a_route_cannot_be_read_that_may_ask_for_the_name() -> None:
    zone, cluster, instance = await small("app.example.com")
    cluster.routes["other"] = ("app.example.com",)
    cluster.unreadable.add("other")
    del cluster.routes["app"]
    await zone.inner.apply(Changes(delete=(Endpoint("app.example.com", "A", ("192.0.2.1",)),)))  # by hand
    await instance.round()
    assert {key.dns_name for key in await zone.contents()} == {"a-app.example.com"}
    cluster.be_well()
    await instance.round()
    assert await zone.addresses() == {"app.example.com": ("192.0.2.1",)}
    assert await zone.owner_of("app.example.com") == "east"
