"""One fault after the other, with gatepost running as it does in a cluster, over a zone on a real server.

No record of another owner is touched, no record of a living claim is missing once the fault is over, and nothing is
deleted on doubt.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from api_cluster import ROUTES
from api_proxy import ApiProxy
from dns_proxy import DnsProxy
from dns_servers import needs, running
from fault_stage import Instance, Stage, WallClock, stage_before, until

from gatepost.objects.gatewayapi import Gateway, HTTPRoute
from gatepost.objects.refs import Ref
from gatepost.runtime.loop.loop import Loop

THIRD = '"heritage=external-dns,external-dns/owner=third,external-dns/resource=httproute/shop/route0"'
OTHERS = [
    "hand 60 IN A 203.0.113.1",
    'a-hand 60 IN TXT "v=spf1 -all"',
    "third 300 IN A 203.0.113.3",
    f"a-third 300 IN TXT {THIRD}",
    f"a-left 300 IN TXT {THIRD}",
    *(f'text{number} 300 IN TXT "{number} {"x" * 200}"' for number in range(60)),
]
DAYS = 24 * 3600.0
GATEWAY = Gateway.KIND.ref("infra", "public")


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What gatepost waits for by the clock comes soon."""
    monkeypatch.setattr("gatepost.cluster.reflector.EMPTY_AGAIN_SECONDS", 0.2)
    monkeypatch.setattr("gatepost.cluster.reflector.LOOK_AGAIN_SECONDS", 0.2)
    monkeypatch.setattr("gatepost.cluster.backoff.Backoff.next_seconds", lambda backoff: 0.05)


@pytest.fixture
def wall_clock(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    clock = WallClock()
    monkeypatch.setattr("gatepost.runtime.controllers._now", clock.now)
    monkeypatch.setattr("dns.message.time", SimpleNamespace(time=clock.time))
    return clock


async def both(stage: Stage, **more: Any) -> tuple[Instance, Instance]:
    """An instance for each owner, with everything published. `more`: of the one of east."""
    east, west = await stage.start("east", **more), await stage.start("west")
    await stage.is_as_wanted()
    return east, west


# The faults: each from its begin to its end


async def answers_are_lost(stage: Stage) -> None:
    """The provider makes the change, and its answer never comes: for what is created, updated, deleted."""
    east, _ = await both(stage)

    async def lose_answers_to(change: Awaitable[None]) -> None:
        broken = east.dns.broken
        east.dns.lost_answers_to_updates = 1
        await change
        await until(lambda: east.dns.broken == broken + 1)
        await stage.is_as_wanted()

    await lose_answers_to(stage.ask("east", "more", "a.example.com", "b.example.com"))
    await lose_answers_to(stage.move_gateway("east", "192.0.2.7"))
    await lose_answers_to(stage.ask("east", "more", "b.example.com", "c.example.com"))
    await lose_answers_to(stage.delete("east", "more"))


async def half_a_batch_is_applied(stage: Stage) -> None:
    """Six names go out in three messages or more: all after the first never get there, or all after the second."""
    east, _ = await both(stage, batch_size=4)
    many = [f"many{number}.example.com" for number in range(6)]

    async def break_off(after: int, change: Awaitable[None]) -> None:
        broken = east.dns.broken
        east.dns.updates_let_through = after
        await change
        await until(lambda: east.dns.broken > broken)
        # A comparison may be under way and take the first names along, so how many a message holds is not settled.
        await until(lambda: 0 < sum(line.startswith("many") for line in stage.referee.zone()) < len(many))
        east.dns.updates_let_through = None
        await stage.is_as_wanted()

    await break_off(1, stage.ask("east", "many", *many))
    await break_off(2, stage.delete("east", "many"))


async def a_transfer_is_cut(stage: Stage) -> None:
    """The whole zone, and later its differences, break off in the middle."""
    east, _ = await both(stage)
    await east.stop()
    before = stage.referee.zone()
    fresh = await stage.start("east", trouble=lambda dns, _: setattr(dns, "cut_after", 6_000))
    await until(lambda: fresh.dns.broken >= 1)
    await stage.ask("east", "more", "more.example.com")
    await until(lambda: fresh.dns.broken >= 3)
    assert stage.referee.zone() == before
    fresh.dns.cut_after = None
    await stage.is_as_wanted()
    fresh.dns.cut_after = 300  # the SOA record gets through
    await stage.ask("west", "many", *(f"many{number}.example.com" for number in range(6)))
    broken = fresh.dns.broken
    await until(lambda: fresh.dns.broken > broken)
    await stage.delete("east", "more")
    await until(lambda: fresh.dns.broken > broken + 2)
    fresh.dns.cut_after = None


async def two_owners_meet(stage: Stage) -> None:
    """Both start at once and ask for one name; one of them asks for names of others too."""
    asked = stage.referee.asked
    for owner in ("east", "west"):
        await stage.ask(owner, "shared", "shared.example.com")
    await stage.clusters["east"].make_route("grasping", "hand.example.com", "third.example.com", "left.example.com")
    instances = {owner: await stage.start(owner) for owner in ("east", "west")}
    await until(lambda: stage.referee.owner_of("shared.example.com") != "")
    holder = stage.referee.owner_of("shared.example.com")
    other = "west" if holder == "east" else "east"
    claim = asked[other].pop("shared.example.com")
    await stage.is_as_wanted()
    for instance in instances.values():
        await instance.compares()
    await stage.is_as_wanted()
    asked[other]["shared.example.com"] = claim
    await stage.delete(holder, "shared")


async def one_owner_runs_twice(stage: Stage) -> None:
    """Two instances see the same changes at the same time, and one of them ends."""
    first, _ = await both(stage)
    second = await stage.start("east")
    await second.compares()
    await stage.ask("east", "more", "a.example.com", "b.example.com")
    await stage.is_as_wanted()
    await stage.ask("east", "more", "b.example.com", "c.example.com")
    await stage.move_gateway("east", "192.0.2.7")
    await stage.is_as_wanted()
    await stage.delete("east", "more")
    await stage.ask("east", "again", "d.example.com")
    await first.stop()
    await second.compares()


async def the_clock_jumps(stage: Stage) -> None:
    """Minutes change nothing; with a clock that is days off, the server believes nothing that we sign."""
    east, _ = await both(stage)
    for minutes in (3, -3):
        stage.clock.wrong_by = minutes * 60.0
        await stage.ask("east", "more", f"m{minutes + 3}.example.com")
        await east.compares()
    for days in (400, -400):
        stage.clock.wrong_by = days * DAYS
        with stage.clock.right():
            before = stage.referee.zone()
        await stage.ask("east", "more", f"d{days + 400}.example.com")
        await east.compares()
        with stage.clock.right():
            assert stage.referee.zone() == before
        stage.clock.wrong_by = 0.0
        await stage.is_as_wanted()


async def a_gateway_flaps(stage: Stage) -> None:
    """Its addresses and its Routes' acceptance come and go, also over a new start; a Route is deleted meanwhile."""
    east, _ = await both(stage)
    cluster = stage.clusters["east"]
    for _once in range(2):
        await cluster.give_address()
        await east.sees(lambda loop: not addresses(loop))
        await cluster.give_address("192.0.2.1")
        await east.sees(lambda loop: bool(addresses(loop)))
    await cluster.patch(f"{ROUTES}/route0/status", {"status": {"parents": []}})
    await cluster.give_address()
    await east.sees(lambda loop: not addresses(loop))
    await east.stop()
    fresh = await stage.start("east")
    await fresh.sees(lambda loop: HTTPRoute.KIND.ref("shop", "route0") in refs(loop))
    await stage.delete("east", "route2")
    await stage.is_as_wanted()
    await cluster.accept("route0")
    await cluster.give_address("192.0.2.1")
    await fresh.sees(lambda loop: bool(addresses(loop)))


async def routes_are_listed_empty(stage: Stage) -> None:
    """One list has no Route in it, though all are there."""
    east, _ = await both(stage)
    lists = east.api.lists
    east.api.empty_lists = 1
    east.api.forget_revisions()
    await until(lambda: east.api.lists >= lists + 2)
    await east.compares()


async def routes_are_listed_empty_at_the_start(stage: Stage) -> None:
    """The first list that a new process gets has no Route in it, though all are there."""
    east, _ = await both(stage)
    await east.stop()
    fresh = await stage.start("east", trouble=lambda _, api: setattr(api, "empty_lists", 1))
    await until(lambda: fresh.api.lists >= 2)
    await fresh.compares()


async def one_api_version_vanishes(stage: Stage) -> None:
    """The version that was read is not served any more, another one is."""
    east, _ = await both(stage)

    async def serve_all_but(gone: set[str], name: str) -> None:
        lists = east.api.lists
        east.api.gone = frozenset(gone)
        east.api.cut_watches()
        await until(lambda: east.api.lists > lists)
        await stage.ask("east", "more", name)
        await stage.is_as_wanted()

    await serve_all_but({"v1"}, "a.example.com")
    await serve_all_but({"v1beta1"}, "b.example.com")


async def all_api_versions_vanish(stage: Stage) -> None:
    """The whole API group is not served for a while, also over a new start; a Route is deleted meanwhile."""
    east, _ = await both(stage)

    def vanish(_: DnsProxy, api: ApiProxy) -> None:
        api.gone = frozenset({"v1", "v1beta1", "v1alpha2", "v1alpha3"})

    vanish(east.dns, east.api)
    east.api.cut_watches()
    await east.sees(lambda loop: HTTPRoute.KIND.group_kind in loop.kinds.missing)
    await east.stop()
    before = stage.referee.zone()
    fresh = await stage.start("east", trouble=vanish)
    await fresh.sees(lambda loop: HTTPRoute.KIND.group_kind in loop.kinds.missing)
    await stage.delete("east", "route2")
    await fresh.compares()
    assert stage.referee.zone() == before
    fresh.api.gone = frozenset()


OF_DNS = (
    answers_are_lost,
    half_a_batch_is_applied,
    a_transfer_is_cut,
    two_owners_meet,
    one_owner_runs_twice,
    the_clock_jumps,
)
OF_THE_CLUSTER = (
    a_gateway_flaps,
    routes_are_listed_empty,
    routes_are_listed_empty_at_the_start,
    one_api_version_vanishes,
    all_api_versions_vanish,
)
SCENARIOS = [("bind", fault) for fault in (*OF_DNS, *OF_THE_CLUSTER)] + [("knot", fault) for fault in OF_DNS]


@pytest.mark.parametrize(("kind", "fault"), SCENARIOS, ids=lambda value: getattr(value, "__name__", value))
async def test_once_it_is_over_no_living_record_is_missing_and_none_of_others_was_touched(
    kind: str, fault: Callable[[Stage], Awaitable[None]], wall_clock: WallClock
) -> None:
    needs(kind)
    with running(kind, {"example.com": OTHERS}) as server:
        async with stage_before(server, wall_clock) as stage:
            await fault(stage)
            await stage.is_as_wanted()
            stage.judge()


def addresses(loop: Loop) -> bool:
    gateway = loop.engine.store.get(GATEWAY)
    return isinstance(gateway, Gateway) and bool(gateway.status.addresses)


def refs(loop: Loop) -> set[Ref]:
    return {ref for ref, _ in loop.engine.store.items()}
