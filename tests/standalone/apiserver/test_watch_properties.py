"""List and watch give the same picture, whatever is written meanwhile and however often the watch is dropped."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gatepost.standalone.apiserver.server import ApiServer

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
MERGE = {"Content-Type": "application/merge-patch+json"}
WRITERS = 4
WRITES = 60


class Mirror:
    """What a client believes is there, from one list and the watches after it, each cut off after a few events."""

    def __init__(self, session: aiohttp.ClientSession, selector: str, chance: random.Random) -> None:
        self.session = session
        self.query = {"labelSelector": selector} if selector else {}
        self.chance = chance
        self.objects: dict[str, Any] = {}
        self.version = ""

    async def list(self) -> None:
        async with self.session.get(CONFIG_MAPS, params=self.query) as response:
            listed = await response.json()
        self.objects = {raw["metadata"]["name"]: raw for raw in listed["items"]}
        self.version = listed["metadata"]["resourceVersion"]

    async def follow_until(self, version: int) -> None:
        while int(self.version) < version:
            await self._watch_a_while(version)

    async def _watch_a_while(self, version: int) -> None:
        left = self.chance.randint(1, 40)
        query = {**self.query, "watch": "true", "allowWatchBookmarks": "true", "resourceVersion": self.version}
        async with self.session.get(CONFIG_MAPS, params=query) as response:
            assert response.status == 200, await response.text()
            async for line in response.content:
                self._take(json.loads(line))
                left -= 1
                if left == 0 or int(self.version) >= version:
                    return

    def _take(self, event: Any) -> None:
        metadata = event["object"]["metadata"]
        assert int(metadata["resourceVersion"]) >= int(self.version), "events come in order"
        self.version = metadata["resourceVersion"]
        name = metadata.get("name", "")
        match event["type"]:
            case "ADDED":
                assert name not in self.objects
                self.objects[name] = event["object"]
            case "MODIFIED":
                assert name in self.objects
                self.objects[name] = event["object"]
            case "DELETED":
                del self.objects[name]


async def write_at_random(session: aiohttp.ClientSession, chance: random.Random) -> None:
    for _ in range(WRITES):
        name = f"c{chance.randint(0, 9)}"
        labels = {"tier": chance.choice(("web", "db"))}
        match chance.choice(("create", "label", "data", "delete")):
            case "create":
                body: Any = {"metadata": {"name": name, "labels": labels}}
                request = session.post(CONFIG_MAPS, json=body)
            case "label":
                request = session.patch(f"{CONFIG_MAPS}/{name}", json={"metadata": {"labels": labels}}, headers=MERGE)
            case "data":
                body = {"data": {"n": str(chance.random())}}
                request = session.patch(f"{CONFIG_MAPS}/{name}", json=body, headers=MERGE)
            case _:
                request = session.delete(f"{CONFIG_MAPS}/{name}")
        async with request as response:
            assert response.status in (200, 201, 404, 409), await response.text()


@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "on disk"])
@pytest.mark.parametrize("seed", range(3))
async def test_list_and_watch_mirror_the_server(tmp_path: Path, kept: bool, seed: int) -> None:
    data_dir = tmp_path if kept else None
    async with (
        ApiServer(data_dir=data_dir, bookmark_seconds=0.05) as server,
        aiohttp.ClientSession(server.url) as session,
    ):
        mirrors = [
            Mirror(session, selector, random.Random(f"{seed} {selector} {number}"))
            for number in range(2)
            for selector in ("", "tier=web", "tier!=web")
        ]
        for mirror in mirrors:
            await mirror.list()
        writers = [write_at_random(session, random.Random(f"{seed} {writer}")) for writer in range(WRITERS)]
        following = asyncio.gather(*(mirror.follow_until(10**9) for mirror in mirrors[:3]))
        await asyncio.gather(*writers)
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following
        truth = Mirror(session, "", random.Random(seed))
        await truth.list()
        for mirror in mirrors:
            await mirror.follow_until(int(truth.version))
            assert mirror.objects == _selected(truth.objects, mirror.query.get("labelSelector", ""))


def _selected(objects: dict[str, Any], selector: str) -> dict[str, Any]:
    if not selector:
        return objects
    wanted = selector == "tier=web"
    return {
        name: raw for name, raw in objects.items() if (raw["metadata"].get("labels", {}).get("tier") == "web") is wanted
    }
