"""CustomResourceDefinitions from files: the compact ones that gatepost brings along, and those a user has.

The compact ones have the versions, defaults, validation and printer columns of the published ones, without their
descriptions and CEL rules. A published CRD, loaded from a folder or applied with kubectl, takes the place of its
compact one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from gatepost.kubernetes.crds import InvalidCrd, resource_from_crd
from gatepost.kubernetes.values import Raw
from gatepost.standalone.apiserver.errors import InvalidDefinition

COMPACT_ANNOTATION = "gatepost/definition"
"""Marks a definition that came with gatepost, so that a newer one may take its place."""

_DEFINITIONS = "definitions"


class _Loader(yaml.CSafeLoader):
    """YAML whose timestamps stay texts, as in JSON."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


@cache
def compact_crds() -> tuple[Raw, ...]:
    """The definitions that gatepost brings along, by file and place in it. Not to be changed: shapes are shared."""
    folder = resources.files("gatepost.standalone.apiserver").joinpath(_DEFINITIONS)
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".yaml")), key=lambda file: file.name)
    return tuple(crd for file in files for crd in _crds(Path(file.name), file.read_bytes()))


def load_crds(directory: Path) -> list[Raw]:
    """All CustomResourceDefinitions in the *.yaml and *.yml files of a folder and the folders in it, in order.

    Documents of other kinds are passed over, so that a whole release manifest can be given. Where a definition stands
    twice, the later file wins.
    Raises: InvalidDefinition, naming file and document: no folder, no definition in it, broken YAML, or a definition
        that cannot be served.
    """
    if not directory.is_dir():
        raise InvalidDefinition(directory, 0, "is not a folder; wanted one with CustomResourceDefinitions in *.yaml")
    files = sorted(path for path in directory.rglob("*") if path.suffix in (".yaml", ".yml") and path.is_file())
    found: dict[str, Raw] = {}
    for file in files:
        for crd in _crds(file, file.read_bytes()):
            found[crd["metadata"]["name"]] = crd
    if not found:
        raise InvalidDefinition(directory, 0, f"no CustomResourceDefinition in {len(files)} YAML files")
    return list(found.values())


def _crds(file: Path, content: bytes) -> Iterator[Raw]:
    for number, raw in enumerate(_documents(file, content), 1):
        for candidate in _items(raw):
            if not isinstance(candidate, dict) or candidate.get("kind") != "CustomResourceDefinition":
                continue
            if candidate.get("apiVersion") != "apiextensions.k8s.io/v1":
                found = candidate.get("apiVersion")
                raise InvalidDefinition(file, number, f"apiVersion is {found!r}, wanted apiextensions.k8s.io/v1")
            try:
                resource_from_crd(candidate)
            except InvalidCrd as error:
                raise InvalidDefinition(file, number, str(error)) from error
            yield candidate


def _items(raw: Any) -> list[Any]:
    if isinstance(raw, dict) and raw.get("kind") == "List" and isinstance(raw.get("items"), list):
        return list(raw["items"])
    return [raw]


def _documents(file: Path, content: bytes) -> list[Any]:
    documents: list[Any] = []
    try:
        for raw in yaml.load_all(content, Loader=_Loader):
            documents.append(raw)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InvalidDefinition(file, len(documents) + 1, f"is not YAML: {error}") from error
    return documents
