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


def print_table(heading: Sequence[str], rows: Sequence[Sequence[str]], *, always: Sequence[str]) -> None:
    """Prints a table, see `table`."""
    sys.stdout.write(table(heading, rows, always=always))


def table(heading: Sequence[str], rows: Sequence[Sequence[str]], *, always: Sequence[str]) -> str:
    """Columns of equal width, without those that no row fills; nothing at all if there are no rows.

    Args: always: headings of columns that are there even when empty.
    """
    if not rows:
        return ""
    columns = [index for index, name in enumerate(heading) if name in always or any(row[index] for row in rows)]
    widths = [max(len(row[index]) for row in [heading, *rows]) for index in columns]
    lines = (
        "  ".join(row[index].ljust(width) for index, width in zip(columns, widths, strict=True)).rstrip()
        for row in [heading, *rows]
    )
    return "".join(f"{line}\n" for line in lines)
