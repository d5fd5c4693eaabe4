"""Traefik over the embedded API server: routes are served by real backends, in the shares that they ask for."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from gatepost.standalone.apiserver.server import ApiServer
from gatepost.standalone.dataplane import Dataplane, DataplanePorts, gateway_objects
from gatepost.standalone.dataplane.traefik import find_traefik
from gatepost.standalone.errors import MissingBinaryError

PLURALS = {
    "Namespace": "namespaces",
    "Service": "services",
    "ConfigMap": "configmaps",
    "EndpointSlice": "endpointslices",
    "GatewayClass": "gatewayclasses",
    "Gateway": "gateways",
    "HTTPRoute": "httproutes",
}


class Cluster:
    """The embedded API server with Traefik on it."""

    def __init__(self, api: ApiServer, ports: DataplanePorts, http: aiohttp.ClientSession) -> None:
        self.api = api
        self.ports = ports
        self.http = http

    async def create(self, raw: dict[str, Any]) -> None:
        async with self.http.post(self._url(raw), json=raw) as response:
            assert response.status == 201, await response.text()

    async def read(self, api_version: str, kind: str, namespace: str, name: str) -> dict[str, Any]:
        raw = {"apiVersion": api_version, "kind": kind, "metadata": {"namespace": namespace}}
        async with self.http.get(f"{self._url(raw)}/{name}") as response:
            assert response.status == 200, await response.text()
            answer: dict[str, Any] = await response.json()
            return answer

    def _url(self, raw: dict[str, Any]) -> str:
        root = "apis" if "/" in raw["apiVersion"] else "api"
        namespace = raw["metadata"].get("namespace")
        scope = f"/namespaces/{namespace}" if namespace else ""
        return f"{self.api.url}/{root}/{raw['apiVersion']}{scope}/{PLURALS[raw['kind']]}"

    async def get(self, port: int, host: str) -> tuple[int, str]:
        async with self.http.get(f"http://127.0.0.1:{port}/", headers={"Host": host}) as response:
            return response.status, await response.text()


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    try:
        binary = find_traefik()
    except MissingBinaryError as error:
        pytest.skip(str(error))
    ports = DataplanePorts.free()
    async with ApiServer() as api, aiohttp.ClientSession() as http:
        cluster = Cluster(api, ports, http)
        for raw in gateway_objects(ports):
            await cluster.create(raw)
        async with Dataplane(api.url, "t", ports, binary=binary) as dataplane:
            await dataplane.wait_ready()
            yield cluster


async def backend(name: str, address: str, runners: list[web.AppRunner]) -> int:
    """A server that answers with its name and the header that the route set. Returns: its port."""

    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=f"{name} {request.headers.get('X-Share', '')}")

    application = web.Application()
    application.router.add_get("/", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    runners.append(runner)
    await web.TCPSite(runner, address, 0).start()
    port: int = runner.addresses[0][1]
    return port


@pytest.fixture
async def runners() -> AsyncIterator[list[web.AppRunner]]:
    runners: list[web.AppRunner] = []
    yield runners
    for runner in runners:
        await runner.cleanup()


def service(name: str) -> dict[str, Any]:
    ports = [{"name": "http", "port": 80, "targetPort": 8080}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"ports": ports},
    }


def endpoint_slice(name: str, address: str, port: int) -> dict[str, Any]:
    labels = {"kubernetes.io/service-name": name}
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": f"{name}-1", "namespace": "default", "labels": labels},
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": port, "protocol": "TCP"}],
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
    }


def route(name: str, host: str, gateway: str, *backends: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "parentRefs": [{"name": gateway, "namespace": "gatepost-system"}],
            "hostnames": [host],
            "rules": [{"backendRefs": list(backends)}],
        },
    }


def weighted(name: str, weight: int) -> dict[str, Any]:
    modifier = {"set": [{"name": "X-Share", "value": str(weight)}]}
    return {
        "name": name,
        "port": 80,
        "weight": weight,
        "filters": [{"type": "RequestHeaderModifier", "requestHeaderModifier": modifier}],
    }


async def served(cluster: Cluster, port: int, host: str, is_wanted: Callable[[int, str], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_wanted(*await cluster.get(port, host)):  # noqa: ASYNC110 - only a request can tell
            await asyncio.sleep(0.02)


def is_true(status: dict[str, Any], condition_type: str) -> bool:
    return any(c["type"] == condition_type and c["status"] == "True" for c in status["conditions"])


async def test_a_weighted_route_gives_each_backend_exactly_its_share(
    cluster: Cluster, runners: list[web.AppRunner]
) -> None:
    for name, address in (("blue", "127.0.1.1"), ("green", "127.0.1.2")):
        port = await backend(name, address, runners)
        await cluster.create(service(name))
        await cluster.create(endpoint_slice(name, address, port))
    await cluster.create(route("app", "app.example.com", "external", weighted("blue", 80), weighted("green", 20)))
    await served(cluster, cluster.ports.external, "app.example.com", lambda status, _: status == 200)

    answers = Counter([await cluster.get(cluster.ports.external, "app.example.com") for _ in range(500)])
    assert answers == {(200, "blue 80"): 400, (200, "green 20"): 100}

    assert (await cluster.get(cluster.ports.local, "app.example.com"))[0] == 404
    assert (await cluster.get(cluster.ports.external, "other.example.com"))[0] == 404
    accepted = await cluster.read("gateway.networking.k8s.io/v1", "HTTPRoute", "default", "app")
    [parent] = accepted["status"]["parents"]
    assert parent["controllerName"] == "traefik.io/gateway-controller"
    assert is_true(parent, "Accepted")
    assert is_true(parent, "ResolvedRefs")


async def test_the_gateways_are_programmed_with_the_loopback_address_and_serve_routes_apart(
    cluster: Cluster, runners: list[web.AppRunner]
) -> None:
    port = await backend("inside", "127.0.1.3", runners)
    await cluster.create(service("inside"))
    await cluster.create(endpoint_slice("inside", "127.0.1.3", port))
    await cluster.create(route("inside", "inside.default.svc.cluster.local", "local", weighted("inside", 1)))
    host = "inside.default.svc.cluster.local"
    await served(cluster, cluster.ports.local, host, lambda status, text: (status, text) == (200, "inside 1"))
    assert (await cluster.get(cluster.ports.external, host))[0] == 404
    for name in ("external", "local"):
        gateway = await cluster.read("gateway.networking.k8s.io/v1", "Gateway", "gatepost-system", name)
        assert gateway["status"]["addresses"] == [{"type": "IPAddress", "value": "127.0.0.1"}]
        assert is_true(gateway["status"], "Programmed")
