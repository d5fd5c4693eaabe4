"""Answers as kubectl prints them: a meta.k8s.io Table with a row per object.

Columns of custom kinds are the `additionalPrinterColumns` of their CustomResourceDefinition; columns of the core
kinds are in `columns.py`.
Source: kubernetes.io/docs/reference/using-api/api-concepts, "Receiving resources as Tables".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from gatepost.kubernetes.resources import PrinterColumn
from gatepost.kubernetes.values import Raw
from gatepost.standalone.apiserver.jsonpath import InvalidJSONPath, find

Cell = str | int | float | bool | None

_AGE = PrinterColumn("Age", "date", ".metadata.creationTimestamp")


class Column(msgspec.Struct, frozen=True):
    """One column: how its header reads, and the cell it gives for an object at a moment."""

    name: str
    cell: Callable[[Raw, datetime], Cell]
    type: str = "string"
    format: str = ""
    priority: int = 0
    description: str = ""

    def definition(self) -> Raw:
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        }


def name_of(raw: Raw, _now: datetime) -> Cell:
    return str(raw["metadata"]["name"])


NAME = Column("Name", name_of, format="name")


def age_of(raw: Raw, now: datetime) -> Cell:
    return age(raw["metadata"].get("creationTimestamp"), now)


def printer_columns(printed: Sequence[PrinterColumn]) -> tuple[Column, ...]:
    """NAME and the printer columns of one version of a CustomResourceDefinition; without any, NAME and AGE."""
    return (NAME, *(_printer_column(column) for column in printed or (_AGE,)))


def table(
    objects: Iterable[Raw],
    columns: Sequence[Column],
    now: datetime,
    *,
    include: str = "Metadata",
    list_metadata: Raw | None = None,
) -> Raw:
    """The Table of these objects.

    Args:
        include: what each row carries as `object`: "None", "Metadata" (PartialObjectMetadata) or "Object".
        list_metadata: metadata of the list, such as its resourceVersion.
    """
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": list_metadata or {},
        "columnDefinitions": [column.definition() for column in columns],
        "rows": [_row(raw, columns, now, include) for raw in objects],
    }


def _row(raw: Raw, columns: Sequence[Column], now: datetime, include: str) -> Raw:
    row: Raw = {"cells": [column.cell(raw, now) for column in columns]}
    if include == "Object":
        row["object"] = raw
    elif include == "Metadata":
        row["object"] = {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": raw["metadata"],
        }
    return row


def _printer_column(printed: PrinterColumn) -> Column:
    def cell(raw: Raw, now: datetime) -> Cell:
        try:
            found = find(printed.json_path, raw)
        except InvalidJSONPath:  # an empty cell, as kube-apiserver shows; the object itself is fine
            return None
        # Only the first value counts, also for `[*]` (as kube-apiserver does).
        return _cell(found[0], printed.type, now) if found and found[0] is not None else None

    return Column(
        printed.name,
        cell,
        type=printed.type,
        format=printed.format,
        priority=printed.priority,
        description=printed.description,
    )


def _cell(value: Any, kind: str, now: datetime) -> Cell:
    if kind == "date":
        return age(value, now)
    if kind == "integer":
        return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    if kind == "number":
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()


def age(timestamp: Any, now: datetime) -> str:
    """How long ago a timestamp was, as kubectl shows it: "5s", "3m20s", "2d4h", "1y30d"; "<unknown>" without one."""
    try:
        then = datetime.fromisoformat(timestamp)
    except (TypeError, ValueError):
        return "<unknown>"
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return human_duration(int((now - then).total_seconds()))


def human_duration(seconds: int) -> str:
    """A duration with the two units that matter; small and large ones are rounded down to one.

    Source: k8s.io/apimachinery, util/duration (the steps at which it changes units).
    """
    if seconds < -1:
        return "<invalid>"
    seconds = max(seconds, 0)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return _two(minutes, "m", seconds % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if hours < 192:
        return _two(days, "d", hours % 24, "h")
    if hours < 24 * 365 * 2:
        return f"{days}d"
    if hours < 24 * 365 * 8:
        return _two(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"
