"""A provider in another process adjusts what is wanted, and tells which names it serves, before anything is planned."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest
from faulty_zone import Cluster, Instance, Zone
from msgspec import structs

from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.records import Claimant, Record, RecordSet
from gatepost.objects.refs import Ref
from gatepost.providers.contract import ProviderError, RecordResult
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.providers.webhook.client import WebhookProvider
from gatepost.providers.webhook.server import WebhookServer
from gatepost.providers.webhook.settings import WebhookSettings
from gatepost.runtime.dns.adjusting import adjuster
from gatepost.runtime.dns.reading import read_provider
from gatepost.runtime.listening import listening

OWNER = Claimant("2026", Ref("gateway.networking.k8s.io", "HTTPRoute", "shop", "cart"))


class Raising(EmbeddedProvider):
    """Zones whose provider knows no TTL under 300 and keeps `drop.example.com` out."""

    def __init__(self) -> None:
        super().__init__(["example.com"])
        self.batches: list[Changes] = []

    def adjust(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        kept = [endpoint for endpoint in endpoints if endpoint.dns_name != "drop.example.com"]
        return [structs.replace(endpoint, record_ttl=max(300, endpoint.record_ttl)) for endpoint in kept]

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        self.batches.append(changes)
        return await super().apply(changes)


@pytest.fixture
def behind() -> Raising:
    return Raising()


@pytest.fixture
async def remote(behind: Raising) -> AsyncIterator[WebhookProvider]:
    """That provider, behind a webhook."""
    async with listening(WebhookServer(behind).app(), "--listen", "127.0.0.1", 0) as port:
        yield WebhookProvider(WebhookSettings(webhook_provider_url=f"http://127.0.0.1:{port}"))


def record_set(name: str, target: str = "192.0.2.1") -> RecordSet:
    return RecordSet(name, "", (Record("A", (target,)),), (OWNER,))


async def test_endpoints_come_back_by_name_as_the_other_side_adjusted_them(remote: WebhookProvider) -> None:
    wanted = [record_set("a.example.com"), record_set("b.example.com", "192.0.2.2"), record_set("drop.example.com")]
    adjust = await adjuster(remote, wanted)
    assert [(e.dns_name, e.targets, e.record_ttl) for e in adjust(wanted[1].endpoints)] == [
        ("b.example.com", ("192.0.2.2",), 300)
    ]
    assert adjust(wanted[2].endpoints) == []
    assert adjust(()) == []


async def test_a_provider_in_this_process_is_asked_name_by_name(behind: Raising) -> None:
    assert await adjuster(behind, []) == behind.adjust


async def test_the_names_that_are_served_come_from_the_other_side_or_from_the_zones(
    remote: WebhookProvider, behind: Raising
) -> None:
    of_the_other_side, of_the_zones = (await read_provider(remote)).served, (await read_provider(behind)).served
    assert of_the_other_side.domains == DomainFilter(include=("example.com",))
    for served in (of_the_other_side, of_the_zones):
        assert served.zones == frozenset({"example.com"})
        assert [name for name in ("a.example.com", "a.badexample.com", "com") if served.serves(name)] == [
            "a.example.com"
        ]


async def test_what_the_other_side_adjusts_is_written_once_and_not_again(
    remote: WebhookProvider, behind: Raising
) -> None:
    cluster, zone = Cluster("192.0.2.1"), Zone()
    cluster.routes["app"] = ("app.example.com", "drop.example.com", "app.example.org")
    instance = Instance("east", cluster, zone, remote)
    await instance.round()
    await instance.round()
    (batch,) = behind.batches
    assert [(e.dns_name, e.record_type, e.record_ttl) for e in batch.create] == [
        ("a-app.example.com", "TXT", 0),
        ("app.example.com", "A", 300),
    ]


async def test_nothing_is_planned_while_the_other_side_cannot_adjust() -> None:
    remote = WebhookProvider(WebhookSettings(webhook_provider_url="http://127.0.0.1:1"), _do_not_wait)
    with pytest.raises(ProviderError):
        await adjuster(remote, [record_set("a.example.com")])


async def _do_not_wait(seconds: float) -> None:
    return
