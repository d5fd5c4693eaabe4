"""Records whose object may still want them: held, told, and given up after --delete-grace, never before."""

from __future__ import annotations

from gatepost.cluster.errors import ApiError
from gatepost.dns.endpoint import EndpointKey
from gatepost.objects.gatewayapi import Gateway, HTTPRoute
from publishing_cluster import (
    Cluster,
    HandClock,
    Provider,
    gateway,
    gateway_without_address,
    namespace,
    publishing,
    route,
)

PUBLISHED = {"a.example.com": ("192.0.2.1",)}
GRACE = 600


async def put_and_rest(cluster: Cluster, *hostnames: str) -> None:
    cluster.put(namespace("shop"), gateway(), route("a", *(hostnames or ("a.example.com",))))
    cluster.complete()
    await cluster.rest()


async def test_a_gateway_without_address_loses_its_names_after_the_grace_period_and_not_before() -> None:
    clock = HandClock()
    async with publishing(clock=clock, delete_grace=GRACE) as cluster:
        await put_and_rest(cluster)
        cluster.put(gateway_without_address())
        assert await cluster.rest() == PUBLISHED
        (held,) = cluster.told
        assert (held.reason, held.about) == ("RecordHeld", HTTPRoute.KIND.ref("shop", "a"))
        assert "a.example.com A" in held.message
        assert "Gateway infra/public" in held.message
        await clock.advance(GRACE - 1)
        assert await cluster.provider.addresses() == PUBLISHED
        await clock.advance(1)
        assert await cluster.provider.records() == []
        await cluster.rest()
        assert cluster.reasons() == ["RecordHeld", "RecordGivenUp"]
        (given_up,) = cluster.events
        assert given_up.about.ref == HTTPRoute.KIND.ref("shop", "a")
        assert given_up.type == "Warning"
        assert "a.example.com" in given_up.message


async def test_without_a_grace_period_a_doubtful_record_stays() -> None:
    clock = HandClock()
    async with publishing(clock=clock) as cluster:
        await put_and_rest(cluster)
        cluster.put(gateway_without_address())
        await cluster.rest()
        for _ in range(3):
            await clock.advance(30 * 86400)
        assert await cluster.provider.addresses() == PUBLISHED
        assert cluster.reasons() == ["RecordHeld"]


async def test_a_doubt_that_was_cleared_meanwhile_is_measured_anew() -> None:
    clock = HandClock()
    async with publishing(clock=clock, delete_grace=GRACE) as cluster:
        await put_and_rest(cluster)
        cluster.put(gateway_without_address())
        await cluster.rest()
        await clock.advance(400)
        cluster.put(gateway())
        await cluster.rest()
        cluster.put(gateway_without_address())
        await cluster.rest()
        await clock.advance(400)
        assert await cluster.provider.addresses() == PUBLISHED
        await clock.advance(200)
        assert await cluster.provider.addresses() == {}


async def test_nothing_is_given_up_while_the_cluster_cannot_be_read() -> None:
    clock = HandClock()
    async with publishing(clock=clock, delete_grace=GRACE) as cluster:
        await put_and_rest(cluster)
        cluster.put(gateway_without_address())
        await cluster.rest()
        cluster.fail(Gateway.KIND.group_kind, ApiError(500, "InternalError", "etcd is away"))
        await clock.advance(GRACE)
        assert await cluster.provider.addresses() == PUBLISHED
        cluster.put(gateway())
        cluster.complete(Gateway.KIND.group_kind)
        assert await cluster.rest() == PUBLISHED
        await clock.advance(GRACE)
        assert await cluster.provider.addresses() == PUBLISHED


async def test_what_is_given_up_is_under_the_cap_on_removals_too() -> None:
    clock = HandClock()
    names = [f"n{number}.example.com" for number in range(20)]
    async with publishing(clock=clock, delete_grace=GRACE) as cluster:
        await put_and_rest(cluster, *names)
        cluster.put(gateway_without_address())
        await cluster.rest()
        await clock.advance(GRACE)
        assert set(await cluster.provider.addresses()) == set(names)
        assert cluster.loop.failures == ["DNS could not be written"]


async def test_a_record_that_is_given_up_and_refused_is_tried_again_without_a_new_grace_period() -> None:
    clock, provider = HandClock(), Provider()
    async with publishing(provider, clock=clock, delete_grace=GRACE) as cluster:
        await put_and_rest(cluster)
        cluster.put(gateway_without_address())
        await cluster.rest()
        provider.refused = {EndpointKey("a.example.com", "A"), EndpointKey("a-a.example.com", "TXT")}
        await clock.advance(GRACE)
        assert await provider.addresses() == PUBLISHED
        provider.refused = set()
        await clock.advance(10)
        assert await provider.addresses() == {}


async def test_a_conflict_under_refuse_keeps_its_record_however_long_it_lasts() -> None:
    clock = HandClock()
    async with publishing(clock=clock, delete_grace=GRACE, conflict="refuse") as cluster:
        await put_and_rest(cluster)
        cluster.put(gateway("192.0.2.2", "other"), route("b", "a.example.com", parent_name="other"))
        assert await cluster.rest() == PUBLISHED
        await clock.advance(GRACE * 2)
        assert await cluster.provider.addresses() == PUBLISHED
