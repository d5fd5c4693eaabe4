"""Watches: what is told, from where on, and how they end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from apiserver.api_client import Client
from gatepost.standalone.apiserver.server import ApiServer

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
ROUTES = "/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


def config_map(name: str, **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}}


class Stream:
    """The lines of one watch."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response = response

    async def event(self) -> Any:
        async with asyncio.timeout(10):
            line = await self.response.content.readline()
        assert line, "the watch has ended"
        return json.loads(line)

    async def told(self) -> tuple[str, str]:
        """Type and object name of the next event."""
        event = await self.event()
        return event["type"], event["object"]["metadata"].get("name", "")

    async def rest(self) -> list[Any]:
        async with asyncio.timeout(10):
            return [json.loads(line) async for line in self.response.content]


@asynccontextmanager
async def watching(
    client: Client, path: str, *, accept: str = "application/json", **query: str
) -> AsyncIterator[Stream]:
    parameters = {"watch": "true", **query}
    async with client.session.get(client.url + path, params=parameters, headers={"Accept": accept}) as response:
        assert response.status == 200, await response.text()
        yield Stream(response)


async def version_now(client: Client, path: str = CONFIG_MAPS) -> str:
    return str((await client("GET", path)).body["metadata"]["resourceVersion"])


async def test_watch_from_a_list_tells_every_change_after_it(client: Client) -> None:
    await client.created(CONFIG_MAPS, config_map("before"))
    start = await version_now(client)
    async with watching(client, CONFIG_MAPS, resourceVersion=start) as stream:
        created = await client.created(CONFIG_MAPS, config_map("a"))
        await client("PATCH", f"{CONFIG_MAPS}/a", {"data": {"k": "v"}}, content_type="application/merge-patch+json")
        deleted = await client("DELETE", f"{CONFIG_MAPS}/a")
        assert deleted.body["status"] == "Success"
        first, second, third = [await stream.event() for _ in range(3)]
    assert first == {"type": "ADDED", "object": created}
    assert (second["type"], second["object"]["data"]) == ("MODIFIED", {"k": "v"})
    assert (third["type"], third["object"]["data"]) == ("DELETED", {"k": "v"})
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in (first, second, third)]
    assert versions == sorted(set(versions)), "each event has a version of its own, the deletion too"


async def test_changes_from_before_the_watch_are_replayed_from_the_asked_version(client: Client) -> None:
    start = await version_now(client)
    for name in ("a", "b"):
        await client.created(CONFIG_MAPS, config_map(name))
    async with watching(client, CONFIG_MAPS, resourceVersion=start) as stream:
        assert [await stream.told(), await stream.told()] == [("ADDED", "a"), ("ADDED", "b")]


async def test_watch_without_version_or_with_zero_begins_with_what_is_there(client: Client) -> None:
    await client.created(CONFIG_MAPS, config_map("a"))
    for query in ({}, {"resourceVersion": "0"}):
        async with watching(client, CONFIG_MAPS, **query) as stream:
            assert await stream.told() == ("ADDED", "a")
    await client("DELETE", f"{CONFIG_MAPS}/a")


async def test_streaming_list_ends_with_the_annotated_bookmark_and_goes_on(client: Client) -> None:
    await client.created(CONFIG_MAPS, config_map("a"))
    await client.created(CONFIG_MAPS, config_map("b"))
    query = {
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
    }
    async with watching(client, CONFIG_MAPS, **query) as stream:
        assert [await stream.told(), await stream.told()] == [("ADDED", "a"), ("ADDED", "b")]
        bookmark = await stream.event()
        assert bookmark == {
            "type": "BOOKMARK",
            "object": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {
                    "resourceVersion": await version_now(client),
                    "annotations": {"k8s.io/initial-events-end": "true"},
                },
            },
        }
        await client.created(CONFIG_MAPS, config_map("c"))
        assert await stream.told() == ("ADDED", "c")


async def test_streaming_list_needs_its_companions(client: Client) -> None:
    query = {"watch": "true", "sendInitialEvents": "true"}
    alone = await client("GET", CONFIG_MAPS, **query)
    assert alone.status == 422
    assert alone.body["details"]["causes"][0]["field"] == "resourceVersionMatch"
    no_bookmarks = await client("GET", CONFIG_MAPS, **query, resourceVersionMatch="NotOlderThan")
    assert no_bookmarks.status == 422
    assert no_bookmarks.body["details"]["causes"][0]["field"] == "allowWatchBookmarks"


async def test_object_that_stops_matching_is_deleted_for_that_watcher(client: Client) -> None:
    await client.created(CONFIG_MAPS, config_map("a", tier="web"))
    await client.created(CONFIG_MAPS, config_map("b"))
    async with watching(client, CONFIG_MAPS, labelSelector="tier=web") as stream:
        assert await stream.told() == ("ADDED", "a")
        merge = {"content_type": "application/merge-patch+json"}
        left = await client("PATCH", f"{CONFIG_MAPS}/a", {"metadata": {"labels": {"tier": "db"}}}, **merge)
        await client("PATCH", f"{CONFIG_MAPS}/a", {"data": {"not": "seen"}}, **merge)
        await client("PATCH", f"{CONFIG_MAPS}/b", {"metadata": {"labels": {"tier": "web"}}}, **merge)
        gone = await stream.event()
        assert (gone["type"], gone["object"]["metadata"]["name"]) == ("DELETED", "a")
        assert gone["object"]["metadata"]["labels"] == {"tier": "web"}
        assert gone["object"]["metadata"]["resourceVersion"] == left.body["metadata"]["resourceVersion"]
        assert await stream.told() == ("ADDED", "b")


async def test_field_selector_narrows_a_watch_to_one_object(client: Client) -> None:
    async with watching(client, CONFIG_MAPS, fieldSelector="metadata.name=b") as stream:
        await client.created(CONFIG_MAPS, config_map("a"))
        await client.created(CONFIG_MAPS, config_map("b"))
        assert await stream.told() == ("ADDED", "b")


async def test_watch_of_all_namespaces_and_of_one_differ(client: Client) -> None:
    await client.created("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    start = await version_now(client)
    async with (
        watching(client, "/api/v1/configmaps", resourceVersion=start) as everywhere,
        watching(client, CONFIG_MAPS, resourceVersion=start) as here,
    ):
        await client.created("/api/v1/namespaces/shop/configmaps", config_map("there"))
        await client.created(CONFIG_MAPS, config_map("here"))
        assert [await everywhere.told(), await everywhere.told()] == [("ADDED", "there"), ("ADDED", "here")]
        assert await here.told() == ("ADDED", "here")


async def test_write_that_changes_nothing_is_not_told(client: Client) -> None:
    await client.created(CONFIG_MAPS, config_map("a"))
    start = await version_now(client)
    async with watching(client, CONFIG_MAPS, resourceVersion=start) as stream:
        await client("PATCH", f"{CONFIG_MAPS}/a", {}, content_type="application/merge-patch+json")
        await client.created(CONFIG_MAPS, config_map("b"))
        assert await stream.told() == ("ADDED", "b")


async def test_watch_ends_when_its_time_is_over(client: Client) -> None:
    await client.created(CONFIG_MAPS, config_map("a"))
    async with watching(client, CONFIG_MAPS, timeoutSeconds="1") as stream:
        assert [event["type"] for event in await stream.rest()] == ["ADDED"]


async def test_watcher_that_asks_for_bookmarks_gets_one_before_the_end(client: Client) -> None:
    start = await version_now(client)
    await client.created(
        ROUTES,
        {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "r"}, "spec": {}},
    )
    query = {"resourceVersion": start, "allowWatchBookmarks": "true", "timeoutSeconds": "1"}
    async with watching(client, CONFIG_MAPS, **query) as stream:
        (bookmark,) = await stream.rest()
    # It is as far as the whole server, though nothing of its own kind has changed.
    assert bookmark["object"]["metadata"]["resourceVersion"] == await version_now(client) != start


async def test_bookmarks_come_again_and_again() -> None:
    async with ApiServer(bookmark_seconds=0.05) as server, aiohttp.ClientSession() as session:
        query = {"watch": "1", "allowWatchBookmarks": "true", "resourceVersion": "0"}
        async with session.get(f"{server.url}{CONFIG_MAPS}", params=query) as response:
            stream = Stream(response)
            assert [(await stream.event())["type"] for _ in range(3)] == ["BOOKMARK"] * 3


async def test_table_watch_tells_rows(client: Client) -> None:
    async with watching(client, CONFIG_MAPS, accept=TABLE) as stream:
        await client.created(CONFIG_MAPS, config_map("a"))
        event = await stream.event()
    assert event["type"] == "ADDED"
    assert event["object"]["kind"] == "Table"
    assert [column["name"] for column in event["object"]["columnDefinitions"]] == ["Name", "Data", "Age"]
    (row,) = event["object"]["rows"]
    assert row["cells"][:2] == ["a", 0]
    assert row["object"]["metadata"]["name"] == "a"


async def test_event_has_the_version_of_the_url(client: Client) -> None:
    path = "/apis/gateway.networking.k8s.io/{}/namespaces/default/httproutes"
    async with (
        watching(client, path.format("v1")) as newer,
        watching(client, path.format("v1beta1")) as older,
    ):
        route = {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "HTTPRoute",
            "metadata": {"name": "r"},
            "spec": {},
        }
        await client.created(path.format("v1"), route)
        seen = [(await stream.event())["object"]["apiVersion"] for stream in (newer, older)]
    assert seen == ["gateway.networking.k8s.io/v1", "gateway.networking.k8s.io/v1beta1"]


async def test_watch_from_too_old_a_version_is_answered_410() -> None:
    async with ApiServer(window=5) as server, aiohttp.ClientSession() as session:
        start = await _list_version(session, server)
        await _create_many(session, server, 20)
        query = {"watch": "true", "resourceVersion": start}
        async with session.get(f"{server.url}{CONFIG_MAPS}", params=query) as response:
            assert response.status == 410
            status = await response.json()
    assert (status["kind"], status["reason"], status["code"]) == ("Status", "Expired", 410)


async def test_watch_that_falls_behind_is_told_410_in_the_stream() -> None:
    async with ApiServer(window=5) as server, aiohttp.ClientSession() as session:
        start = await _list_version(session, server)
        query = {"watch": "true", "resourceVersion": start}
        async with session.get(f"{server.url}{CONFIG_MAPS}", params=query) as response:
            # The reader is stuck: more comes than its socket and the history can hold.
            await _create_many(session, server, 400, data={"blob": "x" * 40_000})
            events = await Stream(response).rest()
    assert events[-1]["type"] == "ERROR"
    assert events[-1]["object"]["code"] == 410
    assert {event["type"] for event in events[:-1]} == {"ADDED"}


async def test_version_of_another_life_of_the_server_is_answered_410(client: Client) -> None:
    answer = await client("GET", CONFIG_MAPS, watch="true", resourceVersion="999999")
    assert (answer.status, answer.body["reason"]) == (410, "Expired")


async def test_watch_ends_when_its_kind_is_no_longer_served(client: Client) -> None:
    crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dnsendpoints.externaldns.k8s.io"
    endpoints = "/apis/externaldns.k8s.io/v1alpha1/dnsendpoints"
    body = {"metadata": {"name": "a"}, "spec": {}}
    await client.created("/apis/externaldns.k8s.io/v1alpha1/namespaces/default/dnsendpoints", body)
    async with watching(client, endpoints) as stream:
        assert await stream.told() == ("ADDED", "a")
        await client("DELETE", crd)
        assert [event["type"] for event in await stream.rest()] == ["DELETED"]
    assert (await client("GET", endpoints)).status == 404


async def test_stopping_the_server_ends_its_watches() -> None:
    server = ApiServer()
    await server.start()
    async with aiohttp.ClientSession() as session:
        query = {"watch": "true", "resourceVersion": "0"}
        async with session.get(f"{server.url}{CONFIG_MAPS}", params=query) as response:
            async with asyncio.timeout(5):
                await server.stop()
            assert await response.content.read() == b""


async def _list_version(session: aiohttp.ClientSession, server: ApiServer) -> str:
    async with session.get(f"{server.url}{CONFIG_MAPS}") as response:
        return str((await response.json())["metadata"]["resourceVersion"])


async def _create_many(session: aiohttp.ClientSession, server: ApiServer, count: int, **fields: Any) -> None:
    for number in range(count):
        body = {**config_map(f"c{number}"), **fields}
        async with session.post(f"{server.url}{CONFIG_MAPS}", json=body) as response:
            assert response.status == 201, await response.text()
