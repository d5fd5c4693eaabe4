"""Whatever happens on the way, a reflector ends up with what the server has: cut connections, a short memory."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from scripted import RecordingSink

from gatepost.cluster.client import MERGE_PATCH, Client
from gatepost.cluster.connection import Connection, Server
from gatepost.cluster.discovery import Discovery
from gatepost.cluster.reflector import Reflector, WatchedKind
from gatepost.objects.core import ConfigMap
from gatepost.standalone.apiserver.server import ApiServer

MAPS = "/api/v1/namespaces/default/configmaps"


class CuttingProxy:
    """Passes bytes on in both directions, and cuts each connection after some number of bytes while it is told to."""

    def __init__(self, target_port: int, chance: random.Random) -> None:
        self.is_cutting = True
        self.cuts = 0
        self.port = 0
        self._target_port = target_port
        self._chance = chance
        self._writers: set[asyncio.StreamWriter] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        self._writers |= {writer, there_writer}
        try:
            await asyncio.gather(self._pass_on(reader, there_writer), self._pass_on(there_reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            self.cuts += 1
        finally:
            for end in (writer, there_writer):
                end.transport.abort()
                self._writers.discard(end)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        left = self._chance.randint(500, 6000)
        while chunk := await reader.read(1024):
            left -= len(chunk)
            if self.is_cutting and left < 0:
                writer.write(chunk[: len(chunk) // 2])  # in the middle of whatever it was
                await writer.drain()
                raise ConnectionResetError
            writer.write(chunk)
            await writer.drain()
        writer.close()

    def stop_cutting(self) -> None:
        """From now on everything passes; what is open is cut once more, so that all start afresh."""
        self.is_cutting = False
        for writer in list(self._writers):
            writer.transport.abort()


@asynccontextmanager
async def through_a_cutting_proxy(server: ApiServer, chance: random.Random) -> AsyncIterator[CuttingProxy]:
    proxy = CuttingProxy(int(server.url.rpartition(":")[2]), chance)
    listening = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = listening.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        proxy.stop_cutting()
        listening.close()


async def edit_at_random(client: Client, chance: random.Random) -> None:
    """Creates, changes or deletes one of a few ConfigMaps."""
    name = f"map-{chance.randint(0, 12)}"
    names = {item["metadata"]["name"] for item in json.loads(await client.read(MAPS))["items"]}
    if name not in names:
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "0"}}
        await client.write("POST", MAPS, {}, body)
    elif chance.random() < 0.5:
        await client.write("DELETE", f"{MAPS}/{name}", {}, {})
    else:
        filler = {"data": {"k": str(chance.random()), "filler": "x" * chance.randint(0, 3000)}}
        await client.write("PATCH", f"{MAPS}/{name}", {}, filler, MERGE_PATCH)


async def soon(seconds: float) -> None:
    await asyncio.sleep(min(seconds, 0.002))


@pytest.mark.parametrize("seed", range(4))
async def test_after_any_faults_the_sink_has_what_the_server_has(seed: int) -> None:
    chance = random.Random(seed)
    sink = RecordingSink()
    watched = WatchedKind(ConfigMap.KIND.group_kind, ConfigMap, ("v1",), namespace="default")
    async with (
        ApiServer(window=5) as server,
        Client(Connection(Server(server.url))) as hand,
        through_a_cutting_proxy(server, chance) as proxy,
        Client(Connection(Server(f"http://127.0.0.1:{proxy.port}")), wait=soon) as client,
    ):
        task = asyncio.create_task(Reflector(client, Discovery(client), watched, sink).run())
        for _ in range(120):
            await edit_at_random(hand, chance)
        assert proxy.cuts > 0
        proxy.stop_cutting()
        end = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "the-end"}}
        await hand.write("POST", MAPS, {}, end)
        await sink.until(lambda: "the-end" in sink.names)
        there = {item["metadata"]["name"]: item.get("data", {}) for item in json.loads(await hand.read(MAPS))["items"]}
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    held = {ref.name: obj.data for ref, obj in sink.objects.items() if isinstance(obj, ConfigMap)}
    assert held == there
