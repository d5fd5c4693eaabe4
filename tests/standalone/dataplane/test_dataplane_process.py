"""Traefik as a child process, started for real; and programs in its place that misbehave."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from gatepost.standalone.dataplane import Dataplane, DataplanePorts
from gatepost.standalone.dataplane.traefik import find_traefik
from gatepost.standalone.errors import (
    ChildExitedError,
    MissingBinaryError,
    NotReadyError,
    PortTakenError,
    StandaloneError,
)

NO_API = "http://127.0.0.1:1"


def traefik() -> Path:
    try:
        return find_traefik()
    except MissingBinaryError as error:
        pytest.skip(str(error))


def program(folder: Path, shell: str) -> Path:
    path = folder / "program"
    path.write_text("#!/bin/sh\n" + textwrap.dedent(shell))
    path.chmod(0o755)
    return path


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - what other processes do comes with no event
            await asyncio.sleep(0.01)


def command_line(pid: int | None) -> bytes:
    path = Path(f"/proc/{pid}/cmdline")
    return path.read_bytes() if path.exists() else b""


async def test_it_gets_ready_and_stops_in_order(tmp_path: Path) -> None:
    log = tmp_path / "traefik.log"
    dataplane = Dataplane(NO_API, "secret-token", DataplanePorts.free(), binary=traefik(), log_file=log)
    await dataplane.start()
    await dataplane.wait_ready()
    assert b"secret-token" not in command_line(dataplane.pid)
    reader, writer = await asyncio.open_connection("127.0.0.1", dataplane.ports.external)
    writer.write(b"GET / HTTP/1.0\r\nHost: app.example.com\r\n\r\n")
    assert b"404" in await reader.readline()  # listens, and has no route yet
    writer.close()
    await dataplane.stop()
    assert (await dataplane.exited()).code == 0
    assert log.exists()
    await dataplane.stop()  # a second time does nothing


async def test_it_can_be_started_again_but_not_twice(tmp_path: Path) -> None:
    dataplane = Dataplane(NO_API, "t", DataplanePorts.free(), binary=traefik())
    for _ in range(2):
        async with dataplane:
            await dataplane.wait_ready()
            with pytest.raises(StandaloneError, match="runs already"):
                await dataplane.start()


async def test_a_kill_from_outside_is_told_to_who_waits_for_the_end() -> None:
    dataplane = Dataplane(NO_API, "t", DataplanePorts.free(), binary=traefik())
    async with dataplane:
        await dataplane.wait_ready()
        waiting = asyncio.create_task(dataplane.exited())
        assert dataplane.pid is not None
        os.kill(dataplane.pid, signal.SIGKILL)
        async with asyncio.timeout(10):
            assert (await waiting).code == -signal.SIGKILL


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can tie a child to its parent's life")
async def test_it_ends_when_its_parent_is_killed() -> None:
    script = """
        import asyncio, sys
        from pathlib import Path
        from gatepost.standalone.dataplane import Dataplane, DataplanePorts

        async def main():
            dataplane = Dataplane("http://127.0.0.1:1", "t", DataplanePorts.free(), binary=Path(sys.argv[1]))
            await dataplane.start()
            await dataplane.wait_ready()
            print(dataplane.pid, flush=True)
            await dataplane.exited()

        asyncio.run(main())
    """
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", textwrap.dedent(script), str(traefik())), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    child = int(await parent.stdout.readline())
    assert is_running(child)
    parent.kill()
    await parent.wait()
    await until(lambda: not is_running(child))


def is_running(pid: int) -> bool:
    """Whether the process lives; one that ended and waits to be collected does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def test_a_child_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    binary = program(tmp_path, 'echo "cannot parse the configuration"; exit 3')
    async with Dataplane(NO_API, "t", DataplanePorts.free(), binary=binary) as dataplane:
        with pytest.raises(ChildExitedError) as caught:
            await dataplane.wait_ready()
        assert str(caught.value) == (
            "Traefik ended with exit code 3. The last lines of its log:\n  cannot parse the configuration"
        )
        assert caught.value.exit_code == 3
        assert (await dataplane.exited()).last_lines == ("cannot parse the configuration",)


async def test_a_child_that_gets_never_ready_is_told_and_one_that_ignores_the_request_is_killed(
    tmp_path: Path,
) -> None:
    binary = program(tmp_path, "trap '' TERM; echo waiting; while true; do sleep 0.05; done")
    async with Dataplane(NO_API, "t", DataplanePorts.free(), binary=binary) as dataplane:
        await until(lambda: "waiting" in dataplane.last_lines)
        with pytest.raises(NotReadyError) as caught:
            await dataplane.wait_ready(timeout_seconds=0.1)
        assert str(caught.value) == ("Traefik was not ready after 0.1 s. The last lines of its log:\n  waiting")
        await dataplane.stop(grace_seconds=0.1)
        assert (await dataplane.exited()).code == -signal.SIGKILL


async def test_a_line_beyond_all_measure_does_not_stop_the_log(tmp_path: Path) -> None:
    binary = program(tmp_path, "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo after; exit 0")
    async with Dataplane(NO_API, "t", DataplanePorts.free(), binary=binary) as dataplane:
        async with asyncio.timeout(10):
            end = await dataplane.exited()
        assert (end.code, end.last_lines[-1]) == (0, "after")


async def test_a_taken_port_is_told_before_anything_starts() -> None:
    ports = DataplanePorts.free()
    with socket.create_server(("127.0.0.1", ports.local)):
        dataplane = Dataplane(NO_API, "t", ports, binary=Path("/bin/true"))
        with pytest.raises(PortTakenError) as caught:
            await dataplane.start()
    assert str(caught.value) == (
        f"gateway, local port: TCP port {ports.local} on 127.0.0.1 is already taken by another process. "
        "Stop that process, or choose another port (0 chooses a free one)."
    )
    assert dataplane.pid is None


async def test_a_log_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    log = tmp_path / "none" / "traefik.log"
    dataplane = Dataplane(NO_API, "t", DataplanePorts.free(), binary=Path("/bin/true"), log_file=log)
    with pytest.raises(StandaloneError, match=r"cannot write its log to .*: No such file or directory"):
        await dataplane.start()


async def test_waiting_for_what_was_not_started_is_told() -> None:
    dataplane = Dataplane(NO_API, "t", DataplanePorts.free(), binary=Path("/bin/true"))
    with pytest.raises(StandaloneError, match="has not been started"):
        await dataplane.exited()
    with pytest.raises(StandaloneError, match="has not been started"):
        await dataplane.wait_ready()
    await dataplane.stop()
