"""Whether a name in the cluster was answered at every moment: at each change as it is told, and once more in order.

Services and slices are watched apart, so what the live server holds may be ahead of a change. Therefore the changes are
also played back one by one, in the order of their resource versions, into a zone that holds nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import dns.asyncquery
import dns.message
import msgspec
from migration_world import Cluster, Raw
from msgspec import Struct

from gatepost.objects.refs import GroupKind, Ref
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.standalone.dnsserver import ClusterZone, DnsServer

WATCHED = {
    "Service": "/api/v1/services",
    "EndpointSlice": "/apis/discovery.k8s.io/v1/endpointslices",
}
SLICES = GroupKind("discovery.k8s.io", "EndpointSlice")
LABEL = "kubernetes.io/service-name"
END = "the-end"

Lookup = Callable[[str, str], tuple[Raw, list[Raw]] | None]


class Answers(Struct):
    """The addresses that a name had: `live` at each change told, `in_order` after each change."""

    live: list[tuple[str, ...]] = []
    in_order: list[tuple[str, ...]] = []
    changes: list[str] = []


@asynccontextmanager
async def watching(place: Cluster, name: str) -> AsyncIterator[Answers]:
    """Asks for a name at every change of a Service or a slice; the answers are complete after the context."""
    answers = Answers()
    start = {kind: msgspec.json.decode(await place.client.read(path)) for kind, path in WATCHED.items()}
    seen: list[tuple[str, Raw]] = []
    async with DnsServer(EmbeddedProvider([]), ClusterZone("cluster.local", lookup_in_server(place))) as server:
        answers.live.append(await addresses(server, name))

        async def follow(kind: str) -> None:
            params = {"watch": "true", "resourceVersion": start[kind]["metadata"]["resourceVersion"]}
            async with place.client.lines(WATCHED[kind], params, 60.0) as batches:
                async for lines in batches:
                    for line in lines:
                        event = msgspec.json.decode(line)
                        seen.append((event["type"], {"kind": kind, **event["object"]}))
                        answers.live.append(await addresses(server, name))
                        if event["object"]["metadata"]["name"] == END:
                            return

        followers = [asyncio.create_task(follow(kind)) for kind in WATCHED]
        yield answers
        await place.put(_marker("v1", "Service", spec={"clusterIP": "None"}))
        await place.put(_marker("discovery.k8s.io/v1", "EndpointSlice", addressType="IPv4", endpoints=[], ports=[]))
        await asyncio.gather(*followers)
    await _play_back(
        name, [{"kind": kind, **raw} for kind, found in start.items() for raw in found["items"]], seen, answers
    )


async def _play_back(name: str, start: Sequence[Raw], seen: Sequence[tuple[str, Raw]], answers: Answers) -> None:
    held = {_place_of(raw): raw for raw in start}

    def lookup(namespace: str, service: str) -> tuple[Raw, list[Raw]] | None:
        found = held.get(("Service", namespace, service))
        return (found, _slices(list(held.values()), namespace, service)) if found is not None else None

    async with DnsServer(EmbeddedProvider([]), ClusterZone("cluster.local", lookup)) as server:
        answers.in_order.append(await addresses(server, name))
        for type_, raw in sorted(seen, key=lambda event: int(event[1]["metadata"]["resourceVersion"])):
            if raw["metadata"]["name"] == END:
                continue
            if type_ == "DELETED":
                del held[_place_of(raw)]
            else:
                held[_place_of(raw)] = raw
            answers.changes.append(f"{type_} {raw['kind']} {raw['metadata']['name']}")
            answers.in_order.append(await addresses(server, name))


async def addresses(server: DnsServer, name: str) -> tuple[str, ...]:
    """The IPv4 addresses that a name leads to, by way of aliases or not."""
    query = dns.message.make_query(name, "A")
    response = await dns.asyncquery.udp(query, "127.0.0.1", timeout=10, port=server.port)
    return tuple(sorted(r.to_text() for rrset in response.answer if rrset.rdtype == dns.rdatatype.A for r in rrset))


def lookup_in_server(place: Cluster) -> Lookup:
    def lookup(namespace: str, name: str) -> tuple[Raw, list[Raw]] | None:
        service = place.server.find(Ref("", "Service", namespace, name))
        if service is None:
            return None
        return service, _slices(place.server.select(SLICES, namespace, lambda raw: True), namespace, name)

    return lookup


def _slices(found: Sequence[Raw], namespace: str, service: str) -> list[Raw]:
    return [
        raw
        for raw in found
        if raw["kind"] == SLICES.kind
        and raw["metadata"]["namespace"] == namespace
        and (raw["metadata"].get("labels") or {}).get(LABEL) == service
    ]


def _place_of(raw: Raw) -> tuple[str, str, str]:
    return raw["kind"], raw["metadata"]["namespace"], raw["metadata"]["name"]


def _marker(api_version: str, kind: str, **body: Any) -> Raw:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": END, "namespace": "shop"}, **body}
