"""Each command loads the libraries that it uses and no others: that is most of the time that a short command takes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
GATEWAY = str(EXAMPLES / "gateway")
FOR_SERVERS = {"aiohttp", "boto3", "cloudflare", "cryptography", "dns", "prometheus_client"}
FOR_TERMINALS = {"rich"}
FOR_WRITES = {"jsonschema"}


def libraries_loaded_by(*arguments: str) -> set[str]:
    """The first parts of the names of all modules that this call of gatepost imports."""
    command = [sys.executable, "-X", "importtime", "-m", "gatepost", *arguments]
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    names = {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}
    assert "gatepost" in names, done.stderr
    return names


@pytest.mark.parametrize(
    ("arguments", "unused"),
    [
        (("--version",), {*FOR_SERVERS, *FOR_TERMINALS, *FOR_WRITES, "asyncio", "click", "msgspec", "yaml"}),
        (("render", GATEWAY), {*FOR_SERVERS, *FOR_TERMINALS}),
        (("endpoints", GATEWAY), {*FOR_SERVERS, *FOR_TERMINALS, *FOR_WRITES}),
        (("explain", "www.example.com", GATEWAY), {*FOR_SERVERS, *FOR_TERMINALS, *FOR_WRITES}),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_command_loads_no_library_that_it_does_not_use(arguments: tuple[str, ...], unused: set[str]) -> None:
    assert libraries_loaded_by(*arguments) & unused == set()
