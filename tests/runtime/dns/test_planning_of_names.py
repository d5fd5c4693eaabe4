"""A whole zone is planned in slices, and comes out as if planned at once, but for what changed in between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from faulty_zone import GATEWAYS, ROUTES, ZONE, Cluster, Instance, Zone
from hypothesis import given, settings
from hypothesis import strategies as st

from gatepost.dns.desired import record_sets
from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership.registry import inventory
from gatepost.dns.plan import Plan
from gatepost.dns.planner import Planner
from gatepost.dns.served import Served
from gatepost.dns.settings import DnsSettings
from gatepost.dns.standing import Standings
from gatepost.objects.gatewayapi import ListenerSet
from gatepost.runtime.dns.part import DnsPart
from gatepost.runtime.dns.planning import Planned, Planning
from gatepost.runtime.dns.reading import read_provider, take_in
from gatepost.runtime.loop.kinds import kinds_in_doubt

NAMES = tuple(f"n{number}.{ZONE}" for number in range(16))
EAST = DnsSettings(sources=("gateway-httproute",), txt_owner_id="east")
ADDRESS = "192.0.2.1"


class Ticks:
    """A clock that moves on by a second whenever it is looked at, so that each item is a slice; at one look it acts."""

    def __init__(self, act_at: int = 0, act: Callable[[], None] = lambda: None) -> None:
        self.looks = 0
        self._act_at = act_at
        self._act = act

    def __call__(self) -> float:
        self.looks += 1
        if self.looks == self._act_at:
            self._act()
        return float(self.looks)


def owned(name: str, owner: str, route: str) -> tuple[Endpoint, Endpoint]:
    text = f'"heritage=external-dns,external-dns/owner={owner},external-dns/resource=httproute/shop/{route}"'
    return Endpoint(name, "A", (ADDRESS,), 300), Endpoint(f"a-{name}", "TXT", (text,), 300)


async def zone_of(*records: Endpoint) -> Zone:
    zone = Zone()
    await zone.inner.apply(Changes(create=records))
    return zone


async def listed(zone: Zone, now: Callable[[], float] = lambda: 0.0) -> tuple[Inventory, Served]:
    read = await read_provider(zone.inner)
    holdings = inventory(EAST, (), read.served.zones or ())
    await take_in(holdings, read.endpoints, now)
    return holdings, read.served


async def planned_in_slices(instance: Instance, zone: Zone, now: Callable[[], float]) -> Planned:
    holdings, served = await listed(zone)
    planning = Planning(instance.engine, instance.kinds, DnsPart(EAST, zone.inner), now)
    return await planning.plan(None, holdings, served, removed_before=0, let_go=())


async def planned_at_once(instance: Instance, zone: Zone) -> Plan:
    holdings, served = await listed(zone)
    kinds = instance.kinds
    standings = Standings(instance.engine, kinds_in_doubt(kinds.watched, kinds.unknown, kinds.missing))
    return Planner(EAST, standings, zone.inner.adjust, served).plan_all(holdings, record_sets(instance.engine))


names = st.sampled_from(NAMES)
routes = st.dictionaries(st.sampled_from(["one", "two", "three"]), st.sets(names))
held = st.dictionaries(names, st.sampled_from([("east", "one"), ("east", "two"), ("east", "gone"), ("west", "one")]))


@settings(max_examples=60, deadline=None)
@given(routes=routes, held=held, has_address=st.booleans(), missing=st.sets(st.sampled_from([ROUTES, GATEWAYS])))
async def test_a_plan_in_slices_is_the_plan_made_at_once(
    routes: dict[str, set[str]], held: dict[str, tuple[str, str]], has_address: bool, missing: set[object]
) -> None:
    zone = await zone_of(*(record for name, (owner, route) in held.items() for record in owned(name, owner, route)))
    cluster = Cluster(ADDRESS)
    cluster.routes = {route: tuple(sorted(asked)) for route, asked in routes.items()}
    instance = Instance("east", cluster, zone)
    instance.poll()
    cluster.has_address = has_address
    cluster.missing = {kind for kind in (ROUTES, GATEWAYS) if kind in missing}
    instance.poll()
    assert (await planned_in_slices(instance, zone, Ticks())).plan == await planned_at_once(instance, zone)


async def test_the_cap_judges_all_slices_together() -> None:
    zone = await zone_of(*(record for name in NAMES for record in owned(name, "east", "gone")))
    instance = Instance("east", Cluster(ADDRESS), zone)
    instance.poll()
    plan = (await planned_in_slices(instance, zone, Ticks())).plan
    assert len(plan.changes) == 16
    assert plan.stopped is not None
    assert (plan.stopped.removed, plan.stopped.own) == (16, 16)


async def test_others_have_their_turn_between_slices() -> None:
    zone = await zone_of(*(record for name in NAMES for record in owned(name, "east", "gone")))
    instance = Instance("east", Cluster(ADDRESS), zone)
    instance.poll()
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    await listed(zone, Ticks())
    while_reading, turns = turns, 0
    await planned_in_slices(instance, zone, Ticks())
    task.cancel()
    assert while_reading >= 2 * len(NAMES)  # records and ownership records
    assert turns >= 2 * len(NAMES)  # each name is looked up, and planned


async def test_whenever_a_name_is_claimed_again_while_others_are_planned_it_is_not_deleted() -> None:
    """Its Route is gone when planning begins, and another comes while it goes on."""
    zone = await zone_of(*(record for name in NAMES[:4] for record in owned(name, "east", "gone")))
    ticks = Ticks()
    for at in range(1, 40):
        cluster = Cluster(ADDRESS)
        instance = Instance("east", cluster, zone)
        instance.poll()

        def come(cluster: Cluster = cluster, instance: Instance = instance) -> None:
            cluster.routes["new"] = (NAMES[0],)
            instance.poll()

        ticks = Ticks(at, come)
        planned = await planned_in_slices(instance, zone, ticks)
        deleted = {change.record.dns_name for change in planned.plan.changes if change.action == "delete"}
        if at <= ticks.looks:
            assert deleted == set(NAMES[1:4])
        else:
            assert deleted == set(NAMES[:4])
    assert 10 < ticks.looks < 40  # it came at every moment, and after the last


async def test_a_name_that_moved_while_others_were_planned_is_not_among_those_planned() -> None:
    zone = await zone_of(*owned(NAMES[0], "east", "gone"), *owned(NAMES[1], "east", "gone"))
    cluster = Cluster(ADDRESS)
    instance = Instance("east", cluster, zone)
    instance.poll()

    def come() -> None:
        cluster.routes["new"] = (NAMES[0],)
        instance.poll()

    at_the_last_name = Ticks(8, come)
    planned = await planned_in_slices(instance, zone, at_the_last_name)
    assert planned.names == {(NAMES[1], "")}


async def test_a_kind_that_rules_come_to_need_while_names_are_planned_makes_their_objects_doubtful() -> None:
    zone = await zone_of(*(record for name in NAMES[:2] for record in owned(name, "east", "gone")))
    instance = Instance("east", Cluster(ADDRESS), zone)
    instance.poll()
    at_the_last_name = Ticks(7, lambda: instance.kinds.start(ListenerSet.KIND.group_kind))
    plan = (await planned_in_slices(instance, zone, at_the_last_name)).plan
    assert [change.record.dns_name for change in plan.changes] == [NAMES[0]]
    assert [held.record.dns_name for held in plan.held] == [NAMES[1]]
