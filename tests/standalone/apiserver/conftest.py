"""A running API server, and kubectl pointed at it."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest

from gatepost.standalone.apiserver.server import ApiServer

OLDEST_KUBECTL = (1, 27)


class Answer(NamedTuple):
    """The answer to one request; `body` is decoded JSON."""

    status: int
    body: Any
    headers: dict[str, str]


class Client:
    """Requests to one server, as a program would send them."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url = url
        self.session = session

    async def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        accept: str = "application/json",
        raw: bytes | None = None,
        **query: str,
    ) -> Answer:
        content = raw if raw is not None else None if body is None else json.dumps(body).encode()
        headers = {"Accept": accept, "User-Agent": "tester/1.0"}
        if content is not None:
            headers["Content-Type"] = content_type
        data = io.BytesIO(content) if content is not None else None
        async with self.session.request(method, self.url + path, data=data, params=query, headers=headers) as response:
            text = await response.text()
            decoded = json.loads(text) if "json" in response.headers.get("Content-Type", "") else text
            return Answer(response.status, decoded, dict(response.headers))

    async def created(self, path: str, body: Any) -> Any:
        answer = await self("POST", path, body)
        assert answer.status == 201, answer.body
        return answer.body


@pytest.fixture
async def server() -> AsyncIterator[ApiServer]:
    async with ApiServer() as running:
        yield running


@pytest.fixture
async def client(server: ApiServer) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        yield Client(server.url, session)


class Ran(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


class Kubectl:
    """kubectl with a configuration and a cache of its own."""

    def __init__(self, program: str, home: Path, config: Path) -> None:
        self.program = program
        self.home = home
        self.environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(home),
            "KUBECONFIG": str(config),
            "KUBECACHEDIR": str(home / "cache"),
        }

    async def __call__(self, *arguments: str, given: str = "", **environment: str) -> Ran:
        process = await self.start(*arguments, **environment)
        out, err = await process.communicate(given.encode())
        return Ran(process.returncode or 0, out.decode(), err.decode())

    async def ok(self, *arguments: str, given: str = "", **environment: str) -> str:
        """The output of a command that must succeed."""
        ran = await self(*arguments, given=given, **environment)
        assert ran.code == 0, f"kubectl {' '.join(arguments)}: {ran.err or ran.out}"
        return ran.out

    async def start(self, *arguments: str, **environment: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            self.program,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**self.environment, **environment},
        )


@cache
def kubectl_problem() -> str:
    """Why kubectl cannot be used here; "" if it can."""
    program = shutil.which("kubectl")
    if program is None:
        return "kubectl is not installed"
    shown = subprocess.run([program, "version", "--client"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"v(\d+)\.(\d+)", shown)
    if found is None or (int(found[1]), int(found[2])) < OLDEST_KUBECTL:
        return f"kubectl is older than {OLDEST_KUBECTL[0]}.{OLDEST_KUBECTL[1]}: {shown.strip()}"
    return ""


@pytest.fixture
def kubectl(server: ApiServer, tmp_path: Path) -> Kubectl:
    if problem := kubectl_problem():
        pytest.skip(problem)
    config = tmp_path / "kubeconfig"
    server.write_kubeconfig(config)
    return Kubectl(shutil.which("kubectl") or "", tmp_path, config)


@pytest.fixture(scope="session")
def published_crds() -> Path:
    """A folder with CRDs as their projects publish them."""
    beside = Path(__file__).parents[4] / "shared" / "crds"
    folder = Path(os.environ.get("GATEPOST_CRDS") or beside)
    if not folder.is_dir():
        pytest.skip(f"no published CRDs at {folder}; set GATEPOST_CRDS to a folder that has them")
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], str]:
    """Writes a manifest; gives its path."""

    def written(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return written


Until = Callable[[Callable[[], Awaitable[bool]]], Awaitable[None]]


@pytest.fixture
def until() -> Until:
    """Waits for a condition, asking again and again."""

    async def wait(condition: Callable[[], Awaitable[bool]]) -> None:
        async with asyncio.timeout(20):
            while not await condition():
                await asyncio.sleep(0.02)

    return wait
