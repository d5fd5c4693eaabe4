"""The manifests in `deploy/`, and what their roles grant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[1] / "deploy"

Raw = dict[str, Any]
Right = tuple[str, str, str]
"""API group, resource and verb."""


def objects() -> list[Raw]:
    """All objects, those of files that the kustomization leaves out by default among them."""
    files = [path for path in sorted(FOLDER.glob("*.yaml")) if path.name != "kustomization.yaml"]
    return [raw for path in files for raw in yaml.safe_load_all(path.read_text()) if raw is not None]


def object_of(kind: str, name: str) -> Raw:
    (found,) = [raw for raw in objects() if (raw["kind"], raw["metadata"]["name"]) == (kind, name)]
    return found


def granted(*roles: str, namespace: str | None = None) -> set[Right]:
    """What roles and cluster roles of these names grant together.

    Args: namespace: leaves out the roles of other namespaces; "" for what concerns the whole cluster.
    """
    rules = [
        rule
        for raw in objects()
        if raw["kind"] in ("Role", "ClusterRole") and raw["metadata"]["name"] in roles
        if namespace is None or raw["metadata"].get("namespace") in (None, namespace)
        for rule in raw["rules"]
    ]
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
