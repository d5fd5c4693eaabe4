"""From wishes to zones by the providers that rest on libraries, with ownership: what was made once is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from cloudflare_server import TOKEN, serving
from msgspec.structs import replace
from publishing import listed, owned_by, wanted

from gatepost.dns.endpoint import Property
from gatepost.dns.records import RecordSet
from gatepost.providers.cloudflare.provider import CloudflareProvider
from gatepost.providers.cloudflare.settings import CloudflareSettings
from gatepost.providers.contract import GuardingProvider
from gatepost.providers.octodns.provider import OctodnsProvider
from gatepost.providers.octodns.settings import OctodnsSettings

OWNER = owned_by("ours")
TTL, PLAIN, NAMED = (
    wanted("app.example.com", "192.0.2.1", "192.0.2.2", ttl=120),
    wanted("*.wild.example.com", "2001:db8::1", type_="AAAA"),
    wanted("www.example.com", "gw.example.org", type_="CNAME"),
)


def with_properties(record_set: RecordSet, **properties: str) -> RecordSet:
    prefix = "external-dns.alpha.kubernetes.io/cloudflare-"
    named = tuple(Property(prefix + name.replace("_", "-"), value) for name, value in sorted(properties.items()))
    return replace(record_set, records=tuple(replace(record, properties=named) for record in record_set.records))


async def publish_change_and_withdraw(provider: GuardingProvider, *wishes: RecordSet) -> None:
    """Publishes wishes, finds nothing left to do, changes the first one's target, and takes all of them back."""
    first = await listed(provider, OWNER)
    before = await provider.records()
    assert [result.error for result in await first.publish(*wishes)] == [""] * 2 * len(wishes)
    again = await listed(provider, OWNER)
    assert again.plan(*wishes).allowed == ()

    changed = replace(wishes[0], records=(replace(wishes[0].records[0], targets=("192.0.2.77",)),))
    assert {result.error for result in await again.publish(changed, *wishes[1:])} == {""}
    assert ("192.0.2.77",) in [record.targets for record in await provider.records()]
    later = await listed(provider, OWNER)
    assert later.plan(changed, *wishes[1:]).allowed == ()
    assert {result.error for result in await later.publish()} == {""}
    assert await provider.records() == before


async def test_cloudflare_keeps_what_was_published_and_gives_it_back() -> None:
    pytest.importorskip("cloudflare", reason="the extra `cloudflare` is not installed")
    async with serving("example.com") as server:
        server.put("example.com", name="manual.example.com", type="A", content="192.0.2.99", comment="by hand")
        provider = CloudflareProvider(CloudflareSettings(cloudflare_url=server.url, cloudflare_api_token=TOKEN))
        proxied = with_properties(NAMED, proxied="true", record_comment="shop", tags="b:2,a:1")
        await publish_change_and_withdraw(provider, TTL, PLAIN, proxied)
        assert [row["name"] for row in server.held("example.com")] == ["manual.example.com"]


async def test_a_target_of_octodns_keeps_what_was_published_and_gives_it_back(tmp_path: Path) -> None:
    pytest.importorskip("octodns", reason="the extra `octodns` is not installed")
    zones = tmp_path / "zones"
    zones.mkdir()
    (zones / "example.com.yaml").write_text("manual: {type: A, value: 192.0.2.99}\n")
    config = tmp_path / "octodns.yaml"
    kind = "octodns.provider.yaml.YamlProvider"
    config.write_text(
        f"zones: {{}}\nproviders: {{files: {{class: {kind}, directory: {zones}, escaped_semicolons: true}}}}\n"
    )
    provider = OctodnsProvider(OctodnsSettings(octodns_config=str(config), octodns_provider="files"))
    await publish_change_and_withdraw(provider, TTL, PLAIN, NAMED)
