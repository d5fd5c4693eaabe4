"""Whose records are whose: taking over from a former owner, and living without a registry."""

from __future__ import annotations

import logging

import pytest

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.objects.gatewayapi import HTTPRoute
from publishing_cluster import Provider, gateway, namespace, publishing, route

BY_HAND = Endpoint("hand.example.com", "A", ("203.0.113.1",))


def text(owner: str, route_name: str) -> str:
    return f'"heritage=external-dns,external-dns/owner={owner},external-dns/resource=httproute/shop/{route_name}"'


async def published_by(owner: str, provider: Provider) -> None:
    async with publishing(provider, txt_owner_id=owner) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"), route("b", "b.example.com"))
        cluster.complete()
        await cluster.rest()


async def test_a_migration_takes_over_what_is_asked_for_here_and_nothing_else_and_then_is_over(
    caplog: pytest.LogCaptureFixture,
) -> None:
    provider = Provider()
    await published_by("old", provider)
    caplog.set_level(logging.INFO, "gatepost.dns")
    for _ in range(2):  # the second time there is nothing left to do
        async with publishing(provider, txt_owner_id="me", migrate_from_txt_owner="old") as cluster:
            cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))  # b may be in another cluster
            cluster.complete()
            assert set(await cluster.rest()) == {"a.example.com", "b.example.com"}
    assert await provider.texts() == {"a-a.example.com": text("me", "a"), "a-b.example.com": text("old", "b")}
    assert len(provider.batches) == 2
    taken_over = provider.batches[1]
    assert [record.targets for record in taken_over.update_old] == [(text("old", "a"),)]
    assert [record.record_type for record in taken_over.update_new] == ["TXT"]  # the record itself is not touched
    assert "records of the former owner are left" in [record.message for record in caplog.records]


async def test_the_end_of_a_migration_is_told(caplog: pytest.LogCaptureFixture) -> None:
    provider = Provider()
    await published_by("old", provider)
    caplog.set_level(logging.INFO, "gatepost.dns")
    async with publishing(provider, txt_owner_id="me", migrate_from_txt_owner="old") as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"), route("b", "b.example.com"))
        cluster.complete()
        await cluster.rest()
    assert "all records of the former owner are taken over" in [record.message for record in caplog.records]


async def test_without_a_registry_what_no_object_here_asked_for_stays() -> None:
    provider = Provider()
    await provider.apply(Changes(create=(BY_HAND,)))
    async with publishing(provider, registry="noop") as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        assert set(await cluster.rest()) == {"a.example.com", "hand.example.com"}
        assert await provider.texts() == {}


async def test_without_a_registry_a_record_goes_with_its_object() -> None:
    provider = Provider()
    for _ in range(2):  # created in the first process, found in the second
        async with publishing(provider, registry="noop") as cluster:
            cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"), route("b", "b.example.com"))
            cluster.complete()
            assert set(await cluster.rest()) == {"a.example.com", "b.example.com"}
    async with publishing(provider, registry="noop", interval_seconds=0.02) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"), route("b", "b.example.com"))
        cluster.complete()
        await cluster.rest()
        cluster.loop.intake.remove(HTTPRoute.KIND.ref("shop", "b"))

        async def is_gone() -> bool:
            return set(await provider.addresses()) == {"a.example.com"}

        await cluster.until(is_gone)


async def test_without_a_registry_what_no_object_here_asked_for_goes_if_that_is_allowed() -> None:
    provider = Provider()
    await provider.apply(Changes(create=(BY_HAND,)))
    async with publishing(provider, registry="noop", allow=True) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        assert set(await cluster.rest()) == {"a.example.com"}
