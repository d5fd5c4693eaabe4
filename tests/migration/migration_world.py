"""Services of Routes in their raw form as Knative leaves them, seen by the rules or put on a server."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import msgspec

from gatepost.cluster.client import MERGE_PATCH, Client
from gatepost.cluster.connection import Connection, Server
from gatepost.migration.rules import BACK, FORWARD, INDEXES, RULES, guarded
from gatepost.migration.values import Migration
from gatepost.objects.kinds import typed
from gatepost.objects.problems import UnreadableObject
from gatepost.objects.refs import ref_of
from gatepost.runtime.snapshot import snapshot
from gatepost.runtime.wiring import Wiring
from gatepost.standalone.apiserver.server import ApiServer
from gatepost.state.engine import Engine

Raw = dict[str, Any]

GATEWAY_NAME = "gw.gateways.svc.cluster.local"
GATEWAY_IP = "10.96.0.50"
H2C: Raw = {"name": "http2", "port": 80, "targetPort": 80, "protocol": "TCP", "appProtocol": "kubernetes.io/h2c"}
EXTERNAL_NAME: Raw = {"type": "ExternalName", "externalName": GATEWAY_NAME, "sessionAffinity": "None", "ports": [H2C]}
HEADLESS: Raw = {"type": "ClusterIP", "clusterIP": "None", "ports": [H2C]}
MESH: Raw = {"type": "ClusterIP", "ports": [{"name": "http", "port": 80, "targetPort": 80, "protocol": "TCP"}]}
MIRROR = "endpointslicemirroring-controller.k8s.io"
PATHS = {
    "Namespace": "/api/v1/namespaces",
    "Service": "/api/v1/namespaces/{}/services",
    "Endpoints": "/api/v1/namespaces/{}/endpoints",
    "EndpointSlice": "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices",
    "Route": "/apis/serving.knative.dev/v1/namespaces/{}/routes",
    "Revision": "/apis/serving.knative.dev/v1/namespaces/{}/revisions",
    "Ingress": "/apis/networking.internal.knative.dev/v1alpha1/namespaces/{}/ingresses",
}


def route(name: str = "web", tags: tuple[str, ...] = (), handed_over: bool = True) -> Raw:
    traffic: list[Raw] = [{"configurationName": name, "latestRevision": True, "percent": 100}]
    traffic += [{"revisionName": f"{name}-1", "latestRevision": False, "percent": 0, "tag": tag} for tag in tags]
    return {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Route",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": f"uid-{name}",
            "annotations": {"gatepost/hand-over": "true"} if handed_over else {},
        },
        "spec": {"traffic": traffic},
    }


def owned(owner: Raw) -> list[Raw]:
    named = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
    return [{**named, "uid": owner["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}]


def service(owner: Raw, spec: Raw, name: str = "web", labels: Raw | None = None) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": f"uid-service-{name}",
            "labels": {"serving.knative.dev/route": owner["metadata"]["name"], **(labels or {})},
            "ownerReferences": owned(owner),
        },
        "spec": copy.deepcopy(spec),
    }


def kingress(owner: Raw, entry: Raw, *more: Raw) -> Raw:
    return {
        "apiVersion": "networking.internal.knative.dev/v1alpha1",
        "kind": "Ingress",
        "metadata": {"name": owner["metadata"]["name"], "namespace": "shop", "ownerReferences": owned(owner)},
        "spec": {},
        "status": {"privateLoadBalancer": {"ingress": [entry, *more]}},
    }


def gateway(*ips: str) -> Raw:
    """The Service in front of the gateway."""
    ips = ips or (GATEWAY_IP,)
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "gw", "namespace": "gateways", "uid": "uid-gw"},
        "spec": {"type": "ClusterIP", "clusterIP": ips[0], "clusterIPs": list(ips), "ports": [{"port": 80}]},
    }


def endpoints(owner: Raw | None, address: str, name: str = "web") -> Raw:
    metadata = {"name": name, "namespace": "shop", "uid": f"uid-endpoints-{name}"}
    return {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {**metadata, **({"ownerReferences": owned(owner)} if owner else {})},
        "subsets": [{"addresses": [{"ip": address}], "ports": [{"name": "http2", "port": 80, "protocol": "TCP"}]}],
    }


def slice_of(
    owner: Raw, address: str, name: str, managed_by: str = "gatepost", port_name: str = "http2", service: str = "web"
) -> Raw:
    labels = {"kubernetes.io/service-name": service, "endpointslice.kubernetes.io/managed-by": managed_by}
    port = {"name": port_name, "port": 80, "protocol": "TCP", "appProtocol": "kubernetes.io/h2c"}
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": f"uid-slice-{name}",
            "labels": labels,
            "ownerReferences": owned(owner),
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        "ports": [port],
    }


def planned(*raws: Raw, back: bool = False, all_handed_over: bool = False) -> list[Migration]:
    """What the rules say of these objects, by name of the Service."""
    engine = Engine(RULES, INDEXES, datetime(2026, 1, 1, tzinfo=UTC))
    for raw in raws:
        try:
            engine.put(typed(raw), ref_of(raw))
        except UnreadableObject as error:
            engine.put_unreadable(error.problem)
    engine.run_stale()
    assert not engine.failures, engine.failures
    return migrations_in(engine, back=back, all_handed_over=all_handed_over)


def migrations_in(engine: Engine, *, back: bool, all_handed_over: bool = False) -> list[Migration]:
    found = [migration for _, migration in engine.values(BACK if back else FORWARD) if migration is not None]
    found.sort(key=lambda migration: migration.service)
    return [guarded(migration, back=back, all_handed_over=all_handed_over) for migration in found]


def steps(migration: Migration) -> list[str]:
    return [str(step) for step in migration.steps]


def reasons(migration: Migration) -> list[str]:
    return [problem.reason for problem in migration.refused]


class Cluster:
    """An API server with a hand to change things in it."""

    def __init__(self, server: ApiServer, client: Client) -> None:
        self.server = server
        self.client = client

    async def put(self, raw: Raw) -> Raw:
        """Creates an object, its status included. Returns: it with the UID that it got."""
        metadata = {key: value for key, value in raw["metadata"].items() if key != "uid"}
        path = PATHS[raw["kind"]].format(metadata.get("namespace", ""))
        made = await self._write("POST", path, {**raw, "metadata": metadata})
        if raw.get("status"):
            await self._write("PATCH", f"{path}/{metadata['name']}/status", {"status": raw["status"]}, MERGE_PATCH)
        return made

    async def put_revision(self, name: str) -> None:
        """A Revision that is ready."""
        metadata = {"name": name, "namespace": "shop"}
        raw = {"apiVersion": "serving.knative.dev/v1", "kind": "Revision", "metadata": metadata}
        conditions = [{"type": "Ready", "status": "True"}]
        status = {"observedGeneration": 1, "conditions": conditions}
        await self.put({**raw, "spec": {"containers": [{}]}, "status": status})

    async def patch(self, kind: str, name: str, body: Raw) -> Raw:
        return await self._write("PATCH", f"{PATHS[kind].format('shop')}/{name}", body, MERGE_PATCH)

    async def delete(self, kind: str, name: str) -> None:
        await self.client.write("DELETE", f"{PATHS[kind].format('shop')}/{name}", {}, {})

    async def get(self, kind: str, name: str) -> Raw | None:
        return next((raw for raw in await self.all(kind) if raw["metadata"]["name"] == name), None)

    async def all(self, kind: str) -> list[Raw]:
        answer = msgspec.json.decode(await self.client.read(PATHS[kind].format("shop")))
        items: list[Raw] = answer["items"]
        return items

    async def planned(self, *, back: bool = False, all_handed_over: bool = False) -> list[Migration]:
        connection = Connection(Server(self.server.url))
        engine = (await snapshot(connection, Wiring(RULES, INDEXES))).engine
        return migrations_in(engine, back=back, all_handed_over=all_handed_over)

    async def _write(self, method: str, path: str, body: Raw, content_type: str = "application/json") -> Raw:
        answer: Raw = msgspec.json.decode(
            await self.client.write(method, path, {"fieldManager": "controller"}, body, content_type)
        )
        return answer


@asynccontextmanager
async def cluster() -> AsyncIterator[Cluster]:
    """An API server with the two namespaces and the Service of the gateway."""
    async with ApiServer() as server, Client(Connection(Server(server.url))) as client:
        place = Cluster(server, client)
        for name in ("shop", "gateways"):
            await place.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        await place.put(gateway())
        yield place
