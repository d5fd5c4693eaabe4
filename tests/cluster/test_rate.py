"""How fast the API may be called: a token bucket, and which calls take a token."""

from __future__ import annotations

import pytest
from scripted import answer, scripted_cluster

from gatepost.cluster.client import Client, resource_in
from gatepost.cluster.connection import Connection, Server
from gatepost.cluster.rate import TokenBucket
from gatepost.cluster.settings import ApiSettings


def test_so_many_may_come_at_once_and_then_one_after_the_other() -> None:
    bucket = TokenBucket(per_second=2.0, at_once=3)
    assert [bucket.take(0.0) for _ in range(5)] == [0.0, 0.0, 0.0, 0.5, 1.0]
    assert bucket.take(1.0) == 0.5


def test_after_a_while_they_may_come_at_once_again_and_no_more_than_before() -> None:
    bucket = TokenBucket(per_second=2.0, at_once=2)
    assert [bucket.take(0.0) for _ in range(3)] == [0.0, 0.0, 0.5]
    assert [bucket.take(100.0) for _ in range(3)] == [0.0, 0.0, 0.5]


async def test_reads_and_writes_wait_for_their_turn_and_watches_do_not() -> None:
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(round(seconds))

    async with scripted_cluster() as cluster:
        cluster.on("GET", "/api/v1/pods", answer({}))
        cluster.on("POST", "/api/v1/pods", answer({}))
        limit = TokenBucket(per_second=0.001, at_once=1)
        async with Client(Connection(Server(cluster.url)), wait=wait, limit=limit) as client:
            await client.read("/api/v1/pods")
            assert waited == []
            await client.read("/api/v1/pods")
            await client.write("POST", "/api/v1/pods", {}, {})
            assert waited == [1000, 2000]
            async with client.lines("/api/v1/pods", {}, 5.0):
                assert waited == [1000, 2000]


@pytest.mark.parametrize(
    ("path", "resource"),
    [
        ("/api/v1/services", "services"),
        ("/api/v1/namespaces", "namespaces"),
        ("/api/v1/namespaces/shop", "namespaces"),
        ("/api/v1/namespaces/shop/services/cart", "services"),
        ("/apis/serving.knative.dev/v1/namespaces/shop/routes/cart/status", "routes/status"),
        ("/apis/gateway.networking.k8s.io/v1/gateways", "gateways"),
        ("/apis/gateway.networking.k8s.io/v1", ""),
        ("/version", ""),
    ],
)
def test_durations_are_kept_by_resource_and_not_by_object(path: str, resource: str) -> None:
    assert resource_in(path) == resource


def test_the_defaults_of_the_flags_are_sound() -> None:
    assert ApiSettings().check() == ()
