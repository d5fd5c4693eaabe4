"""Whole runs with the registry dynamodb: what external-dns left is taken over, in both directions, and kept right."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from dynamodb_table import Table, dynamodb, item
from written_endpoints import GROUP, dns_endpoint

from gatepost.cluster.client import Client
from gatepost.cluster.connection import Connection, Server
from gatepost.dns.capabilities import Capabilities
from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.settings import DnsSettings
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.runtime.process import RunSettings, run_on
from gatepost.standalone.apiserver.server import ApiServer

ENDPOINTS = f"{GROUP}/shop/dnsendpoints"
EVENTS = "/api/v1/namespaces/shop/events"
OURS = item("app.example.com#A#", "me", resource="crd/shop/app")
TXT = Endpoint(
    "a-app.example.com",
    "TXT",
    ('"heritage=external-dns,external-dns/owner=me,external-dns/resource=crd/shop/app"',),
    60,
)


def a(target: str = "192.0.2.1", name: str = "app") -> Endpoint:
    return Endpoint(f"{name}.example.com", "A", (target,), 60)


class Place:
    """A cluster, a zone and a table."""

    def __init__(self, server: ApiServer, client: Client, table: Table) -> None:
        self.connection = Connection(Server(server.url))
        self.client = client
        self.table = table
        self.provider = EmbeddedProvider(["example.com"])

    async def ask_for(self, name: str, target: str = "192.0.2.1") -> None:
        await self.client.write("POST", ENDPOINTS, {}, dns_endpoint(name, "shop", target))

    async def let_go_of(self, name: str) -> None:
        await self.client.write("DELETE", f"{ENDPOINTS}/{name}", {}, {})

    async def run_once(self, *, dry_run: bool = False, **more: Any) -> list[str]:
        dns = DnsSettings(**{"sources": ("crd",), "registry": "dynamodb", "txt_owner_id": "me", **more})
        settings = RunSettings(dns=dns, once=True, dry_run=dry_run)
        return await run_on(self.connection, settings, asyncio.Event(), self.provider)

    async def records(self) -> list[tuple[str, str, tuple[str, ...]]]:
        return [(one.dns_name, one.record_type, one.targets) for one in await self.provider.records()]


@asynccontextmanager
async def place(monkeypatch: pytest.MonkeyPatch, *records: Endpoint) -> AsyncIterator[Place]:
    """A place whose zone holds these records."""
    with dynamodb(monkeypatch) as table:
        async with ApiServer() as server, Client(Connection(Server(server.url))) as client:
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
            await client.write("POST", "/api/v1/namespaces", {}, namespace)
            here = Place(server, client, table)
            await here.provider.apply(Changes(create=records))
            yield here


async def test_a_record_is_claimed_published_and_released(monkeypatch: pytest.MonkeyPatch) -> None:
    async with place(monkeypatch) as here:
        await here.ask_for("app")
        assert await here.run_once() == []
        assert await here.records() == [("app.example.com", "A", ("192.0.2.1",))]
        assert here.table.items() == [OURS]
        await here.let_go_of("app")
        assert await here.run_once() == []
        assert (await here.records(), here.table.items()) == ([], [])


async def test_what_external_dns_wrote_is_taken_over_with_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    async with place(monkeypatch, a()) as here:
        here.table.put(OURS)
        await here.ask_for("app")
        version = here.provider.version
        assert await here.run_once() == []
        assert (here.table.items(), here.table.batches, here.provider.version) == ([OURS], [], version)


async def test_a_dry_run_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with place(monkeypatch, a("192.0.2.9")) as here:
        here.table.put(OURS)
        await here.ask_for("app")
        await here.ask_for("new")
        await here.run_once(dry_run=True)
        assert await here.records() == [("app.example.com", "A", ("192.0.2.9",))]
        assert (here.table.items(), here.table.batches) == ([OURS], [])


async def test_ownership_in_txt_records_is_written_into_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    async with place(monkeypatch, a(), TXT) as here:
        await here.ask_for("app")
        before, version = await here.records(), here.provider.version
        assert await here.run_once() == []
        assert here.table.items() == [OURS]
        assert (await here.records(), here.provider.version) == (before, version)


async def test_txt_records_of_ownership_go_where_txt_is_ours_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    types = ("A", "AAAA", "CNAME", "TXT")
    async with place(monkeypatch, a(), TXT, Endpoint("spf.example.com", "TXT", ('"v=spf1 -all"',), 60)) as here:
        await here.ask_for("app")
        assert await here.run_once(managed_record_types=types) == []
        assert here.table.items() == [OURS]
        assert [(name, type_) for name, type_, _ in await here.records()] == [
            ("app.example.com", "A"),
            ("spf.example.com", "TXT"),
        ]


async def test_ownership_of_records_that_stay_in_txt_records_of_another_owner_is_not_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theirs = Endpoint(TXT.dns_name, "TXT", (TXT.targets[0].replace("owner=me", "owner=them"),), 60)
    async with place(monkeypatch, a("192.0.2.9"), theirs) as here:
        await here.ask_for("app")
        before = await here.records()
        await here.run_once()
        assert (await here.records(), here.table.items()) == (before, [])


async def test_an_item_of_another_owner_keeps_its_name_and_the_object_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async with place(monkeypatch) as here:
        theirs = item("app.example.com#A#", "them")
        here.table.put(theirs)
        await here.ask_for("app")
        await here.ask_for("b")
        await here.run_once()
        assert [name for name, _, _ in await here.records()] == ["b.example.com"]
        assert here.table.get("app.example.com#A#") == theirs
        events = json.loads(await here.client.read(EVENTS))["items"]
        told = [event for event in events if event["reason"] == "ForeignOwnership"]
        assert [event["involvedObject"]["name"] for event in told] == ["app"]
        assert "them" in told[0]["message"]


async def test_a_throttled_claim_is_tried_again_by_the_next_run(monkeypatch: pytest.MonkeyPatch) -> None:
    async with place(monkeypatch) as here:
        await here.ask_for("app")
        await here.ask_for("b")
        here.table.fault = lambda number: "ThrottlingError" if number == 0 else None
        await here.run_once()
        assert [name for name, _, _ in await here.records()] == ["b.example.com"]
        here.table.fault = lambda number: None
        assert await here.run_once() == []
        assert [name for name, _, _ in await here.records()] == ["app.example.com", "b.example.com"]


async def test_left_over_items_of_ours_are_swept_where_their_zone_was_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with place(monkeypatch) as here:
        elsewhere, theirs = item("app.example.org#A#", "me"), item("b.example.com#A#", "them")
        here.table.put(OURS, elsewhere, theirs)
        assert await here.run_once() == []
        assert here.table.items() == [elsewhere, theirs]


@pytest.mark.parametrize(
    "capabilities", [Capabilities(lists_records=False), Capabilities(types=frozenset({"CNAME", "TXT"}))]
)
async def test_an_item_stays_where_its_record_is_not_listed_though_it_may_be_there(
    monkeypatch: pytest.MonkeyPatch, capabilities: Capabilities
) -> None:
    async with place(monkeypatch) as here:
        monkeypatch.setattr(EmbeddedProvider, "capabilities", capabilities, raising=False)
        here.table.put(OURS)
        assert await here.run_once() == []
        assert here.table.items() == [OURS]


async def test_left_over_items_stay_under_a_policy_that_deletes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with place(monkeypatch) as here:
        here.table.put(OURS)
        assert await here.run_once(policy="upsert-only") == []
        assert here.table.items() == [OURS]


async def test_a_table_that_cannot_be_read_stops_dns_and_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with place(monkeypatch) as here:
        here.table.client.delete_table(TableName="external-dns")
        await here.ask_for("app")
        assert await here.run_once() != []
        assert await here.records() == []
        said = [str(getattr(record, "fields", {}).get("error", "")) for record in caplog.records]
        assert any("table external-dns: ResourceNotFoundException" in text for text in said)
