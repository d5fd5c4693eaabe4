"""Traefik as a child process: start, readiness, end."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from gatepost.standalone.dataplane import launch
from gatepost.standalone.dataplane.traefik import (
    DataplanePorts,
    clean_environment,
    find_traefik,
    static_configuration,
)
from gatepost.standalone.errors import ChildExitedError, NotReadyError, StandaloneError
from gatepost.standalone.ports import require_free

_PROGRAM = "Traefik"
_KEPT_LINES = 200
_TOLD_LINES = 10
_MAX_LINE_OCTETS = 1 << 20
_READY_POLL_SECONDS = 0.05
_STOP_GRACE_SECONDS = 5.0


class Exit(Struct, frozen=True):
    """How the child ended: `code` is its exit code, or the signal that ended it as a negative number."""

    code: int
    last_lines: tuple[str, ...]


class Dataplane:
    """A gateway on loopback that serves the routes of a Kubernetes API. It ends with this process, however that ends.

    Args:
        api_url: of the Kubernetes API, such as "http://127.0.0.1:6443".
        token: bearer token for it.
        ports: to listen on; `gateway_objects` must be given the same ones.
        host: address to listen on, also told as the address of the Gateways.
        binary: the Traefik program; None looks for it (see find_traefik).
        log_file: gets all that Traefik writes; without one only the last lines are kept, in memory.
    """

    def __init__(
        self,
        api_url: str,
        token: str,
        ports: DataplanePorts,
        *,
        host: str = "127.0.0.1",
        binary: Path | None = None,
        log_file: Path | None = None,
    ) -> None:
        self.ports = ports
        self.host = host
        self._configuration = static_configuration(api_url, token, ports, host)
        self._binary = binary
        self._log_file = log_file
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._process: asyncio.subprocess.Process | None = None
        self._end: asyncio.Task[Exit] | None = None

    @property
    def last_lines(self) -> tuple[str, ...]:
        """The end of the log so far."""
        return tuple(self._lines)

    @property
    def pid(self) -> int | None:
        """The process ID of the child; None before the start."""
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Starts the child; it is not ready yet.

        Raises: MissingBinaryError, PortTakenError, AddressUnusableError; StandaloneError if it runs already or its
            log cannot be written.
        """
        if self._end is not None and not self._end.done():
            raise StandaloneError(f"{_PROGRAM} runs already; stop it before it is started again.")
        binary = self._binary or find_traefik()
        for name, port in self.ports.entry_points.items():
            require_free(f"gateway, {name} port", port, self.host)
        self._lines.clear()
        log = self._opened_log()
        folder = Path(tempfile.mkdtemp(prefix="gatepost-traefik-"))
        try:
            self._process = await self._spawn(binary, folder)
        except BaseException:
            log.close()
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._end = asyncio.create_task(self._follow(self._process, folder, log), name="gateway log")

    async def wait_ready(self, timeout_seconds: float = 30.0) -> None:
        """Returns once the child answers on its health port. Routes follow as soon as it has read them from the API.

        Raises: ChildExitedError if it ends instead; NotReadyError after the timeout.
        """
        try:
            async with asyncio.timeout(timeout_seconds):
                while not await self._is_healthy():
                    await self._raise_if_ended(_READY_POLL_SECONDS)
        except TimeoutError:
            raise NotReadyError(_PROGRAM, timeout_seconds, self.last_lines[-_TOLD_LINES:]) from None

    async def exited(self) -> Exit:
        """Waits for the end of the child, whoever ended it. Raises: StandaloneError if it was never started."""
        if self._end is None:
            raise StandaloneError(f"{_PROGRAM} has not been started.")
        return await asyncio.shield(self._end)

    async def stop(self, grace_seconds: float = _STOP_GRACE_SECONDS) -> None:
        """Ends the child: asks it (SIGTERM), and after the grace kills it. Does nothing if there is none."""
        if self._process is None or self._end is None:
            return
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            async with asyncio.timeout(grace_seconds):
                await asyncio.shield(self._end)
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await asyncio.shield(self._end)

    async def __aenter__(self) -> Dataplane:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    async def _spawn(self, binary: Path, folder: Path) -> asyncio.subprocess.Process:
        configuration = folder / "traefik.yaml"
        configuration.write_text(json.dumps(self._configuration))  # JSON is YAML
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", launch.__file__, str(os.getpid())),
            *(str(binary), f"--configfile={configuration}"),
            cwd=folder,
            env=clean_environment(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            limit=_MAX_LINE_OCTETS,
            # A Ctrl-C at the terminal goes to its whole process group; the gateway shall end when we stop it, in order.
            start_new_session=True,
        )

    def _opened_log(self) -> BinaryIO:
        try:
            return open(self._log_file or os.devnull, "ab")
        except OSError as error:
            raise StandaloneError(
                f"{_PROGRAM}: cannot write its log to {self._log_file}: {error.strerror}. Choose another file."
            ) from error

    async def _follow(self, process: asyncio.subprocess.Process, folder: Path, log: BinaryIO) -> Exit:
        """Collects the log until the child ends, then clears up behind it."""
        try:
            with log:
                await self._collect(process, log)
            return Exit(await process.wait(), self.last_lines[-_TOLD_LINES:])
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _collect(self, process: asyncio.subprocess.Process, log: BinaryIO) -> None:
        assert process.stdout is not None
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:
                continue  # a line beyond all measure: dropped, the next one is read
            if not line:
                return
            log.write(line)
            log.flush()
            if text := line.decode(errors="replace").strip():
                self._lines.append(text)

    async def _raise_if_ended(self, within_seconds: float) -> None:
        if self._end is None:
            raise StandaloneError(f"{_PROGRAM} has not been started.")
        done, _ = await asyncio.wait([self._end], timeout=within_seconds)
        if done:
            end = self._end.result()
            raise ChildExitedError(_PROGRAM, end.code, end.last_lines)

    async def _is_healthy(self) -> bool:
        try:
            reader, writer = await asyncio.open_connection(self.host, self.ports.health)
        except OSError:
            return False
        try:
            writer.write(b"GET /ping HTTP/1.0\r\n\r\n")
            return b" 200 " in await reader.readline()
        except OSError:
            return False
        finally:
            writer.close()
