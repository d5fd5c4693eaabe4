"""How commands print objects: YAML documents for people and kubectl, a JSON list for programs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from gatepost.manifests import dump_yaml


def print_objects(objects: Sequence[Mapping[str, Any]], output: str) -> None:
    """Prints raw objects to stdout as `output` ("yaml" or "json") says."""
    if output == "yaml":
        dump_yaml(objects, sys.stdout)
    else:
        print_json(objects)


def print_json(value: Any) -> None:
    """Prints a value as indented JSON."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
