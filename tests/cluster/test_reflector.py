"""The feed of one kind, against an API server that misbehaves in every way that real ones do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from scripted import (
    RecordingSink,
    ScriptedCluster,
    Watch,
    answer,
    client_of,
    listing,
    scripted_cluster,
    status,
    truncated,
)

from gatepost.cluster.discovery import Discovery
from gatepost.cluster.errors import Unreachable
from gatepost.cluster.reflector import Reflector, WatchedKind
from gatepost.objects.core import ConfigMap
from gatepost.objects.gatewayapi import GROUP, HTTPRoute
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.refs import GroupKind, Ref

ROUTES = "/apis/gateway.networking.k8s.io/v1/httproutes"


def route(name: str, revision: str = "1", host: Any = "app.example.com") -> dict[str, Any]:
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": name, "namespace": "shop", "uid": f"u-{name}", "resourceVersion": revision},
        "spec": {"hostnames": [host]},
    }


def ref(name: str) -> Ref:
    return Ref(GROUP, "HTTPRoute", "shop", name)


@asynccontextmanager
async def reflecting(
    cluster: ScriptedCluster, *, keep_raw: bool = False, **settings: Any
) -> AsyncIterator[RecordingSink]:
    """A reflector of HTTPRoutes at work on a scripted cluster."""
    sink = RecordingSink()
    watched = WatchedKind(HTTPRoute.KIND.group_kind, HTTPRoute, HTTPRoute.KIND.versions, keep_raw=lambda _: keep_raw)
    async with client_of(cluster, **settings) as client:
        task = asyncio.create_task(Reflector(client, Discovery(client), watched, sink).run())
        try:
            yield sink
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def routes_served() -> AsyncIterator[ScriptedCluster]:
    async with scripted_cluster() as cluster:
        assert cluster.kind(GROUP, "v1", "HTTPRoute", "httproutes") == ROUTES
        yield cluster


async def test_a_list_comes_in_pages_and_is_complete_after_the_last() -> None:
    async with routes_served() as cluster:
        cluster.on("GET", ROUTES, listing([route("a")], "7", "next"), listing([route("b")], "7"))
        async with reflecting(cluster) as sink:
            await sink.until(lambda: "complete" in sink.states)
            assert sink.names == {"a", "b"}
            obj = sink.objects[ref("a")]
            assert isinstance(obj, HTTPRoute)
            assert obj.spec.hostnames == ("app.example.com",)
            watch = await cluster.watch(0)
            pages = [seen.query for seen in cluster.requests("GET", ROUTES)][:2]
    assert pages == [{"limit": "500"}, {"limit": "500", "continue": "next"}]
    assert watch.query["resourceVersion"] == "7"
    assert watch.query["allowWatchBookmarks"] == "true"


async def test_raw_bytes_are_handed_on_only_where_asked() -> None:
    async with routes_served() as cluster:
        cluster.on("GET", ROUTES, listing([route("a", "5")]))
        async with reflecting(cluster, keep_raw=True) as sink:
            await sink.until(lambda: bool(sink.states))
            raw = sink.raw[ref("a")]
            assert raw is not None
            assert json.loads(raw) == route("a", "5")
        async with reflecting(cluster) as sink:
            await sink.until(lambda: bool(sink.states))
            assert sink.raw[ref("a")] is None


async def test_events_of_a_watch_change_the_sink() -> None:
    async with routes_served() as cluster:
        cluster.on("GET", ROUTES, listing([route("a"), route("b")]))
        async with reflecting(cluster) as sink:
            watch = await cluster.watch(0)
            watch.send("ADDED", route("c", "2"))
            watch.send("MODIFIED", route("a", "3", "new.example.com"))
            watch.send("DELETED", route("b", "4"))
            await sink.until(lambda: sink.removed == [ref("b")])
            assert sink.names == {"a", "c"}
            changed = sink.objects[ref("a")]
            assert isinstance(changed, HTTPRoute)
            assert changed.spec.hostnames == ("new.example.com",)


async def test_a_dropped_watch_is_resumed_from_the_last_event() -> None:
    async with routes_served() as cluster:
        cluster.on("GET", ROUTES, listing([]))
        async with reflecting(cluster) as sink:
            first = await cluster.watch(0)
            first.send("ADDED", route("a", "12"))
            await sink.until(lambda: sink.names == {"a"})
            first.drop()
            second = await cluster.watch(1)
            assert second.query["resourceVersion"] == "12"
            second.send("ADDED", route("b", "13"))
            await sink.until(lambda: sink.names == {"a", "b"})
        # The list was read twice, because it was empty, and never again.
        assert len(cluster.requests("GET", ROUTES)) - len(cluster.watches) == 2


async def test_a_bookmark_moves_the_point_from_which_a_watch_resumes() -> None:
    async with routes_served() as cluster:
        cluster.on("GET", ROUTES, listing([route("a", "1")], "5"))
        async with reflecting(cluster) as sink:
            first = await cluster.watch(0)
            first.send("BOOKMARK", {"kind": "HTTPRoute", "metadata": {"resourceVersion": "40"}})
            first.end()
            second = await cluster.watch(1)
            assert second.query["resourceVersion"] == "40"
            assert sink.names == {"a"}


async def test_a_delete_missed_before_a_410_event_is_seen_by_the_new_list() -> None:
    async with routes_served() as cluster:
        cluster.on("GET", ROUTES, listing([route("a"), route("b")]), listing([route("b"), route("c")], "90"))
        async with reflecting(cluster) as sink:
            watch = await cluster.watch(0)
            watch.send("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"})
            second = await cluster.watch(1)
            assert second.query["resourceVersion"] == "90"
            assert sink.removed == [ref("a")]
            assert sink.names == {"b", "c"}


async def test_a_410_status_makes_a_new_list_too() -> None:
    async with routes_served() as cluster:
        cluster.on("GET", ROUTES, listing([route("a")]), listing([], "90"))
        cluster.on("WATCH", ROUTES, status(410, "Gone"), answer({}))
        async with reflecting(cluster) as sink:
            await sink.until(lambda: sink.removed == [ref("a")])


async def test_a_list_that_is_empty_all_at_once_is_believed_only_when_it_is_empty_again() -> None:
    async with routes_served() as cluster:
        full, empty = listing([route("a"), route("b")]), listing([], "90")
        cluster.on("GET", ROUTES, full, empty, full, empty, empty)
        async with reflecting(cluster) as sink:
            (await cluster.watch(0)).send("ERROR", {"kind": "Status", "code": 410, "reason": "Expired"})
            second = await cluster.watch(1)
            assert (sink.removed, sink.names) == ([], {"a", "b"})
            assert cluster.pauses == [5.0]
            second.send("ERROR", {"kind": "Status", "code": 410, "reason": "Expired"})
            await cluster.watch(2)
            assert sink.names == set()


async def test_a_first_list_that_is_empty_is_read_once_more_at_once() -> None:
    async with routes_served() as cluster:
        cluster.on("GET", ROUTES, listing([], "90"), listing([route("a")]))
        async with reflecting(cluster) as sink:
            await sink.until(lambda: "complete" in sink.states)
        assert sink.names == {"a"}
        assert cluster.pauses == []


async def test_an_expired_continue_token_starts_the_list_anew() -> None:
    async with routes_served() as cluster:
        cluster.on(
            "GET", ROUTES, listing([route("a")], "7", "next"), status(410, "Expired"), listing([route("b")], "9")
        )
        async with reflecting(cluster) as sink:
            await sink.until(lambda: "complete" in sink.states)
            watch = await cluster.watch(0)
            assert watch.query["resourceVersion"] == "9"
            assert "b" in sink.names


async def test_429_is_waited_out_as_long_as_the_server_asks() -> None:
    async with routes_served() as cluster:
        busy = status(429, "TooManyRequests", headers={"Retry-After": "7"})
        cluster.on("GET", ROUTES, busy, listing([route("a")]))
        async with reflecting(cluster) as sink:
            await sink.until(lambda: "complete" in sink.states)
        assert sink.states[0] == "complete"
        assert 7.0 <= cluster.pauses[0] <= 7.7


async def test_500_is_told_and_tried_again_later_and_later() -> None:
    async with routes_served() as cluster:
        broken = status(500, "InternalError", "etcd is away")
        cluster.on("GET", ROUTES, broken, broken, listing([route("a")]))
        async with reflecting(cluster) as sink:
            await sink.until(lambda: "complete" in sink.states)
        assert sink.states == ["failing", "failing", "complete"]
        assert "etcd is away" in str(sink.errors[0])
        first, second = cluster.pauses[:2]
        assert 0.5 <= first <= 0.75
        assert 1.0 <= second <= 1.5


async def test_a_watch_that_500_interrupts_resumes_without_a_new_list() -> None:
    async with routes_served() as cluster:
        resumed = Watch({})
        cluster.on("GET", ROUTES, listing([route("a")], "3"))
        broken = status(500, "InternalError")
        cluster.on("WATCH", ROUTES, broken, broken, resumed.serve)
        async with reflecting(cluster) as sink:
            resumed.send("ADDED", route("b", "4"))
            await sink.until(lambda: "b" in sink.names)
        watches = [seen.query["resourceVersion"] for seen in cluster.seen if seen.query.get("watch")]
        assert watches[:3] == ["3", "3", "3"]
        assert sink.states == ["complete", "failing", "failing", "recovered"]
        assert len([s for s in cluster.requests("GET", ROUTES) if not s.query.get("watch")]) == 1


async def test_an_answer_that_stays_away_is_given_up_and_asked_for_again() -> None:
    silent = asyncio.Event()

    async with routes_served() as cluster:

        async def never(request: Any) -> Any:
            await silent.wait()

        cluster.on("GET", ROUTES, never, listing([route("a")]))
        async with reflecting(cluster, answer_seconds=0.2) as sink:
            await sink.until(lambda: "complete" in sink.states)
            silent.set()
        assert "no answer for 0.2 s" in str(sink.errors[0])


async def test_half_a_list_is_no_list() -> None:
    whole = json.dumps({"metadata": {"resourceVersion": "4"}, "items": [route("a"), route("b")]}).encode()
    async with routes_served() as cluster:
        cluster.on("GET", ROUTES, truncated(whole[:-40], len(whole)), listing([route("a"), route("b")]))
        async with reflecting(cluster) as sink:
            await sink.until(lambda: "complete" in sink.states)
            assert sink.states == ["failing", "complete"]
            assert sink.removed == []
            assert sink.names == {"a", "b"}


async def test_half_an_event_is_no_event() -> None:
    async with routes_served() as cluster:
        cluster.on("GET", ROUTES, listing([], "3"))
        async with reflecting(cluster) as sink:
            first = await cluster.watch(0)
            line = json.dumps({"type": "ADDED", "object": route("a", "4")}).encode()
            first.send_bytes(line[:60])
            first.end()
            second = await cluster.watch(1)
            assert second.query["resourceVersion"] == "3"
            assert sink.names == set()


async def test_an_event_of_one_megabyte_arrives_whole() -> None:
    big = route("big", "2")
    big["metadata"]["annotations"] = {"filler": "x" * 1_000_000}
    async with routes_served() as cluster:
        cluster.on("GET", ROUTES, listing([]))
        async with reflecting(cluster) as sink:
            (await cluster.watch(0)).send("ADDED", big)
            await sink.until(lambda: "big" in sink.names)
            assert len(sink.objects[ref("big")].metadata.annotations["filler"]) == 1_000_000


async def test_an_object_that_cannot_be_read_is_a_problem_and_stops_no_other() -> None:
    async with routes_served() as cluster:
        cluster.on("GET", ROUTES, listing([route("a"), route("bad", host=42), route("c")]))
        async with reflecting(cluster) as sink:
            await sink.until(lambda: "complete" in sink.states)
            assert sink.names == {"a", "c"}
    (problem,) = sink.problems
    assert problem.about == ref("bad")
    assert problem.field == "spec.hostnames[0]"
    assert problem.message == "cannot be read: Expected `str`, got `int`"


async def test_the_last_good_value_of_an_object_stays_when_it_turns_unreadable() -> None:
    async with routes_served() as cluster:
        cluster.on("GET", ROUTES, listing([route("a")]), listing([route("a", host=42)], "8"))
        async with reflecting(cluster) as sink:
            watch = await cluster.watch(0)
            watch.send("MODIFIED", route("a", "2", host=["no"]))
            watch.send("ERROR", {"kind": "Status", "code": 410, "reason": "Expired"})
            await cluster.watch(1)
            assert len(sink.problems) == 2
            assert sink.removed == []
            kept = sink.objects[ref("a")]
            assert isinstance(kept, HTTPRoute)
            assert kept.spec.hostnames == ("app.example.com",)


async def test_a_kind_that_is_not_served_is_empty_and_looked_for_again() -> None:
    async with scripted_cluster() as cluster:
        groups = {"groups": [{"name": GROUP, "versions": [{"version": "v1beta1"}]}]}
        cluster.on("GET", "/apis", answer({"groups": []}), answer(groups))
        resource = {"name": "httproutes", "kind": "HTTPRoute", "namespaced": True}
        cluster.on("GET", f"/apis/{GROUP}/v1beta1", answer({"resources": [resource]}))
        cluster.on("GET", f"/apis/{GROUP}/v1beta1/httproutes", listing([route("old")]))
        async with reflecting(cluster) as sink:
            await sink.until(lambda: "complete" in sink.states)
            assert sink.states == ["missing", "complete"]
            assert sink.names == {"old"}  # in the only version that is served


async def test_objects_of_a_kind_that_vanished_are_not_removed() -> None:
    async with scripted_cluster() as cluster:
        cluster.kind(GROUP, "v1", "HTTPRoute", "httproutes")
        cluster.on("GET", "/apis", answer({"groups": []}))
        cluster.on("GET", ROUTES, listing([route("a")]))
        cluster.on("WATCH", ROUTES, status(404, "NotFound"))
        async with reflecting(cluster) as sink:
            await sink.until(lambda: "missing" in sink.states)
            assert sink.names == {"a"}
            assert sink.removed == []


async def test_items_of_core_kinds_need_no_kind_of_their_own() -> None:
    async with scripted_cluster() as cluster:
        path = cluster.kind("", "v1", "ConfigMap", "configmaps")
        item = {"metadata": {"name": "config-network", "namespace": "knative-serving"}, "data": {"k": "v"}}
        cluster.on("GET", path.replace("/configmaps", "/namespaces/knative-serving/configmaps"), listing([item]))
        sink = RecordingSink()
        watched = WatchedKind(ConfigMap.KIND.group_kind, ConfigMap, ("v1",), namespace="knative-serving")
        async with client_of(cluster) as client:
            task = asyncio.create_task(Reflector(client, Discovery(client), watched, sink).run())
            await sink.until(lambda: "complete" in sink.states)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    found: dict[Ref, KubernetesObject] = sink.objects
    assert list(found) == [Ref("", "ConfigMap", "knative-serving", "config-network")]


async def test_an_answer_that_is_none_of_an_api_server_is_a_failure_and_asked_for_again() -> None:
    async with scripted_cluster() as cluster:
        cluster.on("GET", "/apis", answer("<html>log in first</html>"))
        cluster.kind(GROUP, "v1", "HTTPRoute", "httproutes")
        cluster.on("GET", ROUTES, listing([route("a")]))
        async with reflecting(cluster) as sink:
            await sink.until(lambda: "complete" in sink.states)
            assert sink.states == ["failing", "complete"]
            assert "GET /apis: the answer is none of a Kubernetes API" in str(sink.errors[0])


@pytest.mark.parametrize(
    ("kind", "path"), [(GroupKind("", "Service"), "/api/v1"), (HTTPRoute.KIND.group_kind, "/apis")]
)
async def test_a_web_server_that_finds_nothing_is_no_cluster_without_kinds(kind: GroupKind, path: str) -> None:
    async with scripted_cluster() as website, client_of(website) as client:
        website.on("GET", path, answer("<h1>Not found</h1>", 404))
        with pytest.raises(Unreachable, match=f"GET {path}: found 404, wanted the answer of a Kubernetes API"):
            await Discovery(client).find(kind)


async def test_reflectors_that_start_together_look_at_a_group_once() -> None:
    async with routes_served() as cluster, client_of(cluster) as client:
        discovery = Discovery(client)
        found = await asyncio.gather(*(discovery.find(HTTPRoute.KIND.group_kind) for _ in range(5)))
        assert {served.plural for served in found if served is not None} == {"httproutes"}
        assert len(cluster.requests("GET", "/apis")) == 1
        assert len(cluster.requests("GET", f"/apis/{GROUP}/v1")) == 1
