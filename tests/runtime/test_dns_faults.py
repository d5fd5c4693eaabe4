"""Two clusters, three instances, one zone, and everything that can go wrong: nothing of another owner is touched,

nothing is deleted on doubt, and once the faults are over every living claim has its record.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

import pytest
from faulty_zone import (
    ANSWER_IS_LOST,
    FAULTS,
    GATEWAYS,
    HALF_IS_MADE,
    ROUTES,
    ZONE,
    Cluster,
    Fault,
    Instance,
    Zone,
)
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.objects.refs import GroupKind

OWNERS = ("east", "west")
REPLICAS = {"east": ("east", "east again"), "west": ("west",)}
INSTANCES = tuple(name for names in REPLICAS.values() for name in names)
ADDRESSES = {"east": "192.0.2.1", "west": "198.51.100.2"}
LASTING = 12  # Routes that are never deleted: enough that the cap on removals counts
CONTESTED = tuple(f"shared{number}.{ZONE}" for number in range(3))
BY_HAND = (
    Endpoint(f"hand.{ZONE}", "A", ("203.0.113.1",), 60),
    Endpoint(f"shared0.{ZONE}", "TXT", ('"not an ownership record"',), 60),
    Endpoint(f"a-hand.{ZONE}", "TXT", ('"v=spf1 -all"',), 60),
)
BUDGET_SECONDS = 700.0  # after this, removals that were made no longer count towards the cap
ROUNDS_TO_HEAL = 4

Result = TypeVar("Result")

instances = st.sampled_from(INSTANCES)
owners = st.sampled_from(OWNERS)
kinds = st.sampled_from([ROUTES, GATEWAYS])
faults = st.builds(Fault, st.sampled_from(FAULTS), st.integers(0, 4))


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of work that never waits: nothing here is outside of this process."""
    try:
        work.send(None)
    except StopIteration as ended:
        return cast("Result", ended.value)
    raise AssertionError("something waits")


class FaultyDns(RuleBasedStateMachine):
    """Steps are what happens to clusters, instances and calls; the invariants hold after each of them."""

    make_zone: Callable[[], Zone] = Zone

    def __init__(self) -> None:
        super().__init__()
        self.zone = type(self).make_zone()
        self.clusters = {owner: Cluster(ADDRESSES[owner]) for owner in OWNERS}
        self.instances: dict[str, Instance] = {}

    def teardown(self) -> None:
        run(self.heal())

    @initialize()
    def begin(self) -> None:
        run(self.zone.inner.apply(Changes(create=BY_HAND)))
        for owner, cluster in self.clusters.items():
            cluster.routes = {f"lasting{n}": (f"{owner}{n}.{ZONE}",) for n in range(LASTING)}
            self.note_what_is_asked(owner)
        for name in INSTANCES:
            self.start(name)
            run(self.instances[name].round())

    def start(self, name: str) -> None:
        owner = name.split(" ")[0]
        self.instances[name] = Instance(owner, self.clusters[owner], self.zone)

    def note_what_is_asked(self, owner: str) -> None:
        self.zone.asked[owner] = self.clusters[owner].names

    # What people do

    @rule(owner=owners, number=st.integers(0, 2), names=st.sets(st.sampled_from(CONTESTED)), is_hand=st.booleans())
    def route_is_put(self, owner: str, number: int, names: set[str], is_hand: bool) -> None:
        wanted = {*names, f"hand.{ZONE}"} if is_hand else names
        self.clusters[owner].routes[f"other{number}"] = tuple(sorted(wanted))
        self.note_what_is_asked(owner)

    @rule(owner=owners, number=st.integers(0, 2))
    def route_is_deleted(self, owner: str, number: int) -> None:
        self.clusters[owner].routes.pop(f"other{number}", None)
        self.note_what_is_asked(owner)

    # What goes on

    @rule(name=instances)
    def instance_makes_a_round(self, name: str) -> None:
        run(self.instances[name].round())

    @rule(name=instances, other=instances)
    def instance_writes_on_what_it_read_before_another_wrote(self, name: str, other: str) -> None:
        late = self.instances[name]
        late.poll()
        if run(late.list_zone()):
            run(self.instances[other].round())
            run(late.write())

    @rule(name=instances, seconds=st.sampled_from([1.0, 30.0, BUDGET_SECONDS]))
    def time_passes(self, name: str, seconds: float) -> None:
        self.instances[name].pass_time(seconds)

    # What goes wrong

    @rule(name=instances, fault=faults)
    def call_goes_wrong(self, name: str, fault: Fault) -> None:
        self.instances[name].access.fault = fault
        run(self.instances[name].round())

    @rule(name=instances, days=st.integers(-400, 400))
    def clock_jumps(self, name: str, days: int) -> None:
        self.instances[name].jump(days)

    @rule(owner=owners, has_address=st.booleans())
    def gateway_flaps(self, owner: str, has_address: bool) -> None:
        self.clusters[owner].has_address = has_address

    @rule(name=instances)
    def routes_are_listed_empty_for_one_poll(self, name: str) -> None:
        cluster = self.clusters[name.split(" ")[0]]
        cluster.hidden.add(ROUTES)
        run(self.instances[name].round())
        cluster.hidden.discard(ROUTES)

    @rule(owner=owners, kind=kinds)
    def kind_is_not_served_any_more(self, owner: str, kind: GroupKind) -> None:
        self.clusters[owner].missing.add(kind)

    @rule(owner=owners, kind=kinds)
    def kind_cannot_be_read(self, owner: str, kind: GroupKind) -> None:
        self.clusters[owner].failing.add(kind)

    @rule(owner=owners)
    def kinds_are_back(self, owner: str) -> None:
        self.clusters[owner].missing.clear()
        self.clusters[owner].failing.clear()

    @rule(name=instances)
    def instance_starts_anew(self, name: str) -> None:
        self.start(name)
        run(self.instances[name].round())

    # What must hold

    @invariant()
    def nothing_was_done_that_must_not_be_done(self) -> None:
        assert self.zone.offences == []

    @invariant()
    def what_was_made_by_hand_is_as_it_was(self) -> None:
        there = {record.key: record for record in run(self.zone.inner.records())}
        if there:
            assert [there.get(record.key) for record in BY_HAND] == list(BY_HAND)

    async def heal(self) -> None:
        """All faults end; after a few rounds the zone holds every living claim, and nothing else of ours."""
        for cluster in self.clusters.values():
            cluster.has_address = True
            cluster.missing.clear()
            cluster.failing.clear()
        for _ in range(ROUNDS_TO_HEAL):
            for instance in self.instances.values():
                instance.access.fault = None
                instance.pass_time(BUDGET_SECONDS * 10)
                await instance.round()
        assert self.zone.offences == []
        addresses = await self.zone.addresses()
        if self.instances:
            self.check_addresses(addresses, {name: await self.zone.owner_of(name) for name in addresses})

    def check_addresses(self, addresses: dict[str, tuple[str, ...]], owner_of: dict[str, str]) -> None:
        asked = {name for cluster in self.clusters.values() for name in cluster.names}
        assert set(addresses) == asked | {f"hand.{ZONE}"}
        for name in asked - {f"hand.{ZONE}"}:
            owner = owner_of[name]
            assert name in self.clusters[owner].names
            assert addresses[name] == (ADDRESSES[owner],)


FaultyDns.TestCase.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)


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
