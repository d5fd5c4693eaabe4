"""What is answered is kept: over restarts, over SIGKILL, over a torn last line."""

from __future__ import annotations

import asyncio
import signal
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gatepost.standalone.apiserver import journal as journal_module
from gatepost.standalone.apiserver.errors import DataDirDamaged, DataDirInUse, DataDirUnusable
from gatepost.standalone.apiserver.server import ApiServer

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = {"Content-Type": "application/merge-patch+json"}


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


@asynccontextmanager
async def served(data_dir: Path) -> AsyncIterator[tuple[ApiServer, aiohttp.ClientSession]]:
    async with ApiServer(data_dir=data_dir) as server, aiohttp.ClientSession(server.url) as session:
        yield server, session


async def config_maps(session: aiohttp.ClientSession) -> Any:
    async with session.get(CONFIG_MAPS) as response:
        return await response.json()


async def create(session: aiohttp.ClientSession, name: str, **data: str) -> Any:
    async with session.post(CONFIG_MAPS, json=config_map(name, **data)) as response:
        assert response.status == 201, await response.text()
        return await response.json()


async def delete(session: aiohttp.ClientSession, name: str) -> None:
    async with session.delete(f"{CONFIG_MAPS}/{name}") as response:
        assert response.status == 200, await response.text()


@asynccontextmanager
async def process(data_dir: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    program = Path(__file__).with_name("running.py")
    running = await asyncio.create_subprocess_exec(
        sys.executable, str(program), str(data_dir), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        assert running.stdout is not None
        async with asyncio.timeout(30):
            url = (await running.stdout.readline()).decode().strip()
        yield running, url
    finally:
        if running.returncode is None:
            running.kill()
        await running.communicate()


async def test_objects_and_the_version_counter_outlive_a_restart(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, session):
        await create(session, "a", k="v")
        await create(session, "b")
        await delete(session, "b")
        before = await config_maps(session)
    async with served(tmp_path) as (_, session):
        after = await config_maps(session)
        assert after == before
        fresh = await create(session, "c")
    assert int(fresh["metadata"]["resourceVersion"]) == int(before["metadata"]["resourceVersion"]) + 1


async def test_watch_from_before_a_restart_has_to_list_again(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, session):
        old = (await create(session, "a"))["metadata"]["resourceVersion"]
        await create(session, "b")
    query = {"watch": "true", "resourceVersion": old}
    async with served(tmp_path) as (_, session), session.get(CONFIG_MAPS, params=query) as response:
        assert response.status == 410


async def test_every_answered_write_outlives_sigkill(tmp_path: Path) -> None:
    answered: dict[str, str] = {}
    deleted: set[str] = set()
    enough = asyncio.Event()
    async with process(tmp_path) as (running, url), aiohttp.ClientSession(url) as session:

        async def write_on(worker: int) -> None:
            for number in range(10_000):
                name = f"w{worker}-{number}"
                created = await create(session, name)
                answered[name] = created["metadata"]["resourceVersion"]
                if len(answered) == 150:
                    enough.set()
                if number % 3 == 2:
                    del answered[name]
                    await delete(session, name)
                    deleted.add(name)

        async def kill_in_the_middle() -> None:
            await enough.wait()
            running.send_signal(signal.SIGKILL)

        workers = [write_on(worker) for worker in range(8)]
        ends = await asyncio.gather(*workers, kill_in_the_middle(), return_exceptions=True)
        assert all(isinstance(end, aiohttp.ClientError) for end in ends[:-1]), ends
        assert ends[-1] is None
    async with served(tmp_path) as (_, session):
        kept = await config_maps(session)
    found = {raw["metadata"]["name"]: raw["metadata"]["resourceVersion"] for raw in kept["items"]}
    # A write that was on its way when the process died may be there or not; one that was answered must be.
    assert {name: found.get(name) for name in answered} == answered
    assert not deleted & found.keys()
    assert int(kept["metadata"]["resourceVersion"]) >= max(map(int, answered.values()))


async def test_deletion_that_was_answered_stays_deleted_after_sigkill(tmp_path: Path) -> None:
    async with process(tmp_path) as (running, url), aiohttp.ClientSession(url) as session:
        await create(session, "a")
        await delete(session, "a")
        running.send_signal(signal.SIGKILL)
    async with served(tmp_path) as (_, session):
        assert (await config_maps(session))["items"] == []


@pytest.mark.parametrize("torn", [b"0f", b'deadbeef {"rv":9', b'00000000 {"rv":99}\n'])
async def test_torn_last_line_is_cut_off_and_told(tmp_path: Path, torn: bytes) -> None:
    async with served(tmp_path) as (_, session):
        await create(session, "a")
        before = await config_maps(session)
    log = tmp_path / "objects.log"
    log.write_bytes(log.read_bytes() + torn)
    async with served(tmp_path) as (server, session):
        assert "the last line" in server.recovered
        assert str(log) in server.recovered
        assert await config_maps(session) == before
        await create(session, "b")
    async with served(tmp_path) as (server, session):
        assert server.recovered == ""
        assert [raw["metadata"]["name"] for raw in (await config_maps(session))["items"]] == ["a", "b"]


async def test_damage_in_the_middle_is_refused_with_the_line(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, session):
        await create(session, "a")
        await create(session, "b")
    log = tmp_path / "objects.log"
    lines = log.read_bytes().splitlines(keepends=True)
    lines[-2] = lines[-2].replace(b"ConfigMap", b"ConfigMop")
    log.write_bytes(b"".join(lines))
    with pytest.raises(DataDirDamaged, match=rf"objects\.log, line {len(lines) - 1}: .*checksum"):
        await ApiServer(data_dir=tmp_path).start()
    assert log.read_bytes() == b"".join(lines), "what could not be read is left as it is"


@pytest.mark.parametrize("reopened", [False, True], ids=["changes", "objects-of-a-rewritten-log"])
async def test_a_missing_line_is_refused(tmp_path: Path, reopened: bool) -> None:
    async with served(tmp_path) as (_, session):
        for name in "abcd":
            await create(session, name)
    if reopened:
        async with served(tmp_path) as (_, session):  # the log is written anew, with the objects as they are
            await create(session, "e")
    log = tmp_path / "objects.log"
    lines = log.read_bytes().splitlines(keepends=True)
    for missing in range(len(lines) - 4, len(lines) - 1):  # that the last line is missing cannot be seen
        log.write_bytes(b"".join(lines[:missing] + lines[missing + 1 :]))
        with pytest.raises(DataDirDamaged, match=r"objects\.log, line \d+: .*missing"):
            await ApiServer(data_dir=tmp_path).start()
    log.write_bytes(b"".join(lines))
    async with served(tmp_path) as (_, session):
        assert [raw["metadata"]["name"] for raw in (await config_maps(session))["items"]] == list(
            "abcde" if reopened else "abcd"
        )


async def test_file_of_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "objects.log").write_text("something else\n")
    with pytest.raises(DataDirDamaged, match="line 1"):
        await ApiServer(data_dir=tmp_path).start()


async def test_directory_is_used_by_one_process_at_a_time(tmp_path: Path) -> None:
    async with process(tmp_path) as (running, _):
        with pytest.raises(DataDirInUse, match=f"is in use by process {running.pid}"):
            await ApiServer(data_dir=tmp_path).start()
        async with process(tmp_path) as (second, url):
            _, told = await second.communicate()
        assert (url, second.returncode) == ("", 3)
        assert b"is in use by process" in told
    async with served(tmp_path):
        pass  # the lock went with its process


async def test_directory_is_readable_for_its_owner_only(tmp_path: Path) -> None:
    async with served(tmp_path / "data"):
        assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
        assert stat.S_IMODE((tmp_path / "data" / "objects.log").stat().st_mode) == 0o600


async def test_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataDirUnusable, match="cannot be used"):
        await ApiServer(data_dir=tmp_path / "file" / "inside").start()


async def test_failed_disk_fails_the_write_and_every_later_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(tmp_path) as (_, session):
        kept = await create(session, "a")

        def full(_descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(journal_module, "_sync", full)
        for name in ("b", "c"):
            async with session.post(CONFIG_MAPS, json=config_map(name)) as response:
                status = await response.json()
            assert (status["code"], status["reason"]) == (500, "InternalError")
            assert "No space left on device" in status["message"]
        # What could not be kept is not shown either.
        assert [raw["metadata"]["name"] for raw in (await config_maps(session))["items"]] == ["a"]
        assert kept["metadata"]["name"] == "a"
        async with session.get("/readyz") as response:
            assert response.status == 500


async def test_log_is_rewritten_when_it_is_mostly_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "_COMPACT_FROM_BYTES", 200_000)
    async with served(tmp_path) as (_, session):
        await create(session, "gone")
        await create(session, "a")
        await delete(session, "gone")
        written = 0
        for number in range(120):
            patch = {"data": {"blob": f"{number}" + "x" * 20_000}}
            async with session.patch(f"{CONFIG_MAPS}/a", json=patch, headers=MERGE) as response:
                assert response.status == 200
            written += 20_000
        before = await config_maps(session)
        assert (tmp_path / "objects.log").stat().st_size < written / 2
    async with served(tmp_path) as (_, session):
        assert await config_maps(session) == before


async def test_definitions_of_the_user_and_their_objects_are_kept(tmp_path: Path) -> None:
    name = "dnsendpoints.externaldns.k8s.io"
    endpoints = "/apis/externaldns.k8s.io/v1alpha1/namespaces/default/dnsendpoints"
    path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/note"
    patch = [{"op": "add", "path": path, "value": {"type": "string", "default": "mine"}}]
    headers = {"Content-Type": "application/json-patch+json"}
    async with served(tmp_path) as (_, session):
        async with session.patch(f"{CRDS}/{name}", json=patch, headers=headers) as response:
            assert response.status == 200, await response.text()
        async with session.post(endpoints, json={"metadata": {"name": "old"}, "spec": {}}) as response:
            assert (await response.json())["spec"] == {"note": "mine"}
    async with served(tmp_path) as (_, session):
        async with session.post(endpoints, json={"metadata": {"name": "new"}, "spec": {}}) as response:
            assert (await response.json())["spec"] == {"note": "mine"}
        async with session.get(endpoints) as response:
            assert len((await response.json())["items"]) == 2
