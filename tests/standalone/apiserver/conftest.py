"""A running API server, and kubectl pointed at it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path

import aiohttp
import pytest

from apiserver.api_client import Client, Kubectl, Write
from gatepost.standalone.apiserver.server import ApiServer

OLDEST_KUBECTL = (1, 27)


@pytest.fixture
async def server() -> AsyncIterator[ApiServer]:
    async with ApiServer() as running:
        yield running


@pytest.fixture
async def client(server: ApiServer) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        yield Client(server.url, session)


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
def write(tmp_path: Path) -> Write:
    """Writes a manifest; gives its path."""

    def written(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return written
