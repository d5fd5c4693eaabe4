"""DNS from objects on a real API server: the status of DNSEndpoints, and events on the objects behind records."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from msgspec.structs import replace

from gatepost.cluster.client import MERGE_PATCH, Client
from gatepost.cluster.connection import Connection, Server
from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.settings import DnsSettings
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.runtime.process import RunSettings, run_on
from gatepost.standalone.apiserver.server import ApiServer

Raw = dict[str, Any]
ENDPOINTS = "/apis/externaldns.k8s.io/v1alpha1/namespaces/shop/dnsendpoints"
DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dnsendpoints.externaldns.k8s.io"
EVENTS = "/api/v1/namespaces/shop/events"


class Place:
    """An API server, a client, and a zone."""

    def __init__(self, server: ApiServer, client: Client) -> None:
        self.connection = Connection(Server(server.url))
        self.client = client
        self.provider = EmbeddedProvider(["example.com"])

    async def get(self, path: str) -> Raw:
        found: Raw = json.loads(await self.client.read(path))
        return found

    async def names(self) -> list[str]:
        return [record.dns_name for record in await self.provider.records()]

    async def conditions(self, name: str) -> dict[str, tuple[str, str]]:
        found = (await self.get(f"{ENDPOINTS}/{name}"))["status"]["conditions"]
        return {condition["type"]: (condition["status"], condition["reason"]) for condition in found}

    async def write_down(self, name: str, target: str, dns_name: str = "", record_type: str = "A") -> None:
        dns_name = dns_name or f"{name}.example.com"
        endpoint = {"dnsName": dns_name, "recordType": record_type, "targets": [target], "recordTTL": 60}
        body = {
            "apiVersion": "externaldns.k8s.io/v1alpha1",
            "kind": "DNSEndpoint",
            "metadata": {"name": name, "namespace": "shop"},
            "spec": {"endpoints": [endpoint]},
        }
        await self.client.write("POST", ENDPOINTS, {}, body)

    async def change_target(self, name: str, target: str) -> None:
        endpoint = {"dnsName": f"{name}.example.com", "recordType": "A", "targets": [target], "recordTTL": 60}
        body = {"spec": {"endpoints": [endpoint]}}
        await self.client.write("PATCH", f"{ENDPOINTS}/{name}", {"fieldManager": "somebody"}, body, MERGE_PATCH)

    async def run_once(self, *, dry_run: bool = False, **more: Any) -> list[str]:
        dns = DnsSettings(**{"sources": ("crd",), "txt_owner_id": "me", **more})
        settings = RunSettings(dns=dns, once=True, dry_run=dry_run)
        return await run_on(self.connection, settings, asyncio.Event(), self.provider)


@asynccontextmanager
async def place() -> AsyncIterator[Place]:
    async with ApiServer() as server, Client(Connection(Server(server.url))) as client:
        await client.write(
            "POST", "/api/v1/namespaces", {}, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
        )
        yield Place(server, client)


async def test_the_generation_of_a_dns_endpoint_that_was_read_is_in_its_status() -> None:
    async with place() as shop:
        await shop.write_down("static", "192.0.2.1")
        assert await shop.run_once() == []
        assert (await shop.get(f"{ENDPOINTS}/static"))["status"]["observedGeneration"] == 1
        await shop.change_target("static", "192.0.2.2")
        assert await shop.run_once() == []
        found = await shop.get(f"{ENDPOINTS}/static")
        assert (found["metadata"]["generation"], found["status"]["observedGeneration"]) == (2, 2)


async def test_a_status_that_is_right_is_not_written_again() -> None:
    async with place() as shop:
        await shop.write_down("static", "192.0.2.1")
        await shop.run_once()
        before = (await shop.get(f"{ENDPOINTS}/static"))["metadata"]["resourceVersion"]
        await shop.run_once()
        assert (await shop.get(f"{ENDPOINTS}/static"))["metadata"]["resourceVersion"] == before


async def test_a_dry_run_writes_no_status_and_no_record() -> None:
    async with place() as shop:
        await shop.write_down("static", "192.0.2.1")
        await shop.run_once(dry_run=True, events_emit=("RecordReady",))
        assert "status" not in await shop.get(f"{ENDPOINTS}/static")
        assert await shop.provider.records() == []
        assert (await shop.get(EVENTS))["items"] == []


async def test_a_published_record_is_an_event_on_its_object() -> None:
    async with place() as shop:
        await shop.write_down("static", "192.0.2.1")
        await shop.run_once(events_emit=("RecordReady", "RecordDeleted"))
        uid = (await shop.get(f"{ENDPOINTS}/static"))["metadata"]["uid"]
        (ready,) = (await shop.get(EVENTS))["items"]
        assert (ready["type"], ready["reason"]) == ("Normal", "RecordReady")
        assert ready["message"] == "(gatepost) record:static.example.com,owner:me,type:A,ttl:60,targets:192.0.2.1"
        assert (ready["action"], ready["reportingComponent"]) == ("Created", "gatepost")
        assert (ready["involvedObject"]["kind"], ready["involvedObject"]["uid"]) == ("DNSEndpoint", uid)
        await shop.client.write("DELETE", f"{ENDPOINTS}/static", {}, {})
        await shop.run_once(events_emit=("RecordReady", "RecordDeleted"))
        reasons = [event["reason"] for event in (await shop.get(EVENTS))["items"]]
        assert sorted(reasons) == ["RecordDeleted", "RecordReady"]


async def test_conditions_tell_whether_a_dns_endpoint_is_published() -> None:
    async with place() as shop:
        await shop.write_down("static", "192.0.2.1")
        assert await shop.run_once() == []
        assert await shop.conditions("static") == {"Accepted": ("True", "Accepted"), "Ready": ("True", "Published")}
        await shop.write_down("outside", "192.0.2.1", "outside.example.org")
        assert await shop.run_once() == []
        assert (await shop.conditions("outside"))["Ready"] == ("False", "NotPublished")
        assert (await shop.conditions("static"))["Ready"] == ("True", "Published")


async def test_conditions_that_the_definition_does_not_have_are_not_written_for_ever() -> None:
    async with place() as shop:
        definition = await shop.get(DEFINITION)
        (version,) = definition["spec"]["versions"]
        del version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["conditions"]
        change = {"spec": {"versions": [version]}}
        await shop.client.write("PATCH", DEFINITION, {"fieldManager": "somebody"}, change, MERGE_PATCH)
        await shop.write_down("static", "192.0.2.1")
        assert await shop.run_once() == []
        before = await shop.get(f"{ENDPOINTS}/static")
        assert before["status"] == {"observedGeneration": 1}
        await shop.run_once()
        assert (await shop.get(f"{ENDPOINTS}/static"))["metadata"]["resourceVersion"] == (
            before["metadata"]["resourceVersion"]
        )


class Aliasing(EmbeddedProvider):
    """Gives back each CNAME as the address that it leads to, as providers with aliases do."""

    def adjust(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        return [
            replace(e, record_type="A", targets=("192.0.2.7",)) if e.record_type == "CNAME" else e for e in endpoints
        ]


async def test_a_record_that_the_provider_holds_in_its_own_form_is_published() -> None:
    async with place() as shop:
        shop.provider = Aliasing(["example.com"])
        await shop.write_down("static", "lb.example.net", record_type="CNAME")
        assert await shop.run_once() == []
        assert set(await shop.names()) == {"static.example.com", "a-static.example.com"}
        assert (await shop.conditions("static"))["Ready"] == ("True", "Published")


async def test_a_name_that_belongs_to_somebody_else_is_not_ready() -> None:
    async with place() as shop:
        theirs = Endpoint("static.example.com", "A", ("203.0.113.1",))
        await shop.provider.apply(Changes(create=(theirs,)))
        await shop.write_down("static", "192.0.2.1")
        assert await shop.run_once() == []
        assert (await shop.conditions("static"))["Ready"] == ("False", "NotPublished")


async def test_two_instances_do_not_overwrite_each_others_conditions() -> None:
    async with place() as shop:
        await shop.write_down("static", "192.0.2.1")
        assert await shop.run_once(domain_filter=("example.org",)) == []
        first = await shop.get(f"{ENDPOINTS}/static")
        assert (await shop.conditions("static"))["Ready"] == ("False", "NotPublished")
        assert first["status"]["conditions"][1]["message"].endswith("[owner: me]")
        assert await shop.run_once(txt_owner_id="other") == []
        assert set(await shop.names()) == {"static.example.com", "a-static.example.com"}
        assert (await shop.get(f"{ENDPOINTS}/static"))["metadata"] == first["metadata"]


async def test_a_warning_tells_in_a_sentence_of_its_own_what_to_do() -> None:
    async with place() as shop:
        await shop.write_down("static", "192.0.2.1", "static.example.net")
        assert await shop.run_once() == []
        (event,) = (await shop.get(EVENTS))["items"]
        assert (event["type"], event["reason"]) == ("Warning", "NoZone")
        assert event["message"] == (
            "static.example.net is in no zone of gatepost's own DNS server, which has example.com. "
            "Choose a name in one of its zones, or give it that zone."
        )


async def test_an_entry_that_can_be_no_record_is_told_once_on_its_object() -> None:
    async with place() as shop:
        await shop.write_down("static", "nowhere")
        for _ in range(2):  # a second process says nothing new
            assert await shop.run_once() == []
        (event,) = (await shop.get(EVENTS))["items"]
        assert (event["type"], event["reason"], event["count"]) == ("Warning", "InvalidRecord", 1)
        assert event["message"] == "spec.endpoints: static.example.com A: target 'nowhere' is no IPv4 address"
        assert await shop.conditions("static") == {
            "Accepted": ("False", "InvalidRecord"),
            "Ready": ("False", "NoRecords"),
        }


GATEWAY_API = "/apis/gateway.networking.k8s.io/v1/namespaces/shop"
YES = {"status": "True", "reason": "Accepted", "message": "", "lastTransitionTime": "2026-02-03T09:00:00Z"}


async def serve(client: Client, plural: str, body: Raw, status: Raw) -> None:
    """Creates an object of Gateway API in namespace shop, with the status that its controller would give it."""
    name = body["metadata"]["name"]
    await client.write("POST", f"{GATEWAY_API}/{plural}", {}, {"apiVersion": "gateway.networking.k8s.io/v1", **body})
    path = f"{GATEWAY_API}/{plural}/{name}/status"
    await client.write("PATCH", path, {"fieldManager": "edge"}, {"status": status}, MERGE_PATCH)


async def test_template_reads_the_rules_of_a_route_in_a_cluster() -> None:
    listeners = [{"name": "web", "port": 80, "protocol": "HTTP"}]
    gateway = {
        "kind": "Gateway",
        "metadata": {"name": "edge"},
        "spec": {"gatewayClassName": "x", "listeners": listeners},
    }
    rules = [{"name": "cart", "backendRefs": [{"name": "cart", "port": 80}]}]
    route = {
        "kind": "HTTPRoute",
        "metadata": {"name": "app"},
        "spec": {"parentRefs": [{"name": "edge"}], "rules": rules},
    }
    accepted = [{"type": "Accepted", "observedGeneration": 1, **YES}]
    async with place() as shop:
        addresses = [{"type": "IPAddress", "value": "192.0.2.7"}]
        await serve(shop.client, "gateways", gateway, {"addresses": addresses, "conditions": accepted})
        parent = {"parentRef": {"name": "edge"}, "controllerName": "example.com/edge", "conditions": accepted}
        await serve(shop.client, "httproutes", route, {"parents": [parent]})
        template = ("{{range .Spec.Rules}}{{.Name}}.example.com,{{end}}",)
        assert await shop.run_once(sources=("gateway-httproute",), fqdn_template=template) == []
        assert "cart.example.com" in await shop.names()
