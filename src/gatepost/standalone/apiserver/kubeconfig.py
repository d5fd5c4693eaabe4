"""A kubeconfig that points kubectl and other clients at the embedded server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

from gatepost.objects.plain_yaml import NotYaml, read_yaml

NAME = "gatepost"


def kubeconfig(url: str) -> dict[str, Any]:
    """One context, no credentials: the server listens on loopback and knows no users."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": {"server": url}}],
        "users": [{"name": NAME, "user": {}}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME, "namespace": "default"}}],
        "current-context": NAME,
        "preferences": {},
    }


def server_in(path: Path) -> str | None:
    """The server that a kubeconfig of ours names; None if there is no such file, or it is not one of ours."""
    try:
        found = read_yaml(path.read_text(encoding="utf-8"))
        server = found["clusters"][0]["cluster"]["server"]
    except (OSError, UnicodeDecodeError, NotYaml, LookupError, TypeError):
        return None
    return server if isinstance(server, str) else None


def holds_something_else(path: Path) -> bool:
    """Whether writing our kubeconfig there would destroy something: the file is there and is none of ours."""
    try:
        text = path.read_text(encoding="utf-8")
        found = read_yaml(text) if text.strip() else None
    except FileNotFoundError:
        return False
    except (OSError, UnicodeDecodeError, NotYaml):
        return True
    return found is not None and not _is_ours(found)


def _is_ours(found: Any) -> bool:
    """Whether all in a kubeconfig has our name, and no credentials; kubectl may have changed the rest."""
    try:
        named = [entry for section in ("clusters", "users", "contexts") for entry in found[section] or ()]
        names = {entry["name"] for entry in named}
        return names == {NAME} and not any(entry.get("user") for entry in found["users"] or ())
    except (LookupError, TypeError, AttributeError):
        return False


def write_kubeconfig(url: str, path: Path) -> None:
    """Writes it for the owner's eyes only, in one step, so that nobody reads half a file.

    Raises: OSError if the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        yaml.safe_dump(kubeconfig(url), file, sort_keys=False)
    fresh.replace(path)
