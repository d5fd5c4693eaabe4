"""Wishes carried out against an API server that refuses, is slow, or was changed by others in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from scripted import RecordingSink, ScriptedCluster, answer, client_of, listing, scripted_cluster, status

from gatepost.cluster.calls import Calls
from gatepost.cluster.discovery import Discovery
from gatepost.cluster.errors import ApiError
from gatepost.cluster.mirror import Mirror
from gatepost.cluster.recorder import EventRecorder
from gatepost.cluster.reflector import Reflector, WatchedKind
from gatepost.cluster.writer import Conflict, Writer
from gatepost.objects.networking import GROUP, KIngress
from gatepost.objects.refs import Ref
from gatepost.writes.outcome import Apply, Delete, Event, Outcome, Subject
from gatepost.writes.requests import event_request

Raw = dict[str, Any]
INGRESSES = f"/apis/{GROUP}/v1alpha1/ingresses"
OBJECTS = f"/apis/{GROUP}/v1alpha1/namespaces/shop/ingresses"
APP = f"{OBJECTS}/app"
EVENTS = "/api/v1/namespaces/shop/events"
REF = Ref(GROUP, "Ingress", "shop", "app")
ABOUT = Subject(REF, f"{GROUP}/v1alpha1", "u-1")
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def ingress(option: str = "Enabled", revision: str = "", **more: Any) -> Raw:
    metadata: Raw = {"name": "app", "namespace": "shop"}
    if revision:
        metadata |= {"uid": "u-1", "resourceVersion": revision, "generation": 1}
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "Ingress",
        "metadata": metadata,
        "spec": {"httpOption": option},
        **more,
    }


class Bench:
    """A writer on a scripted cluster in which KIngresses are watched."""

    def __init__(self, cluster: ScriptedCluster, writer: Writer, mirror: Mirror, sink: RecordingSink) -> None:
        self.cluster = cluster
        self.writer = writer
        self.mirror = mirror
        self.sink = sink

    @property
    def writes(self) -> list[tuple[str, str]]:
        return [(seen.method, seen.path) for seen in self.cluster.seen if seen.method != "GET"]


@asynccontextmanager
async def bench(*objects: Raw, **settings: Any) -> AsyncIterator[Bench]:
    async with scripted_cluster() as cluster, client_of(cluster, **settings) as client:
        cluster.kind(GROUP, "v1alpha1", "Ingress", "ingresses")
        cluster.on("GET", "/api/v1", answer({"resources": [{"name": "events", "kind": "Event", "namespaced": True}]}))
        cluster.on("GET", INGRESSES, listing(list(objects)))
        cluster.on("POST", EVENTS, answer({"metadata": {"name": "app.1"}}, 201))
        sink = RecordingSink()
        mirror = Mirror(sink)
        discovery = Discovery(client)
        calls = Calls(client, discovery)
        watched = WatchedKind(KIngress.KIND.group_kind, KIngress, ("v1alpha1",), keep_raw=lambda _: True)
        mirror.watch(watched)
        task = asyncio.create_task(Reflector(client, discovery, watched, mirror).run())
        try:
            await cluster.watch(0)
            yield Bench(cluster, Writer(calls, mirror, EventRecorder(calls, lambda: NOW), lambda: NOW), mirror, sink)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def wish(option: str = "Enabled") -> Outcome:
    out = Outcome()
    out.want(Apply(ingress(option), announce=ABOUT))
    return out


async def test_a_creation_is_a_post_and_is_announced() -> None:
    async with bench() as b:
        b.cluster.on("POST", OBJECTS, answer(ingress(revision="5"), 201))
        await b.writer.carry_out(wish())
        assert b.writes == [("POST", OBJECTS), ("POST", EVENTS)]
        post, event = (seen for seen in b.cluster.seen if seen.method == "POST")
        assert post.query == {"fieldManager": "gatepost"}
        assert post.body == ingress()
        assert event.body["reason"] == "Created"
        assert event.body["message"] == 'Created Ingress "app"'


async def test_what_we_wrote_is_known_at_once_and_not_written_again() -> None:
    async with bench() as b:
        b.cluster.on("POST", OBJECTS, answer(ingress(revision="5"), 201))
        await b.writer.carry_out(wish())
        assert REF in b.sink.objects  # before any watch told it
        before = len(b.writes)
        await b.writer.carry_out(wish())
        assert len(b.writes) == before


async def test_an_update_is_a_forced_server_side_apply() -> None:
    async with bench(ingress("Redirected", "4", status={})) as b:
        b.cluster.on("PATCH", APP, answer(ingress(revision="5")))
        await b.writer.carry_out(wish())
        (patch,) = b.cluster.requests("PATCH")
        assert patch.headers["Content-Type"] == "application/apply-patch+yaml"
        assert patch.query == {"fieldManager": "gatepost", "force": "true"}
        assert patch.body["metadata"] == {"name": "app", "namespace": "shop", "uid": "u-1"}


async def test_nothing_is_sent_when_the_object_is_as_wished() -> None:
    async with bench(ingress(revision="4")) as b:
        await b.writer.carry_out(wish())
        assert b.writes == []


async def test_an_object_that_somebody_else_created_first_is_read_and_not_overwritten() -> None:
    async with bench() as b:
        b.cluster.on("POST", OBJECTS, status(409, "AlreadyExists", "ingresses app already exists"))
        b.cluster.on("GET", APP, answer(ingress("Redirected", "9")))
        with pytest.raises(Conflict):
            await b.writer.carry_out(wish())
        found = b.sink.objects[REF]
        assert isinstance(found, KIngress)
        assert found.spec.http_option == "Redirected"
        assert b.writes == [("POST", OBJECTS)]


async def test_a_status_conflict_is_followed_by_a_fresh_read_and_a_write_on_top_of_it() -> None:
    async with bench(ingress(revision="4")) as b:
        b.cluster.on("PATCH", f"{APP}/status", status(409, "Conflict"), answer(ingress(revision="10")))
        b.cluster.on("GET", APP, answer(ingress(revision="9")))
        out = Outcome(about=ABOUT, status={"observedGeneration": 1})
        with pytest.raises(Conflict):
            await b.writer.carry_out(out)
        await b.writer.carry_out(out)
        first, second = b.cluster.requests("PATCH")
        assert first.body == {"status": {"observedGeneration": 1}, "metadata": {"resourceVersion": "4"}}
        assert second.body["metadata"] == {"resourceVersion": "9"}


async def test_an_event_older_than_our_write_does_not_turn_the_state_back() -> None:
    async with bench(ingress("Redirected", "4")) as b:
        b.cluster.on("PATCH", APP, answer(ingress("Enabled", "8")))
        await b.writer.carry_out(wish())
        watch = await b.cluster.watch(0)
        watch.send("MODIFIED", ingress("Redirected", "6"))
        other = ingress(revision="7")
        other["metadata"]["name"] = "later"
        watch.send("ADDED", other)
        await b.sink.until(lambda: "later" in b.sink.names)
        found = b.sink.objects[REF]
        assert isinstance(found, KIngress)
        assert found.spec.http_option == "Enabled"
        assert not b.mirror.is_settled
        watch.send("MODIFIED", ingress("Enabled", "8"))
        await b.sink.until(lambda: b.mirror.is_settled)


async def test_an_answer_older_than_what_the_watch_told_is_passed_over() -> None:
    async with bench(ingress("Redirected", "4")) as b:
        watch = await b.cluster.watch(0)

        async def late(request: Any) -> Any:
            watch.send("MODIFIED", ingress("Elsewhere", "9"))
            await b.sink.until(lambda: option_of(b) == "Elsewhere")
            return await answer(ingress("Enabled", "8"))(request)

        b.cluster.on("PATCH", APP, late)
        await b.writer.carry_out(wish())
        assert option_of(b) == "Elsewhere"
        assert b.mirror.is_settled


def option_of(b: Bench) -> str:
    found = b.sink.objects[REF]
    assert isinstance(found, KIngress)
    return found.spec.http_option


async def test_defaults_that_the_server_fills_in_are_not_fought() -> None:
    completed = ingress(revision="5")
    completed["spec"]["filledIn"] = "by the server"
    async with bench() as b:
        b.cluster.on("POST", OBJECTS, answer(completed, 201))
        await b.writer.carry_out(wish())
        before = len(b.writes)
        await b.writer.carry_out(wish())
        assert len(b.writes) == before


async def test_a_failed_creation_is_told_and_the_other_objects_are_still_written() -> None:
    first, second = ingress(), ingress()
    first["metadata"]["name"], second["metadata"]["name"] = "first", "second"
    out = Outcome(about=ABOUT, status={"observedGeneration": 1})
    out.want(Apply(first, announce=ABOUT))
    out.want(Apply(second))
    made = ingress(revision="6")
    made["metadata"]["name"] = "second"
    async with bench(ingress(revision="4")) as b:
        b.cluster.on("POST", OBJECTS, status(422, "Invalid", "spec.x is wrong"), answer(made, 201))
        with pytest.raises(ApiError, match=r"spec\.x is wrong"):
            await b.writer.carry_out(out)
        assert b.writes == [("POST", OBJECTS), ("POST", EVENTS), ("POST", OBJECTS)]  # and no status that speaks of it
        (event,) = b.cluster.requests("POST", EVENTS)
        assert event.body["reason"] == "CreationFailed"
        assert event.body["message"] == 'Failed to create Ingress "first": spec.x is wrong'


async def test_the_status_for_a_refusal_is_written_while_the_object_is_refused() -> None:
    refused = ingress()
    refused["metadata"]["name"] = "refused"
    out = Outcome(about=ABOUT, status={"observedGeneration": 1, "note": "made"})
    out.want(Apply(refused))
    out.status_if_refused[Ref(GROUP, "Ingress", "shop", "refused")] = {"note": "refused"}
    async with bench(ingress(revision="4")) as b:
        b.cluster.on("POST", OBJECTS, status(422, "Invalid", "spec.x is wrong"))
        b.cluster.on("PATCH", f"{APP}/status", answer(ingress(revision="5", status={"note": "refused"})))
        with pytest.raises(ApiError, match=r"spec\.x is wrong"):
            await b.writer.carry_out(out)
        (patch,) = b.cluster.requests("PATCH")
        assert patch.body["status"] == {"note": "refused"}


async def test_nothing_is_deleted_or_released_while_a_replacement_is_refused() -> None:
    there = ingress(revision="4")
    there["metadata"]["finalizers"] = ["a"]
    replacement = ingress()
    replacement["metadata"]["name"] = "replacement"
    out = Outcome(about=ABOUT, finalizers=(), deletes=[Delete(REF, "u-1", "replaced", ABOUT)], status={"note": "done"})
    out.want(Apply(replacement))
    async with bench(there) as b:
        b.cluster.on("POST", OBJECTS, status(422, "Invalid", "spec.x is wrong"))
        with pytest.raises(ApiError, match=r"spec\.x is wrong"):
            await b.writer.carry_out(out)
        assert b.writes == [("POST", OBJECTS)]


async def test_a_deletion_that_is_refused_is_told() -> None:
    async with bench(ingress(revision="4")) as b:
        b.cluster.on("DELETE", APP, status(403, "Forbidden", "not yours"))
        with pytest.raises(ApiError, match="not yours"):
            await b.writer.carry_out(Outcome(deletes=[Delete(REF, "u-1", "no longer wanted", ABOUT)]))
        (event,) = b.cluster.requests("POST", EVENTS)
        assert (event.body["type"], event.body["reason"]) == ("Warning", "DeleteFailed")
        assert event.body["message"] == 'Failed to delete Ingress "app": not yours'


async def test_a_deletion_names_the_uid_that_was_meant() -> None:
    async with bench(ingress(revision="4")) as b:
        b.cluster.on("DELETE", APP, answer({"kind": "Status", "status": "Success"}))
        await b.writer.carry_out(Outcome(deletes=[Delete(REF, "u-1", "no longer wanted", ABOUT)]))
        (delete,) = b.cluster.requests("DELETE")
        assert delete.body["preconditions"] == {"uid": "u-1"}


async def test_a_finalizer_is_added_before_and_removed_after_the_other_writes() -> None:
    async with bench(ingress("Redirected", "4")) as b:
        with_finalizer = ingress("Redirected", "5")
        with_finalizer["metadata"]["finalizers"] = ["a"]
        b.cluster.on("PATCH", APP, answer(with_finalizer), answer(ingress(revision="6")))
        out = wish()
        out.about, out.finalizers = ABOUT, ("a",)
        await b.writer.carry_out(out)
        first, second, *_ = b.cluster.requests("PATCH")
        assert first.body == {"metadata": {"finalizers": ["a"], "resourceVersion": "4"}}
        assert second.body["spec"] == {"httpOption": "Enabled"}


async def test_a_finalizer_that_goes_is_removed_after_the_other_writes() -> None:
    there = ingress("Redirected", "4")
    there["metadata"]["finalizers"] = ["a"]
    applied = ingress(revision="5")
    applied["metadata"]["finalizers"] = ["a"]
    async with bench(there) as b:
        b.cluster.on("PATCH", APP, answer(applied), answer(ingress(revision="6")))
        out = wish()
        out.about, out.finalizers = ABOUT, ()
        await b.writer.carry_out(out)
        patches = b.cluster.requests("PATCH")
        assert patches[-1].body == {"metadata": {"finalizers": [], "resourceVersion": "5"}}
        assert patches[-2].body["spec"] == {"httpOption": "Enabled"}


async def test_a_dry_run_sends_no_write_at_all() -> None:
    out = wish()
    out.about, out.finalizers, out.status = ABOUT, ("a",), {"observedGeneration": 1}
    out.deletes.append(Delete(REF, "u-1", "test", ABOUT))
    async with bench(ingress("Redirected", "4"), dry_run=True) as b:
        await b.writer.carry_out(out)
        await b.writer.tell([Event(ABOUT, "Warning", "Odd", "why")])
        assert {seen.method for seen in b.cluster.seen} == {"GET"}
        assert [r.kind for r in b.writer.withheld.values() if not r.subresource] == ["merge", "apply", "delete"]
        assert [r.subresource for r in b.writer.withheld.values() if r.subresource] == ["status"]


async def test_an_event_that_comes_again_is_counted_in_the_first() -> None:
    event = Event(ABOUT, "Warning", "Odd", "why")
    async with bench() as b:
        b.cluster.on("PATCH", f"{EVENTS}/app.1", answer({"metadata": {"name": "app.1"}}))
        await b.writer.tell([event])
        await b.writer.tell([event])
        await b.writer.tell([event])
        assert len(b.cluster.requests("POST", EVENTS)) == 1
        assert [seen.body["count"] for seen in b.cluster.requests("PATCH")] == [2, 3]


@pytest.mark.parametrize(
    ("last_told", "counts"),
    [
        pytest.param("2026-02-28T23:55:00Z", [], id="five-minutes-ago"),
        pytest.param("2026-02-28T23:45:00Z", [8], id="a-quarter-of-an-hour-ago"),
        pytest.param(None, [8], id="at-an-unknown-time"),
    ],
)
async def test_an_event_of_an_earlier_process_is_left_or_counted_but_not_doubled(
    last_told: str | None, counts: list[int]
) -> None:
    event = Event(Subject(Ref(GROUP, "Ingress", "other", "app"), "v1"), "Warning", "Odd", "why")
    events = "/api/v1/namespaces/other/events"
    path = f"{events}/{event_request(event, '').ref.name}"
    async with bench() as b:
        b.cluster.on("POST", events, status(409, "AlreadyExists", "it is there"))
        b.cluster.on("GET", path, answer({"metadata": {}, "count": 7, "lastTimestamp": last_told}))
        b.cluster.on("PATCH", path, answer({"metadata": {}}))
        await b.writer.tell([event])
        assert [seen.body["count"] for seen in b.cluster.requests("PATCH", path)] == counts
        assert len(b.cluster.requests("POST", events)) == 1
        assert len(b.cluster.requests("GET", path)) == 1


async def test_one_object_cannot_flood_the_cluster_with_events() -> None:
    async with bench() as b:
        await b.writer.tell([Event(ABOUT, "Warning", "Odd", f"number {n}") for n in range(40)])
        assert len(b.cluster.requests("POST", EVENTS)) == 25


async def test_an_event_that_cannot_be_written_holds_up_nothing() -> None:
    async with bench() as b:
        b.cluster.on("POST", "/api/v1/namespaces/other/events", status(403, "Forbidden"))
        about = Subject(Ref(GROUP, "Ingress", "other", "x"), "v1")
        await b.writer.tell([Event(about, "Warning", "Odd", "why")])
        assert len(b.cluster.requests("POST")) == 1


async def test_the_status_of_an_object_that_is_gone_is_no_failure() -> None:
    async with bench(ingress(revision="4")) as b:
        b.cluster.on("PATCH", f"{APP}/status", status(404, "NotFound"))
        b.cluster.on("GET", APP, status(404, "NotFound"))
        await b.writer.carry_out(Outcome(about=ABOUT, status={"observedGeneration": 1}))
        assert b.sink.removed == [REF]


async def test_a_status_that_the_cluster_has_no_place_for_is_a_failure() -> None:
    async with bench(ingress(revision="4")) as b:
        b.cluster.on("PATCH", f"{APP}/status", status(404, "NotFound", "no such subresource"))
        b.cluster.on("GET", APP, answer(ingress(revision="4")))
        with pytest.raises(ApiError, match="no such subresource"):
            await b.writer.carry_out(Outcome(about=ABOUT, status={"observedGeneration": 1}))
        assert b.sink.removed == []


async def test_an_object_that_went_before_its_update_is_looked_at_again_and_created() -> None:
    async with bench(ingress("Redirected", "4", status={})) as b:
        b.cluster.on("PATCH", APP, status(404, "NotFound"))
        b.cluster.on("GET", APP, status(404, "NotFound"))
        b.cluster.on("POST", OBJECTS, answer(ingress(revision="9"), 201))
        with pytest.raises(Conflict):
            await b.writer.carry_out(wish())
        await b.writer.carry_out(wish())
        assert b.writes[-2:] == [("POST", OBJECTS), ("POST", EVENTS)]


async def test_a_namespace_that_is_missing_fails_the_creation() -> None:
    async with bench() as b:
        b.cluster.on("POST", OBJECTS, status(404, "NotFound", 'namespaces "shop" not found'))
        with pytest.raises(ApiError, match='namespaces "shop" not found'):
            await b.writer.carry_out(wish())


async def test_an_answer_does_not_revive_what_the_watch_told_the_end_of() -> None:
    async with bench() as b:
        watch = await b.cluster.watch(0)

        async def late(request: Any) -> Any:
            watch.send("ADDED", ingress(revision="5"))
            watch.send("DELETED", ingress(revision="6"))
            await b.sink.until(lambda: b.sink.removed == [REF])
            return await answer(ingress(revision="5"), 201)(request)

        b.cluster.on("POST", OBJECTS, late, answer(ingress(revision="9"), 201))
        await b.writer.carry_out(wish())
        assert REF not in b.sink.objects
        await b.writer.carry_out(wish())  # so that it is made again
        assert b.writes.count(("POST", OBJECTS)) == 2


async def test_what_we_made_and_a_new_list_lacks_is_gone() -> None:
    async with bench() as b:
        b.cluster.on("POST", OBJECTS, answer(ingress(revision="5"), 201))
        await b.writer.carry_out(wish())
        assert REF in b.sink.objects
        (await b.cluster.watch(0)).send("ERROR", {"kind": "Status", "code": 410, "reason": "Expired"})
        await b.cluster.watch(1)  # the list before it was empty
        assert b.sink.removed == [REF]


async def test_a_version_that_is_served_no_longer_is_no_sign_that_the_object_is_gone() -> None:
    async with bench(ingress("Redirected", "4", status={})) as b:
        b.cluster.on("PATCH", APP, answer("404 page not found", 404))
        with pytest.raises(ApiError, match="404 page not found"):
            await b.writer.carry_out(wish())
        assert b.sink.removed == []
