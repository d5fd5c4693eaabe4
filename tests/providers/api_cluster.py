"""A cluster behind the embedded API server: namespaces, a Gateway, and Routes that its controller has accepted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from gatepost.cluster.client import MERGE_PATCH, Client
from gatepost.cluster.connection import Connection, Server
from gatepost.standalone.apiserver.server import ApiServer

GATEWAYS = "/apis/gateway.networking.k8s.io/v1/namespaces/infra/gateways"
ROUTES = "/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes"
VERSION = "gateway.networking.k8s.io/v1"
PARENT = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "public", "namespace": "infra"}


class Cluster:
    """What people and the controller of the Gateway do to the objects of a cluster."""

    def __init__(self, server: ApiServer, client: Client) -> None:
        self.server = server
        self._client = client

    async def make(self, path: str, kind: str, namespace: str, name: str, version: str, **body: Any) -> None:
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        await self._client.write("POST", path, {}, {"apiVersion": version, "kind": kind, "metadata": metadata, **body})

    async def patch(self, path: str, body: dict[str, Any]) -> None:
        await self._client.write("PATCH", path, {}, body, MERGE_PATCH)

    async def delete(self, path: str) -> None:
        await self._client.write("DELETE", path, {}, {})

    async def make_route(self, name: str, *hostnames: str) -> None:
        """A Route in namespace shop, accepted."""
        spec = {"parentRefs": [PARENT], "hostnames": list(hostnames)}
        await self.make(ROUTES, "HTTPRoute", "shop", name, VERSION, spec=spec)
        await self.accept(name)

    async def move_route(self, name: str, *hostnames: str) -> None:
        """The Route asks for other hostnames, and is accepted with them."""
        await self.patch(f"{ROUTES}/{name}", {"spec": {"hostnames": list(hostnames)}})
        await self.accept(name)

    async def delete_route(self, name: str) -> None:
        await self.delete(f"{ROUTES}/{name}")

    async def accept(self, name: str) -> None:
        """What the controller of the Gateway would say of the Route now."""
        accepted = {
            "type": "Accepted",
            "status": "True",
            "reason": "Accepted",
            "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
            "observedGeneration": 9,
        }
        parents = [{"parentRef": PARENT, "controllerName": "x.io/y", "conditions": [accepted]}]
        await self.patch(f"{ROUTES}/{name}/status", {"status": {"parents": parents}})

    async def events(self, namespace: str) -> list[dict[str, Any]]:
        """What has been told of the objects of a namespace."""
        listed = json.loads(await self._client.read(f"/api/v1/namespaces/{namespace}/events"))
        return list(listed["items"])

    async def give_address(self, *addresses: str) -> None:
        """The Gateway has these addresses from now on."""
        listed = [{"type": "IPAddress", "value": address} for address in addresses]
        await self.patch(f"{GATEWAYS}/public/status", {"status": {"addresses": listed}})


@asynccontextmanager
async def cluster_at(address: str) -> AsyncIterator[Cluster]:
    """A cluster whose Gateway infra/public has that address and takes Routes from all namespaces."""
    async with ApiServer() as server, Client(Connection(Server(server.url))) as client:
        cluster = Cluster(server, client)
        for name in ("infra", "shop"):
            await cluster.make("/api/v1/namespaces", "Namespace", "", name, "v1")
        listener = {"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}
        spec = {"gatewayClassName": "x", "listeners": [listener]}
        await cluster.make(GATEWAYS, "Gateway", "infra", "public", VERSION, spec=spec)
        await cluster.give_address(address)
        yield cluster
