"""What Ready says of a KIngress beyond the scenarios of Knative's suite: seen from outside, through Traefik."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from aiohttp import web

from knative_ingress.backends import HttpBackend, Runtime
from knative_ingress.clients import Gateway
from knative_ingress.cluster import Cluster, Raw, is_ready, path_to, public, split


class Plain(HttpBackend):
    """A server with nothing of Knative in front of it: a probe is a request like any other."""

    async def answer_or_probe(self, request: web.Request) -> web.StreamResponse:
        return await self.answer(request)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        return web.Response(text="plain")


async def until(cluster: Cluster, kingress: str, condition: str, reason: str) -> Raw:
    """The KIngress once a condition of it has a reason."""
    async with aclosing(cluster.watch("Ingress", kingress, seconds=30)) as versions:
        async for version in versions:
            for found in version.get("status", {}).get("conditions", ()):
                if (found["type"], found.get("reason")) == (condition, reason):
                    return version
    raise AssertionError(f"{kingress} never said {reason} of {condition}")


async def test_a_backend_that_does_not_answer_probes_is_served_all_the_same(cluster: Cluster, gateway: Gateway) -> None:
    service = await cluster.service("silent", Plain())
    await cluster.ready_kingress("silent", public("silent.example.com", path_to(split(service))))
    async with asyncio.timeout(10):
        while (answer := await gateway.get("silent.example.com")).status == 404:
            continue  # the status alone counts for such a backend, and that is ahead of the gateway
    assert (answer.status, answer.body) == (200, b"plain")


async def test_traffic_stays_where_it_is_until_the_new_backend_answers(cluster: Cluster, gateway: Gateway) -> None:
    host = "moving.example.com"
    old = await cluster.service("moving-old", Runtime())
    await cluster.ready_kingress("moving", public(host, path_to(split(old, headers={"Which": "old"}))))
    new = Runtime()
    await new.start()
    try:
        # The Service is there, its endpoints are not: whoever goes there gets an error.
        port = {"name": "http", "port": 80, "protocol": "TCP"}
        await cluster.create("Service", "moving-new", spec={"ports": [port]})
        await cluster.change("moving", public(host, path_to(split("moving-new", headers={"Which": "new"}))))
        waiting = await until(cluster, "moving", "LoadBalancerReady", "Uninitialized")
        assert not is_ready(waiting)
        assert await gateway.count(50, host, "Which") == {"old": 50}
        routes = {route["metadata"]["name"] for route in await cluster.list("HTTPRoute")}
        assert {host, f"{host}-warmup"} <= routes
        await cluster.create(
            "EndpointSlice",
            "moving-new-0",
            metadata={"labels": {"kubernetes.io/service-name": "moving-new"}},
            addressType="IPv4",
            ports=[{**port, "port": new.port}],
            endpoints=[{"addresses": [new.address], "conditions": {"ready": True}}],
        )
        await cluster.ready("moving")
        assert await gateway.count(50, host, "Which") == {"new": 50}
    finally:
        await new.stop()


async def test_an_external_name_is_never_ready_and_says_why(cluster: Cluster, gateway: Gateway) -> None:
    spec = {"type": "ExternalName", "externalName": "www.example.net", "ports": [{"port": 80}]}
    await cluster.create("Service", "outside", spec=spec)
    await cluster.kingress("outside", public("outside.example.com", path_to(split("outside"))))
    found = await until(cluster, "outside", "Ready", "ExternalNameBackend")
    assert not is_ready(found)
    answer = await gateway.get("outside.example.com")
    assert answer.status in (404, 500)  # that is Traefik's word on it: before and after it has read the route
