"""Scenarios of gRPC and WebSockets, and of requests that take their time or fail."""

from __future__ import annotations

import asyncio

import pytest

from knative_ingress.backends import GrpcPing, Retry, Timeout, WsServer
from knative_ingress.clients import Gateway
from knative_ingress.cluster import Cluster, path_to, public, split
from knative_ingress.conftest import IS_FULL

scenario = pytest.mark.scenario
ROUND_TRIPS = 100
DELAY_SECONDS = 10 if IS_FULL else 3


@scenario("grpc")
async def test_a_grpc_stream_goes_both_ways(cluster: Cluster, gateway: Gateway) -> None:
    service = await cluster.service("grpc", GrpcPing(" - pong"))
    await cluster.ready_kingress("grpc", public("grpc.example.com", path_to(split(service))))
    answers = await gateway.pings("grpc.example.com", ROUND_TRIPS)
    assert answers == [f"ping - {number} - pong" for number in range(ROUND_TRIPS)]


@scenario("grpc/split")
async def test_a_grpc_stream_stays_on_its_backend(cluster: Cluster, gateway: Gateway) -> None:
    blue = await cluster.service("grpc-blue", GrpcPing(" - blue"))
    green = await cluster.service("grpc-green", GrpcPing(" - green"))
    rule = public("grpc-split.example.com", path_to(split(blue, 50), split(green, 50)))
    await cluster.ready_kingress("grpc-split", rule)
    seen = set()
    for _ in range(20):
        suffixes = {answer.rpartition(" - ")[2] for answer in await gateway.pings("grpc-split.example.com", 5)}
        assert len(suffixes) == 1, suffixes
        seen |= suffixes
    (suffix,) = {a.rpartition(" - ")[2] for a in await gateway.pings("grpc-split.example.com", ROUND_TRIPS)}
    assert seen | {suffix} == {"blue", "green"}


@scenario("websocket")
async def test_a_websocket_echoes(cluster: Cluster, gateway: Gateway) -> None:
    service = await cluster.service("websocket", WsServer(" - pong"))
    await cluster.ready_kingress("websocket", public("websocket.example.com", path_to(split(service))))
    answers = await echoes(gateway, "websocket.example.com", ROUND_TRIPS)
    assert answers == [f"ping - {number} - pong" for number in range(ROUND_TRIPS)]


@scenario("websocket/split")
async def test_websockets_reach_both_backends(cluster: Cluster, gateway: Gateway) -> None:
    blue = await cluster.service("websocket-blue", WsServer(" - blue"))
    green = await cluster.service("websocket-green", WsServer(" - green"))
    rule = public("websocket-split.example.com", path_to(split(blue, 50), split(green, 50)))
    await cluster.ready_kingress("websocket-split", rule)
    seen = set()
    for _ in range(ROUND_TRIPS):
        (answer,) = await echoes(gateway, "websocket-split.example.com", 1)
        seen.add(answer)
    assert seen == {"ping - 0 - blue", "ping - 0 - green"}


async def echoes(gateway: Gateway, host: str, count: int) -> list[str]:
    """What comes back for that many messages on one WebSocket."""
    async with gateway.websocket(host) as socket:
        found = []
        for number in range(count):
            await socket.send_str(f"ping - {number}")
            found.append(await socket.receive_str(timeout=10))
        return found


@scenario("timeout")
@pytest.mark.parametrize(
    ("before", "after"),
    [(0, 0), (DELAY_SECONDS, 0), (0, DELAY_SECONDS), (DELAY_SECONDS, DELAY_SECONDS)],
    ids=["no-delays", "before-headers", "after-headers", "both"],
)
async def test_a_slow_answer_is_waited_for(cluster: Cluster, gateway: Gateway, before: int, after: int) -> None:
    name = f"timeout-{before}-{after}"
    service = await cluster.service(name, Timeout())
    await cluster.ready_kingress(name, public(f"{name}.example.com", path_to(split(service))))
    started = asyncio.get_running_loop().time()
    answer = await gateway.get(f"{name}.example.com", f"/?initialTimeout={before}&timeout={after}")
    assert (answer.status, answer.body) == (200, b"done")
    assert asyncio.get_running_loop().time() - started >= before + after


@scenario("retry")
async def test_a_failed_request_is_not_tried_again(cluster: Cluster, gateway: Gateway) -> None:
    service = await cluster.service("retry", Retry())
    await cluster.ready_kingress("retry", public("retry.example.com", path_to(split(service))))
    assert [(await gateway.get("retry.example.com")).status for _ in range(2)] == [503, 200]
