"""From Gateways and HTTPRoutes to a zone, through the loop: what is written, when, and what is held back."""

from __future__ import annotations

import asyncio

import pytest

from gatepost.cluster.errors import ApiError
from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey
from gatepost.objects.core import Namespace
from gatepost.objects.gatewayapi import Gateway, HTTPRoute, ListenerSet
from gatepost.objects.problems import Problem
from publishing_cluster import KINDS, HandClock, Provider, gateway, listener_set, namespace, publishing, route


async def test_names_of_routes_get_the_address_of_their_gateway_and_an_owner() -> None:
    async with publishing() as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com", "b.example.com"))
        cluster.complete()
        assert await cluster.rest() == {"a.example.com": ("192.0.2.1",), "b.example.com": ("192.0.2.1",)}
        owners = [r for r in await cluster.provider.records() if r.record_type == "TXT"]
        assert {r.dns_name for r in owners} == {"a-a.example.com", "a-b.example.com"}
        assert all("owner=me" in r.targets[0] for r in owners)


async def test_starting_again_on_a_zone_that_is_right_writes_nothing() -> None:
    provider = Provider()
    for _ in range(2):
        async with publishing(provider) as cluster:
            cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
            cluster.complete()
            await cluster.rest()
    assert len(provider.batches) == 1


async def test_changes_that_come_together_are_one_batch_without_a_new_listing() -> None:
    async with publishing() as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"), route("b", "b.example.com"))
        cluster.complete()
        await cluster.rest()
        cluster.put(route("a", "a2.example.com"))
        cluster.put(route("c", "c.example.com"))
        cluster.loop.intake.remove(HTTPRoute.KIND.ref("shop", "b"))
        assert set(await cluster.rest()) == {"a2.example.com", "c.example.com"}
        assert len(cluster.provider.batches) == 2
        assert cluster.provider.listings == 1


async def test_nothing_is_written_before_all_kinds_are_in() -> None:
    async with publishing() as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete(KINDS[0])
        await asyncio.sleep(0)
        assert cluster.provider.listings == 0
        cluster.complete(*KINDS[1:])
        assert set(await cluster.rest()) == {"a.example.com"}


async def test_nothing_is_deleted_while_gateways_cannot_be_read() -> None:
    provider = Provider()
    async with publishing(provider) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await cluster.rest()
    async with publishing(provider) as cluster:
        cluster.put(namespace("shop"), route("a", "a.example.com"))
        cluster.complete(HTTPRoute.KIND.group_kind, Namespace.KIND.group_kind)
        cluster.fail(Gateway.KIND.group_kind, ApiError(500, "InternalError", "etcd is away"))
        assert set(await cluster.rest()) == {"a.example.com"}
        cluster.put(gateway("192.0.2.9"))
        cluster.complete(Gateway.KIND.group_kind)
        assert await cluster.rest() == {"a.example.com": ("192.0.2.9",)}


@pytest.mark.parametrize("unreadable", ["Gateway", "HTTPRoute"])
async def test_records_stay_through_a_restart_at_which_an_object_behind_them_cannot_be_read(unreadable: str) -> None:
    provider = Provider()
    objects = (gateway(), route("a", "a.example.com"))
    async with publishing(provider) as cluster:
        cluster.put(*objects)
        cluster.complete()
        assert await cluster.rest() == {"a.example.com": ("192.0.2.1",)}
    async with publishing(provider) as cluster:
        for obj in objects:
            if obj.KIND.kind == unreadable:
                problem = Problem("UnreadableObject", "cannot be read: Expected `int`, got `str`", obj.ref, "spec")
                cluster.loop.intake.unreadable(problem)
            else:
                cluster.put(obj)
        cluster.complete()
        assert await cluster.rest() == {"a.example.com": ("192.0.2.1",)}
        assert [problem.reason for problem in cluster.told] == ["RecordHeld"]
        assert "spec: cannot be read: Expected `int`, got `str`" in cluster.told[0].message
        for obj in objects:
            if obj.KIND.kind == unreadable:
                cluster.loop.intake.remove(obj.ref)
        assert await cluster.rest() == {}


@pytest.mark.parametrize("kind", [Gateway, ListenerSet])
async def test_records_stay_through_a_restart_at_which_the_kind_of_a_parent_is_not_served(
    kind: type[Gateway | ListenerSet],
) -> None:
    provider = Provider()
    parents = (gateway(), listener_set())
    hung_on = route("a", "a.example.com", parent_kind=kind.KIND.kind)
    async with publishing(provider, gateway_listener_sets=True) as cluster:
        cluster.put(*parents, hung_on)
        cluster.complete(*KINDS, ListenerSet.KIND.group_kind)
        assert await cluster.rest() == {"a.example.com": ("192.0.2.1",)}
    async with publishing(provider, gateway_listener_sets=True) as cluster:
        cluster.put(*(parent for parent in parents if not isinstance(parent, kind)), hung_on)
        cluster.miss(kind.KIND.group_kind)
        cluster.complete(*(other for other in KINDS if other != kind.KIND.group_kind))
        assert await cluster.rest() == {"a.example.com": ("192.0.2.1",)}
        assert {problem.reason for problem in cluster.told} == {"RecordHeld"}
        assert f"the cluster does not serve {kind.KIND.group_kind}" in cluster.told[-1].message
        cluster.complete(kind.KIND.group_kind)  # now it is certain that there is no such parent
        assert await cluster.rest() == {}


async def test_a_record_of_a_route_that_went_while_nobody_looked_is_deleted_at_the_start() -> None:
    provider = Provider()
    async with publishing(provider) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"), route("b", "b.example.com"))
        cluster.complete()
        await cluster.rest()
    async with publishing(provider) as cluster:
        cluster.put(namespace("shop"), gateway(), route("b", "b.example.com"))
        cluster.complete()
        assert set(await cluster.rest()) == {"b.example.com"}


async def test_what_others_changed_in_the_zone_is_put_right_at_the_next_comparison() -> None:
    async with publishing(interval_seconds=0.05) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await cluster.rest()
        stray = [r for r in await cluster.provider.records() if r.record_type == "A"]
        await cluster.provider.apply(Changes(delete=tuple(stray)))
        seen = cluster.loop.movements.count
        while "a.example.com" not in await cluster.provider.addresses():
            seen = await cluster.loop.movements.after(seen)


async def test_a_provider_that_fails_is_asked_again() -> None:
    provider = Provider()
    provider.failures = ["connection refused"]
    async with publishing(provider) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        assert await cluster.rest() == {}
        assert cluster.loop.failures == ["DNS could not be written"]
        seen = cluster.loop.movements.count
        while "a.example.com" not in await cluster.provider.addresses():
            seen = await cluster.loop.movements.after(seen)
        await cluster.loop.rest()
        assert cluster.loop.failures == []


async def test_one_refused_record_does_not_stop_the_others_and_is_tried_again() -> None:
    provider, clock = Provider(), HandClock()
    provider.refused = {EndpointKey("b.example.com", "A"), EndpointKey("a-b.example.com", "TXT")}
    async with publishing(provider, clock=clock) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com", "b.example.com"))
        cluster.complete()
        assert set(await cluster.rest()) == {"a.example.com"}
        assert cluster.loop.failures == ["DNS could not be written"]
        provider.refused = set()
        await clock.advance(10)
        assert set(await provider.addresses()) == {"a.example.com", "b.example.com"}
        assert cluster.loop.failures == []


async def test_a_record_without_our_owner_is_left_alone() -> None:
    async with publishing() as cluster:
        await cluster.provider.apply(Changes(create=(Endpoint("b.example.com", "A", ("192.0.2.7",)),)))
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com", "b.example.com"))
        cluster.complete()
        addresses = await cluster.rest()
        assert addresses == {"a.example.com": ("192.0.2.1",), "b.example.com": ("192.0.2.7",)}


async def test_a_dry_run_changes_no_record() -> None:
    async with publishing(dry_run=True) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        assert await cluster.rest() == {}
        assert cluster.provider.batches == []


async def test_a_plan_that_removes_too_much_is_stopped_even_in_small_portions() -> None:
    names = [f"n{number}.example.com" for number in range(20)]
    async with publishing() as cluster:
        cluster.put(namespace("shop"), gateway(), *(route(f"r{n}", name) for n, name in enumerate(names)))
        cluster.complete()
        await cluster.rest()
        for number in range(20):
            cluster.loop.intake.remove(HTTPRoute.KIND.ref("shop", f"r{number}"))
            await cluster.loop.rest()
        left = await cluster.provider.addresses()
        assert len(left) == 14  # 30 % of 20 may go
        assert cluster.loop.failures == ["DNS could not be written"]


async def test_who_loses_a_name_is_told_once() -> None:
    async with publishing() as cluster:
        cluster.put(namespace("shop"), gateway(), gateway("192.0.2.2", "other"))
        cluster.put(route("a", "app.example.com"), route("b", "app.example.com", parent_name="other"))
        cluster.complete()
        assert await cluster.rest() == {"app.example.com": ("192.0.2.1",)}
        cluster.put(route("c", "c.example.com"))
        await cluster.rest()
        (problem,) = cluster.told
        assert problem.reason == "DNSConflict"
        assert problem.about == HTTPRoute.KIND.ref("shop", "b")
