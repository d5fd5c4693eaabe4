"""The client against the server: what goes in on one side comes out on the other, whatever it is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gatepost.dns.endpoint import Changes, Endpoint, Property
from gatepost.providers.contract import RecordResult
from gatepost.providers.webhook.client import WebhookProvider
from gatepost.providers.webhook.server import WebhookServer
from gatepost.providers.webhook.settings import WebhookSettings
from gatepost.runtime.listening import listening

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
filled = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
endpoints = st.builds(
    Endpoint,
    dns_name=filled,
    record_type=st.sampled_from(["A", "AAAA", "CNAME", "TXT", "MX"]),
    targets=st.lists(texts, max_size=3).map(tuple),
    record_ttl=st.integers(-(2**63), 2**63 - 1),
    set_identifier=texts,
    labels=st.dictionaries(texts, texts, max_size=2),
    provider_specific=st.lists(st.builds(Property, texts, texts), max_size=2).map(tuple),
)
lists = st.lists(endpoints, max_size=3).map(tuple)
pairs = st.lists(st.tuples(endpoints, endpoints), max_size=2)


class Mirror:
    """A provider that holds what a test gives it, and keeps what it is asked to do."""

    def __init__(self, held: Sequence[Endpoint]) -> None:
        self.held = held
        self.asked = Changes()

    async def zones(self) -> Sequence[str]:
        return ["example.com"]

    async def records(self) -> Sequence[Endpoint]:
        return self.held

    def adjust(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        return endpoints[::-1]

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        self.asked = changes
        return [RecordResult(record.key) for record in (*changes.create, *changes.update_new, *changes.delete)]


@settings(deadline=None, max_examples=40)
@example(held=(), created=(), updated=[], deleted=tuple(Endpoint("a", "A", set_identifier=of) for of in ("b", "", "b")))
@given(held=lists, created=lists, updated=pairs, deleted=lists)
def test_endpoints_and_changes_arrive_as_they_left(
    held: tuple[Endpoint, ...],
    created: tuple[Endpoint, ...],
    updated: list[tuple[Endpoint, Endpoint]],
    deleted: tuple[Endpoint, ...],
) -> None:
    changes = Changes(created, tuple(old for old, _ in updated), tuple(new for _, new in updated), deleted)
    mirror = Mirror(held)

    async def exchange() -> None:
        async with listening(WebhookServer(mirror).app(), "--listen", "127.0.0.1", 0) as port:
            client = WebhookProvider(WebhookSettings(webhook_provider_url=f"http://127.0.0.1:{port}"))
            assert await client.zones() == ["example.com"]
            assert await client.records() == held
            adjusted = await client.adjust_remotely(held)
            assert [endpoint.key for endpoint in adjusted] == [endpoint.key for endpoint in held[::-1]]
            assert all(not result.error for result in await client.apply(changes))

    asyncio.run(exchange())
    assert mirror.asked == changes
