"""The scenario of updates: under constant traffic, no request fails, and the right answer is there as soon as Ready."""

from __future__ import annotations

import asyncio
import collections
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from knative_ingress.backends import Runtime
from knative_ingress.clients import Gateway
from knative_ingress.cluster import Cluster, path_to, public, split
from knative_ingress.conftest import IS_FULL

HOST = "update.example.com"
SENTINEL = "Sentinel"
HEADER_CHANGES, MOVES = (10, 10) if IS_FULL else (1, 2)
CLIENTS = 3


class Traffic:
    """Requests without a pause, and what they got: how often which answer."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self.failed: list[str] = []
        self.sentinels: collections.Counter[str] = collections.Counter()

    @asynccontextmanager
    async def flowing(self) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(self._flow()) for _ in range(CLIENTS)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(end, asyncio.CancelledError) for end in ended), ended

    async def _flow(self) -> None:
        while True:
            try:
                answer = await self._gateway.get(HOST)
            except aiohttp.ClientError as error:
                self.failed.append(repr(error))
                continue
            if answer.status != 200:
                self.failed.append(f"{answer.status} {answer.body[:100]!r}")
            else:
                self.sentinels[answer.seen["headers"].get(SENTINEL.lower(), "")] += 1


@pytest.mark.scenario("update")
async def test_no_request_fails_while_a_kingress_changes(cluster: Cluster, gateway: Gateway) -> None:
    service = await cluster.service("update-0", Runtime())

    async def assert_answers(sentinel: str) -> None:
        found = await gateway.get(HOST)
        assert found.seen["headers"].get(SENTINEL.lower()) == sentinel, "Ready, but the answer is that of before"

    def rule(service: str, sentinel: str) -> dict[str, object]:
        return public(HOST, path_to(split(service, headers={SENTINEL: sentinel})))

    await cluster.ready_kingress("update", rule(service, "first"))
    await assert_answers("first")
    traffic = Traffic(gateway)
    async with traffic.flowing():
        for number in range(HEADER_CHANGES):
            await cluster.change("update", rule(service, f"header-{number}"))
            await cluster.ready("update")
            await assert_answers(f"header-{number}")
        for number in range(1, MOVES + 1):
            service = await cluster.service(f"update-{number}", Runtime())
            await cluster.change("update", rule(service, f"move-{number}"))
            await cluster.ready("update")
            await assert_answers(f"move-{number}")
    assert traffic.failed == []
    assert traffic.sentinels[f"move-{MOVES}"] > 0
