"""An ownership record that an interrupted change left behind can be taken away from every kind of server."""

from __future__ import annotations

import pytest
from dns_servers import needs, running
from publishing import listed, owned_by, provider_of, wanted

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.providers.contract import GuardingProvider


@pytest.mark.parametrize("kind", ["bind", "knot", "pdns"])
async def test_left_over_ownership_is_deleted_and_nothing_else(kind: str) -> None:
    needs(kind)
    with running(kind) as server:
        await check(provider_of(server))


async def check(provider: GuardingProvider) -> None:
    mine = await listed(provider, owned_by("me"))
    assert [result.error for result in await mine.publish(wanted("app.example.com"))] == ["", ""]
    orphan = Endpoint("a-gone.example.com", "TXT", ('"heritage=external-dns,external-dns/owner=me"',))
    foreign = Endpoint("a-other.example.com", "TXT", ('"heritage=external-dns,external-dns/owner=them"',))
    assert not [result for result in await provider.apply(Changes(create=(orphan, foreign))) if result.error]
    before = await listed(provider, owned_by("me"))
    left_over = before.inventory.left_over((), ("A", "AAAA", "CNAME"))
    assert [record.dns_name for record in left_over] == ["a-gone.example.com"]
    assert [result.error for result in await provider.apply(Changes(delete=left_over))] == [""]
    after = await listed(provider, owned_by("me"))
    names = {record.dns_name for record in await provider.records() if record.record_type in ("A", "TXT")}
    assert {"app.example.com", "a-app.example.com", "a-other.example.com"} <= names
    assert "a-gone.example.com" not in names
    assert after.inventory.left_over((), ("A", "AAAA", "CNAME")) == ()
