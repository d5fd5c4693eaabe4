"""A small rule, a KIngress for each DomainMapping, on a real API server, and a hand to change things there."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from gatepost.cluster.client import MERGE_PATCH, Client
from gatepost.cluster.connection import Connection, Server
from gatepost.objects.meta import owner_reference
from gatepost.objects.networking import KIngress
from gatepost.objects.refs import Ref
from gatepost.objects.serving import DomainMapping
from gatepost.runtime.controllers import Controllers
from gatepost.runtime.loop.loop import Loop
from gatepost.standalone.apiserver.server import ApiServer
from gatepost.state.rule import Rule
from gatepost.state.view import View
from gatepost.writes.outcome import Apply, Outcome, object_fields, subject
from running_controllers import running

Raw = dict[str, Any]
MAPPINGS = "/apis/serving.knative.dev/v1beta1/namespaces/shop/domainmappings"
INGRESSES = "/apis/networking.internal.knative.dev/v1alpha1/namespaces/shop/ingresses"
EVENTS = "/api/v1/namespaces/shop/events"
FINALIZER = "test.example.com/finalizer"


def mapped(ref: Ref, view: View) -> Outcome:
    """A KIngress with the name of the mapping as its host; "http://NAME" as URL when the KIngress is there."""
    mapping = view.get(DomainMapping, ref)
    if mapping is None:
        return Outcome.none("gone")
    out = Outcome.of(mapping)
    ingress = view.named(KIngress, ref.namespace, ref.name)
    if mapping.metadata.deletion_timestamp:
        out.finalizers = ()
        if ingress is not None:
            out.remove(ingress, "the mapping goes")
        return out
    out.finalizers = (FINALIZER,)
    if mapping.spec.ref.name == "nowhere":
        out.warn("Nowhere", "there is no such place")
    rule = {"hosts": [ref.name], "visibility": "ExternalIP", "http": {"paths": [{"splits": [split(mapping)]}]}}
    owners = [owner_reference(mapping)]
    fields = object_fields(KIngress, ref.namespace, ref.name, owners=owners, spec={"rules": [rule]})
    out.want(Apply(fields, announce=subject(mapping)))
    out.status = {"url": f"http://{ref.name}" if ingress is not None else None}
    return out


def split(mapping: DomainMapping) -> Raw:
    name = mapping.spec.ref.name
    return {"serviceNamespace": "shop", "serviceName": name, "servicePort": 80, "percent": 100}


RULE: Rule[Any] = Rule("mapped", mapped, rank=10, over=DomainMapping)


class Shop:
    """An API server with a namespace, and a hand to change things in it."""

    def __init__(self, server: ApiServer, client: Client) -> None:
        self.server = server
        self.client = client

    async def get(self, path: str) -> Raw:
        found: Raw = json.loads(await self.client.read(path))
        return found

    async def map(self, name: str, service: str = "cart") -> None:
        body = {
            "apiVersion": "serving.knative.dev/v1beta1",
            "kind": "DomainMapping",
            "metadata": {"name": name, "namespace": "shop"},
            "spec": {"ref": {"apiVersion": "v1", "kind": "Service", "name": service}},
        }
        await self.client.write("POST", MAPPINGS, {}, body)

    async def patch(self, path: str, body: Raw) -> None:
        await self.client.write("PATCH", path, {"fieldManager": "somebody"}, body, MERGE_PATCH)

    async def service_of(self, name: str) -> str:
        found = await self.get(f"{INGRESSES}/{name}")
        return str(found["spec"]["rules"][0]["http"]["paths"][0]["splits"][0]["serviceName"])

    async def revision(self) -> str:
        """The version of the whole cluster: it moves with every write that changes anything."""
        return str((await self.get(MAPPINGS))["metadata"]["resourceVersion"])


@asynccontextmanager
async def shop() -> AsyncIterator[Shop]:
    async with ApiServer() as server, Client(Connection(Server(server.url))) as client:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
        await client.write("POST", "/api/v1/namespaces", {}, namespace)
        yield Shop(server, client)


@asynccontextmanager
async def controlling(place: Shop, *, dry_run: bool = False) -> AsyncIterator[tuple[Loop, Controllers]]:
    async with Client(Connection(Server(place.server.url)), dry_run=dry_run) as client:
        written = frozenset({DomainMapping.KIND.group_kind})
        controllers = Controllers(client, [RULE], [], written=written)
        async with running(controllers) as loop:
            yield loop, controllers


async def until_seen(loop: Loop, controllers: Controllers, ref: Ref, wanted: bool = True) -> None:
    """Waits until the loop knows of an object, or of its end, and has done what follows from it."""
    seen = loop.movements.count
    while (loop.engine.store.get(ref) is not None) is not wanted:
        seen = await loop.movements.after(seen)
    await loop.rest()


def mapping_ref(name: str) -> Ref:
    return DomainMapping.KIND.ref("shop", name)


def ingress_ref(name: str) -> Ref:
    return KIngress.KIND.ref("shop", name)
