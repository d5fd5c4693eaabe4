"""What the objects behind a record are told of it."""

from __future__ import annotations

from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey
from gatepost.objects.gatewayapi import HTTPRoute
from publishing_cluster import Provider, gateway, namespace, publishing, route

A, B = HTTPRoute.KIND.ref("shop", "a"), HTTPRoute.KIND.ref("shop", "b")
ALL = ("RecordReady", "RecordDeleted", "RecordError")
RECORD = "record:a.example.com,owner:me,type:A,ttl:0,targets:"


async def test_a_record_that_comes_changes_and_goes_is_told_on_its_object() -> None:
    async with publishing(events_emit=ALL) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com"))
        cluster.complete()
        await cluster.rest()
        cluster.put(gateway("192.0.2.9"))
        await cluster.rest()
        cluster.loop.intake.remove(A)
        await cluster.rest()
        assert [(event.type, event.reason, event.action, event.message) for event in cluster.events] == [
            ("Normal", "RecordReady", "Created", f"(gatepost) {RECORD}192.0.2.1"),
            ("Normal", "RecordReady", "Updated", f"(gatepost) {RECORD}192.0.2.9"),
            ("Normal", "RecordDeleted", "Deleted", f"(gatepost) {RECORD}192.0.2.9"),
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
            "the DNS provider refused to create record:b.example.com,owner:me,type:A,ttl:0,targets:192.0.2.1: "
            "quota exceeded"
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


async def test_a_record_says_its_ttl_and_its_set() -> None:
    annotations = {
        "external-dns.kubernetes.io/ttl": "5m",
        "external-dns.kubernetes.io/set-identifier": "blue",
    }
    async with publishing(events_emit=ALL) as cluster:
        cluster.put(namespace("shop"), gateway(), route("a", "a.example.com", annotations=annotations))
        cluster.complete()
        await cluster.rest()
        (event,) = cluster.events
        assert event.message == (
            "(gatepost) record:a.example.com,owner:me,type:A,ttl:300,set-identifier:blue,targets:192.0.2.1"
        )


async def test_who_loses_a_name_and_who_may_not_have_it_are_told() -> None:
    provider = Provider()
    theirs = Endpoint("theirs.example.com", "A", ("203.0.113.1",))
    await provider.apply(Changes(create=(theirs,)))
    async with publishing(provider, events_emit=ALL) as cluster:
        cluster.put(namespace("shop"), gateway(), gateway("192.0.2.2", "other"))
        cluster.put(route("a", "a.example.com"), route("b", "a.example.com", "theirs.example.com", parent_name="other"))
        cluster.complete()
        await cluster.rest()
        assert {(problem.reason, problem.about) for problem in cluster.told} == {
            ("DNSConflict", B),
            ("ForeignRecord", B),
        }
        assert [(event.reason, event.about.ref) for event in cluster.events] == [("RecordReady", A)]
