"""The real controllers against an API server over a socket: what one writes wakes the next, until all is at rest."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from gatepost.cluster.client import MERGE_PATCH, Client
from gatepost.cluster.connection import Connection, Server
from gatepost.runtime.process import RunSettings, controllers_on
from gatepost.standalone.apiserver.server import ApiServer
from running_controllers import running

Raw = dict[str, Any]
MAPPINGS = "/apis/serving.knative.dev/v1beta1/namespaces/shop/domainmappings"
INGRESSES = "/apis/networking.internal.knative.dev/v1alpha1/namespaces/shop/ingresses"
ROUTES = "/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes"
GATEWAYS = "/apis/gateway.networking.k8s.io/v1/namespaces/infra/gateways"
CLASSES = "/apis/gateway.networking.k8s.io/v1/gatewayclasses"

GATEWAY_SETTING = """
- class: test
  gateway: infra/public
  service: infra/public
  supported-features: []
"""


class Cluster:
    """Writes by hand to an API server."""

    def __init__(self, client: Client, connection: Connection) -> None:
        self.client = client
        self.connection = connection

    async def make(self, path: str, kind: str, api_version: str, namespace: str, name: str, **body: Any) -> None:
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        await self.client.write(
            "POST", path, {}, {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}
        )

    async def items(self, path: str) -> list[Raw]:
        found: list[Raw] = json.loads(await self.client.read(path))["items"]
        return found

    async def one(self, path: str) -> Raw:
        (found,) = await self.items(path)
        return found

    async def settle(self, *controllers: str) -> None:
        """Runs these controllers until nothing is left to do."""
        settings = RunSettings(controllers=controllers)
        async with controllers_on(self.connection, settings) as made, running(made) as loop:
            await loop.rest()
            assert loop.failures == []


@asynccontextmanager
async def cluster_with_a_mapping() -> AsyncIterator[Cluster]:
    """Service cart, DomainMapping app.example.com to it, a Gateway that serves nothing yet."""
    async with ApiServer() as server:
        connection = Connection(Server(server.url))
        async with Client(connection) as client:
            cluster = Cluster(client, connection)
            for name in ("shop", "knative-serving", "infra"):
                await cluster.make("/api/v1/namespaces", "Namespace", "v1", "", name)
            maps = "/api/v1/namespaces/knative-serving/configmaps"
            network = {
                "autocreate-cluster-domain-claims": "true",
                "ingress-class": "gateway-api.ingress.networking.knative.dev",
            }
            gateways = {"external-gateways": GATEWAY_SETTING, "local-gateways": GATEWAY_SETTING}
            await cluster.make(maps, "ConfigMap", "v1", "knative-serving", "config-network", data=network)
            await cluster.make(maps, "ConfigMap", "v1", "knative-serving", "config-gateway", data=gateways)
            await cluster.make(
                CLASSES, "GatewayClass", "gateway.networking.k8s.io/v1", "", "test", spec={"controllerName": "x.io/y"}
            )
            listener = {
                "name": "http",
                "port": 80,
                "protocol": "HTTP",
                "allowedRoutes": {"namespaces": {"from": "All"}},
            }
            await cluster.make(
                GATEWAYS,
                "Gateway",
                "gateway.networking.k8s.io/v1",
                "infra",
                "public",
                spec={"gatewayClassName": "test", "listeners": [listener]},
            )
            services = "/api/v1/namespaces/shop/services"
            await cluster.make(services, "Service", "v1", "shop", "cart", spec={"ports": [{"port": 80}]})
            await cluster.make(
                MAPPINGS,
                "DomainMapping",
                "serving.knative.dev/v1beta1",
                "shop",
                "app.example.com",
                spec={"ref": {"apiVersion": "v1", "kind": "Service", "name": "cart"}},
            )
            yield cluster


async def test_a_mapping_becomes_a_kingress_and_that_an_httproute() -> None:
    async with cluster_with_a_mapping() as cluster:
        await cluster.settle("domainmapping", "gateway")
        mapping, ingress = await cluster.one(MAPPINGS), await cluster.one(INGRESSES)
        route = await cluster.one(ROUTES)
        assert ingress["metadata"]["ownerReferences"][0]["uid"] == mapping["metadata"]["uid"]
        assert route["metadata"]["ownerReferences"][0]["uid"] == ingress["metadata"]["uid"]
        assert route["spec"]["hostnames"] == ["app.example.com"]
        assert route["spec"]["rules"][0]["backendRefs"][0]["name"] == "cart"


async def test_running_again_changes_nothing_in_the_cluster() -> None:
    async with cluster_with_a_mapping() as cluster:
        await cluster.settle("domainmapping", "gateway")
        before = [await cluster.items(path) for path in (MAPPINGS, INGRESSES, ROUTES, GATEWAYS)]
        await cluster.settle("domainmapping", "gateway")
        assert [await cluster.items(path) for path in (MAPPINGS, INGRESSES, ROUTES, GATEWAYS)] == before


async def test_a_route_that_others_bent_is_put_right() -> None:
    async with cluster_with_a_mapping() as cluster:
        await cluster.settle("domainmapping", "gateway")
        right = (await cluster.one(ROUTES))["spec"]
        bent = {"spec": {"hostnames": ["evil.example.com"]}, "metadata": {"labels": {"stray": "yes"}}}
        await cluster.client.write("PATCH", f"{ROUTES}/app.example.com", {}, bent, MERGE_PATCH)
        await cluster.settle("domainmapping", "gateway")
        route = await cluster.one(ROUTES)
        assert route["spec"] == right
        assert "stray" not in route["metadata"].get("labels", {})


async def test_a_deleted_mapping_takes_all_that_was_made_for_it_with_it() -> None:
    async with cluster_with_a_mapping() as cluster:
        await cluster.settle("domainmapping", "gateway")
        settings = RunSettings(controllers=("domainmapping", "gateway"))
        async with controllers_on(cluster.connection, settings) as made, running(made) as loop:
            await loop.rest()
            seen = loop.movements.count
            await cluster.client.write("DELETE", f"{MAPPINGS}/app.example.com", {}, {})
            while any([await cluster.items(path) for path in (MAPPINGS, INGRESSES, ROUTES)]):
                seen = await loop.movements.after(seen)
