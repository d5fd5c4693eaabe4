"""The registry crd, against a real API server: names and conditions of DNSRecords, and nobody else's touched."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from written_endpoints import GROUP, dns_endpoint

from gatepost.cluster.client import MERGE_PATCH, Client
from gatepost.cluster.connection import Connection, Server
from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey, Property
from gatepost.dns.ownership.stored import Entry
from gatepost.dns.settings import DnsSettings
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.registries.contract import RegistryError
from gatepost.registries.dnsrecords import DnsRecordStore
from gatepost.registries.record_objects import object_name
from gatepost.registries.settings import CrdRegistrySettings
from gatepost.runtime.dns.registries import RegistrySettings
from gatepost.runtime.process import RunSettings, run_on
from gatepost.standalone.apiserver.server import ApiServer

Raw = dict[str, Any]

RECORDS = f"{GROUP}/dns-system/dnsrecords"
ENDPOINTS = f"{GROUP}/dns-system/dnsendpoints"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEFINITION = Path(__file__).with_name("dnsrecords.yaml")
PUBLISHED = (
    Path(os.environ.get("GATEPOST_CRDS") or Path(__file__).parents[3] / "shared" / "crds")
    / "external-dns"
    / "dnsrecords.yaml"
)
APP = "app-example-com-ae3e8df6"  # sha256 of app.example.com/A/, worked out with sha256sum


@pytest.mark.parametrize(
    ("key", "name"),
    [  # the digits were worked out with sha256sum
        (EndpointKey("app.example.com", "A"), APP),
        (EndpointKey("app.example.com", "CNAME", "blue"), "app-example-com-3cf91b95"),
        (EndpointKey("*.example.com", "A"), "example-com-bd399aa6"),
        (EndpointKey("_acme.app.example.com", "TXT"), "acme-app-example-com-811b982b"),
    ],
)
def test_the_name_of_an_object_is_that_of_external_dns(key: EndpointKey, name: str) -> None:
    assert object_name(key) == name


def test_the_name_of_an_object_fits_however_long_the_record_s_is() -> None:
    name = object_name(EndpointKey(".".join(["a" * 62] * 4), "A"))
    assert len(name) == 253
    assert name[244] == "-"


def record(name: str, owner: str | None, target: str = "192.0.2.1", reason: str = "", **labels: str) -> Raw:
    """A DNSRecord as external-dns writes it; with a Ready condition for a reason."""
    endpoint = {"dnsName": f"{name}.example.com", "recordType": "A", "targets": [target], "recordTTL": 60}
    metadata: Raw = {"name": object_name(EndpointKey(f"{name}.example.com", "A")), "namespace": "dns-system"}
    if owner is not None:
        metadata["labels"] = {"externaldns.k8s.io/owner": owner}
        endpoint["labels"] = {"owner": owner, **labels}
    body: Raw = {
        "apiVersion": "externaldns.k8s.io/v1alpha1",
        "kind": "DNSRecord",
        "metadata": metadata,
        "spec": {"endpoint": endpoint},
    }
    if reason:
        ready = {"type": "Ready", "status": "True", "reason": reason, "message": ""}
        body["status"] = {"conditions": [{**ready, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}
    return body


def entry(name: str = "app", owner: str = "me", target: str = "192.0.2.1", id_: str = "") -> Entry:
    labels = {"owner": owner, "resource": "httproute/shop/cart"}
    return Entry(Endpoint(f"{name}.example.com", "A", (target,), 60, "", labels), id_)


class Place:
    """An API server, a client of it, a store, and a zone."""

    def __init__(self, server: ApiServer, client: Client) -> None:
        self.connection = Connection(Server(server.url), namespace="dns-system")
        self.client = client
        self.provider = EmbeddedProvider(["example.com"])
        self.store = DnsRecordStore(client, "dns-system", lambda: datetime(2026, 1, 1, tzinfo=UTC))

    async def put(self, body: Raw) -> None:
        answer = json.loads(await self.client.write("POST", RECORDS, {}, body))
        if "status" in body:
            path = f"{RECORDS}/{body['metadata']['name']}/status"
            version = {"resourceVersion": answer["metadata"]["resourceVersion"]}
            await self.client.write("PATCH", path, {}, {"metadata": version, "status": body["status"]}, MERGE_PATCH)

    async def records(self) -> dict[str, Raw]:
        found = json.loads(await self.client.read(RECORDS))
        return {one["metadata"]["name"]: one for one in found["items"]}

    async def ready(self) -> tuple[str, str, str, int]:
        """Status, reason, message and generation of the Ready condition of the record of app.example.com."""
        (ready,) = (await self.records())[APP]["status"]["conditions"]
        return (ready["status"], ready["reason"], ready["message"], ready["observedGeneration"])

    async def ask_for(self, name: str, target: str) -> None:
        await self.client.write("POST", ENDPOINTS, {}, dns_endpoint(name, "dns-system", target))

    async def run_once(self, *, dry_run: bool = False, namespace: str = "", **more: Any) -> list[str]:
        dns = DnsSettings(sources=("crd",), registry="crd", txt_owner_id="me", **more)
        registries: RegistrySettings = {
            CrdRegistrySettings: CrdRegistrySettings(crd_registry_namespace=namespace),
        }
        settings = RunSettings(dns=dns, registries=registries, once=True, dry_run=dry_run)
        return await run_on(self.connection, settings, asyncio.Event(), self.provider)

    async def addresses(self) -> dict[str, tuple[str, ...]]:
        return {one.dns_name: one.targets for one in await self.provider.records()}


def _read(definition: Path) -> Any:
    return yaml.safe_load(definition.read_text())


@asynccontextmanager
async def place(definition: Path | None = DEFINITION) -> AsyncIterator[Place]:
    async with ApiServer() as server, Client(Connection(Server(server.url))) as client:
        if definition is not None:
            await client.write("POST", DEFINITIONS, {}, _read(definition))
        for name in ("dns-system", "elsewhere"):
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            await client.write("POST", "/api/v1/namespaces", {}, namespace)
        yield Place(server, client)


# The store


async def test_a_claim_is_an_object_as_external_dns_writes_it() -> None:
    async with place() as here:
        labels = {"owner": "me", "resource": "httproute/shop/cart"}
        weight = (Property("aws/weight", "10"),)
        made = Entry(Endpoint("app.example.com", "A", ("192.0.2.1",), 60, "", labels, weight))
        (result,) = await here.store.claim([made])
        assert (result.error, result.is_new, result.entry.id) == ("", True, APP)
        (found,) = (await here.records()).values()
        assert (found["metadata"]["name"], found["metadata"]["labels"]) == (APP, {"externaldns.k8s.io/owner": "me"})
        assert found["spec"]["endpoint"] == {
            "dnsName": "app.example.com",
            "recordType": "A",
            "targets": ["192.0.2.1"],
            "recordTTL": 60,
            "labels": {"owner": "me", "resource": "httproute/shop/cart"},
            "providerSpecific": [{"name": "aws/weight", "value": "10"}],
        }
        assert await here.ready() == ("Unknown", "Accepted", "", 1)


async def test_how_the_provider_took_a_record_is_its_ready_condition() -> None:
    async with place() as here:
        await here.store.claim([entry()])
        await here.store.settle({entry().key: ""})
        assert await here.ready() == ("True", "Programmed", "", 1)
        await here.store.claim([entry(target="192.0.2.2", id_=APP)])
        assert await here.ready() == ("Unknown", "Accepted", "", 2)
        await here.store.settle({entry().key: "quota exceeded"})
        assert await here.ready() == ("False", "Failed", "quota exceeded", 2)


async def test_conditions_of_others_are_kept() -> None:
    async with place() as here:
        body = record("app", "me", reason="Programmed")
        body["status"]["conditions"][0]["type"] = "Audited"
        await here.put(body)
        await here.store.claim([entry(id_=APP)])
        await here.store.settle({entry().key: ""})
        types = [condition["type"] for condition in (await here.records())[APP]["status"]["conditions"]]
        assert sorted(types) == ["Audited", "Ready"]


async def test_objects_of_all_owners_are_read() -> None:
    async with place() as here:
        await here.put(record("app", "me", reason="Programmed", resource="httproute/shop/cart"))
        await here.put(record("b", "them"))
        found = {one.record.dns_name: one for one in await here.store.read()}
        assert {name: one.owner for name, one in found.items()} == {"app.example.com": "me", "b.example.com": "them"}
        assert (found["app.example.com"].id, found["app.example.com"].due) == (APP, "")
        assert found["app.example.com"].record.labels == {"owner": "me", "resource": "httproute/shop/cart"}


async def test_a_list_of_several_pages_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatepost.registries.dnsrecords._PAGE_SIZE", "2")
    async with place() as here:
        for name in "abcde":
            await here.put(record(name, "me"))
        assert len(await here.store.read()) == 5


async def test_an_object_that_cannot_be_read_stops_no_other(caplog: pytest.LogCaptureFixture) -> None:
    loose = _read(DEFINITION)
    spec = loose["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["endpoint"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    async with place(None) as here:
        await here.client.write("POST", DEFINITIONS, {}, loose)
        odd = record("odd", "me")
        odd["spec"]["endpoint"]["targets"] = "192.0.2.1"
        await here.put(odd)
        await here.put(record("app", "me"))
        assert [one.id for one in await here.store.read()] == [APP]
        assert "a DNSRecord cannot be read" in caplog.messages
        (result,) = await here.store.claim([entry("odd", owner="them")])
        assert result.error.endswith("belongs to me")


@pytest.mark.parametrize("id_", ["", object_name(EndpointKey("b.example.com", "A"))], ids=["unseen", "seen as ours"])
async def test_a_claim_on_what_another_owner_has_fails_alone(id_: str) -> None:
    async with place() as here:
        await here.put(record("b", "them"))
        results = await here.store.claim([entry("a"), entry("b", id_=id_), entry("c")])
        assert [bool(result.error) for result in results] == [False, True, False]
        assert results[1].error.endswith("belongs to them")
        found = {one.record.dns_name: one.owner for one in await here.store.read()}
        assert found == {"a.example.com": "me", "b.example.com": "them", "c.example.com": "me"}


async def test_a_claim_made_before_is_used() -> None:
    async with place() as here:
        await here.store.claim([entry()])
        (again,) = await here.store.claim([entry(target="192.0.2.2")])  # its answer was lost, say
        assert (again.error, again.is_new) == ("", False)
        assert (await here.records())[APP]["spec"]["endpoint"]["targets"] == ["192.0.2.2"]


async def test_an_object_that_is_gone_since_it_was_read_is_made_anew() -> None:
    async with place() as here:
        (result,) = await here.store.claim([entry(id_=APP)])
        assert (result.error, result.is_new) == ("", True)


async def test_a_claim_that_changes_nothing_writes_nothing() -> None:
    async with place() as here:
        await here.store.claim([entry()])
        await here.store.settle({entry().key: ""})
        before = await here.records()
        await here.store.claim([entry(id_=APP)])
        await here.store.settle({entry().key: ""})
        assert await here.records() == before


async def test_a_release_deletes_our_objects_alone() -> None:
    async with place() as here:
        await here.put(record("app", "me"))
        await here.put(record("b", "them"))
        results = await here.store.release([entry(), entry("b"), entry("nowhere")])
        assert [bool(result.error) for result in results] == [False, True, False]
        assert [one["spec"]["endpoint"]["dnsName"] for one in (await here.records()).values()] == ["b.example.com"]


async def test_of_two_owners_who_claim_at_once_one_gets_it() -> None:
    async with place() as here:
        claims = [entry(owner="east"), entry(owner="west")]
        results = [result for claim in claims for result in await here.store.claim([claim])]
        both = await asyncio.gather(*(here.store.claim([entry("b", owner=owner)]) for owner in ("east", "west")))
        assert [bool(result.error) for result in results] == [False, True]
        assert sorted(bool(result.error) for (result,) in both) == [False, True]


async def test_a_cluster_without_the_kind_is_told() -> None:
    async with place(None) as here:
        with pytest.raises(RegistryError, match="needs the kind DNSRecord"):
            await here.store.read()


# A whole run


async def test_a_record_is_claimed_published_and_released() -> None:
    async with place() as here:
        await here.ask_for("app", "192.0.2.1")
        assert await here.run_once() == []
        assert await here.addresses() == {"app.example.com": ("192.0.2.1",)}
        assert await here.ready() == ("True", "Programmed", "", 1)
        endpoint = (await here.records())[APP]["spec"]["endpoint"]
        assert endpoint["labels"] == {"owner": "me", "resource": "crd/dns-system/app"}
        await here.client.write("DELETE", f"{ENDPOINTS}/app", {}, {})
        assert await here.run_once() == []
        assert (await here.addresses(), await here.records()) == ({}, {})


@pytest.mark.skipif(not PUBLISHED.is_file(), reason="the published definition is not at hand: see published_crds.py")
async def test_the_published_definition_takes_what_is_written() -> None:
    async with place(PUBLISHED) as here:
        await here.ask_for("app", "192.0.2.1")
        assert await here.run_once() == []
        assert await here.ready() == ("True", "Programmed", "", 1)


async def test_a_second_run_writes_nothing() -> None:
    async with place() as here:
        await here.ask_for("app", "192.0.2.1")
        await here.run_once()
        before, version = await here.records(), here.provider.version
        await here.run_once()
        assert (await here.records(), here.provider.version) == (before, version)


async def test_a_dry_run_claims_nothing() -> None:
    async with place() as here:
        await here.ask_for("app", "192.0.2.1")
        await here.run_once(dry_run=True)
        assert (await here.addresses(), await here.records()) == ({}, {})


async def test_records_of_external_dns_are_taken_over_with_no_change() -> None:
    async with place() as here:
        await here.put(record("app", "me", reason="Programmed", resource="crd/dns-system/app"))
        await here.provider.apply(_creates("app", "192.0.2.1"))
        await here.ask_for("app", "192.0.2.1")
        before, version = await here.records(), here.provider.version
        assert await here.run_once() == []
        assert (await here.records(), here.provider.version) == (before, version)


async def test_a_record_changed_by_hand_is_repaired() -> None:
    async with place() as here:
        await here.put(record("app", "me", reason="Programmed", resource="crd/dns-system/app"))
        await here.provider.apply(_creates("app", "203.0.113.9"))
        await here.ask_for("app", "192.0.2.1")
        await here.run_once()
        assert await here.addresses() == {"app.example.com": ("192.0.2.1",)}
        assert (await here.ready())[:2] == ("True", "Programmed")


async def test_a_condition_that_was_lost_is_written_by_the_next_run() -> None:
    async with place() as here:
        await here.put(record("app", "me", reason="Accepted", resource="crd/dns-system/app"))
        await here.provider.apply(_creates("app", "192.0.2.1"))
        await here.ask_for("app", "192.0.2.1")
        version = here.provider.version
        assert await here.run_once() == []
        assert (await here.ready())[:2] == ("True", "Programmed")
        assert here.provider.version == version


async def test_a_record_that_another_owner_has_claimed_is_not_created_and_its_object_is_told() -> None:
    async with place() as here:
        await here.put(record("app", "them"))
        await here.ask_for("app", "192.0.2.1")
        await here.run_once()
        assert await here.addresses() == {}
        assert (await here.records())[APP]["metadata"]["labels"] == {"externaldns.k8s.io/owner": "them"}
        events = json.loads(await here.client.read("/api/v1/namespaces/dns-system/events"))["items"]
        (told,) = [event for event in events if event["reason"] == "ForeignOwnership"]
        assert "them" in told["message"]


async def test_another_namespace_may_hold_the_records() -> None:
    async with place() as here:
        await here.ask_for("app", "192.0.2.1")
        await here.run_once(namespace="elsewhere")
        assert await here.records() == {}
        found = json.loads(await here.client.read(f"{GROUP}/elsewhere/dnsrecords"))["items"]
        assert [one["metadata"]["name"] for one in found] == [APP]


def _creates(name: str, target: str) -> Changes:
    return Changes(create=(Endpoint(f"{name}.example.com", "A", (target,), 60),))
