"""A whole run against a webhook provider that was written without gatepost: from DNSEndpoints to its records."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from scripted_webhook import NEGOTIATED
from strict_webhook import StrictWebhook, strict_webhook

from gatepost.cluster.client import MERGE_PATCH, Client
from gatepost.cluster.connection import Connection, Server
from gatepost.dns.settings import DnsSettings
from gatepost.providers.contract import ProviderError
from gatepost.providers.webhook.client import WebhookProvider
from gatepost.providers.webhook.settings import WebhookSettings
from gatepost.runtime.process import RunSettings, run_on
from gatepost.standalone.apiserver.server import ApiServer

ENDPOINTS = "/apis/externaldns.k8s.io/v1alpha1/namespaces/default/dnsendpoints"


@pytest.fixture
def peer() -> Iterator[StrictWebhook]:
    with strict_webhook() as server:
        yield server


@pytest.fixture
async def api() -> AsyncIterator[ApiServer]:
    async with ApiServer() as server:
        yield server


async def write_down(api: ApiServer, name: str, target: str) -> None:
    record = {"dnsName": f"{name}.example.com", "recordType": "A", "targets": [target]}
    body = {
        "apiVersion": "externaldns.k8s.io/v1alpha1",
        "kind": "DNSEndpoint",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"endpoints": [record]},
    }
    await api.apply(body, "test")


async def run_once(api: ApiServer, peer: StrictWebhook, **settings: Any) -> list[str]:
    dns = DnsSettings(sources=("crd",), txt_owner_id="me")
    provider = WebhookProvider(WebhookSettings(webhook_provider_url=peer.url))
    wanted = RunSettings(dns=dns, once=True, **settings)
    return await run_on(Connection(Server(api.url)), wanted, asyncio.Event(), provider)


def text(name: str) -> list[str]:
    return [f'"heritage=external-dns,external-dns/owner=me,external-dns/resource=crd/default/{name}"']


async def test_records_are_created_changed_and_deleted_and_then_nothing_is_left_to_do(
    api: ApiServer, peer: StrictWebhook
) -> None:
    await write_down(api, "app", "192.0.2.1")
    await write_down(api, "www", "192.0.2.2")
    assert await run_once(api, peer) == []
    assert peer.targets() == {
        ("app.example.com", "A"): ["192.0.2.1"],
        ("a-app.example.com", "TXT"): text("app"),
        ("www.example.com", "A"): ["192.0.2.2"],
        ("a-www.example.com", "TXT"): text("www"),
    }
    async with Client(Connection(Server(api.url))) as client:
        record = {"dnsName": "app.example.com", "recordType": "A", "targets": ["192.0.2.9"]}
        change = {"spec": {"endpoints": [record]}}
        await client.write("PATCH", f"{ENDPOINTS}/app", {"fieldManager": "somebody"}, change, MERGE_PATCH)
        await client.write("DELETE", f"{ENDPOINTS}/www", {}, {})
    assert await run_once(api, peer) == []
    assert peer.targets() == {
        ("app.example.com", "A"): ["192.0.2.9"],
        ("a-app.example.com", "TXT"): text("app"),
    }
    peer.requests.clear()
    assert await run_once(api, peer) == []
    # The TTL that the provider gives of itself is in what it adjusted, so it is no difference.
    assert peer.requests == ["GET /", "GET /records", "POST /adjustendpoints"]


async def test_a_dry_run_asks_and_sends_no_change(api: ApiServer, peer: StrictWebhook) -> None:
    await write_down(api, "app", "192.0.2.1")
    assert await run_once(api, peer, dry_run=True) == []
    assert peer.held == {}
    assert peer.requests == ["GET /", "GET /records", "POST /adjustendpoints"]


async def test_a_change_that_the_provider_refuses_is_told_and_the_others_are_made(
    api: ApiServer, peer: StrictWebhook
) -> None:
    await write_down(api, "app", "192.0.2.1")
    await write_down(api, "www", "192.0.2.2")
    takes = peer.take

    def refuse_app(changes: dict[str, Any]) -> None:
        if any(record["dnsName"] == "app.example.com" for record in changes.get("create", ())):
            raise ValueError("app.example.com: quota exceeded")
        takes(changes)

    peer.take = refuse_app  # type: ignore[method-assign]
    assert await run_once(api, peer) == ["DNS could not be written"]
    assert set(peer.targets()) == {("www.example.com", "A"), ("a-www.example.com", "TXT")}
    async with Client(Connection(Server(api.url))) as client:
        events = json.loads(await client.read("/api/v1/namespaces/default/events"))["items"]
    assert [(event["type"], event["reason"], event["involvedObject"]["name"]) for event in events] == [
        ("Warning", "RecordError", "app")
    ]
    assert "quota exceeded" in events[0]["message"]


async def test_a_provider_that_does_not_answer_is_given_up_after_both_timeouts_together() -> None:
    hung_up = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET / "):
            writer.write(NEGOTIATED)
        else:
            await reader.read()  # until the other side hangs up
            hung_up.set()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        settings = WebhookSettings(
            webhook_provider_url=url, webhook_provider_read_timeout=1, webhook_provider_write_timeout=0
        )
        provider = WebhookProvider(settings)
        with pytest.raises(ProviderError, match=r"GET .*/records: no whole answer within 1 s"):
            await provider.records()
        await hung_up.wait()
