"""A client of the API server, and kubectl, for tests."""

from __future__ import annotations

import asyncio
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp

Write = Callable[[str, str], str]


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
        **query: str,
    ) -> Answer:
        """Sends `body` as JSON, or as it is if it is bytes."""
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
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
