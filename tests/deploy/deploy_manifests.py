"""The manifests in `deploy/`, and what their roles grant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from needed_rights import Right

FOLDER = Path(__file__).parents[2] / "deploy"

Raw = dict[str, Any]


def objects() -> list[Raw]:
    """All objects, those of files that the kustomization leaves out by default among them."""
    files = [path for path in sorted(FOLDER.glob("*.yaml")) if path.name != "kustomization.yaml"]
    return [raw for path in files for raw in yaml.safe_load_all(path.read_text()) if raw is not None]


def object_of(kind: str, name: str) -> Raw:
    (found,) = [raw for raw in objects() if (raw["kind"], raw["metadata"]["name"]) == (kind, name)]
    return found


def granted(*roles: str) -> set[Right]:
    """What roles and cluster roles of these names grant together."""
    rules = [
        rule
        for raw in objects()
        if raw["kind"] in ("Role", "ClusterRole") and raw["metadata"]["name"] in roles
        for rule in raw["rules"]
    ]
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
