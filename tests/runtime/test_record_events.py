"""What the objects behind a record are told of it."""

from __future__ import annotations

from publishing_cluster import Provider, gateway, namespace, publishing, route

from gatepost.dns.endpoint import EndpointKey
from gatepost.objects.gatewayapi import HTTPRoute

A, B = HTTPRoute.KIND.ref("shop", "a"), HTTPRoute.KIND.ref("shop", "b")
ALL = ("RecordReady", "RecordDeleted", "RecordError")


async def test_a_record_that_comes_changes_and_goes_is_told_on_its_object() -> None:
    async with publishing(events_emit=ALL) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await cluster.rest()
        cluster.put(gateway("192.0.2.9"))
        await cluster.rest()
        cluster.loop.intake.remove(A)
        await cluster.rest()
        assert [(event.type, event.reason, event.message) for event in cluster.events] == [
            ("Normal", "RecordReady", "record:a.example.com,type:A,targets:192.0.2.1,owner:me"),
            ("Normal", "RecordReady", "record:a.example.com,type:A,targets:192.0.2.9,owner:me"),
            ("Normal", "RecordDeleted", "record:a.example.com,type:A,targets:192.0.2.9,owner:me"),
        ]
        assert [event.about.ref for event in cluster.events] == [A, A, A]
        assert [event.about.uid for event in cluster.events] == ["r-a", "r-a", ""]  # it is gone by then
        assert {event.about.api_version for event in cluster.events} == {"gateway.networking.k8s.io/v1"}


async def test_every_object_that_a_record_comes_from_is_told() -> None:
    async with publishing(events_emit=("RecordReady",)) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "app.example.com"), route("b", "app.example.com"))
        cluster.complete()
        await cluster.rest()
        assert {event.about.ref for event in cluster.events} == {A, B}


async def test_without_the_flag_only_what_went_wrong_is_told() -> None:
    provider = Provider()
    async with publishing(provider) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await cluster.rest()
        provider.refused = {EndpointKey("b.example.com", "A")}
        cluster.put(route("b", "b.example.com"))
        await cluster.rest()
        assert cluster.events == []
        (problem,) = cluster.told
        assert (problem.reason, problem.about) == ("RecordError", B)
        assert problem.message == (
            "the DNS provider refused to create record:b.example.com,type:A,targets:192.0.2.1,owner:me: quota exceeded"
        )


async def test_a_refused_record_is_not_told_to_be_ready() -> None:
    provider = Provider()
    provider.refused = {EndpointKey("b.example.com", "A")}
    async with publishing(provider, events_emit=ALL) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"), route("b", "b.example.com"))
        cluster.complete()
        await cluster.rest()
        assert [(event.reason, event.about.ref) for event in cluster.events] == [("RecordReady", A)]


async def test_a_dry_run_tells_nothing_of_records() -> None:
    async with publishing(dry_run=True, events_emit=ALL) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await cluster.rest()
        assert cluster.events == []


async def test_taking_over_a_record_without_changing_it_is_no_news() -> None:
    provider = Provider()
    for owner, former in (("old", ""), ("me", "old")):
        emitted = ALL if former else ()
        async with publishing(
            provider, txt_owner_id=owner, migrate_from_txt_owner=former, events_emit=emitted
        ) as cluster:
            cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
            cluster.complete()
            await cluster.rest()
            assert cluster.events == []
    assert "owner=me" in (await provider.texts())["a-a.example.com"]
