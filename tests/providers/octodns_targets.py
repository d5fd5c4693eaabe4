"""Targets of octoDNS that files of the tests name: the one of YAML files, with the limits that services have."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

_YamlProvider: Any = importlib.import_module("octodns.provider.yaml").YamlProvider


class HalfwayProvider(_YamlProvider):  # type: ignore[misc]
    """Makes one change after another, and fails at names that begin with "stop"."""

    def _apply(self, plan: Any) -> None:
        changes = list(plan.changes)
        for number, change in enumerate(changes, 1):
            if change.record.name.startswith("stop"):
                raise RuntimeError(f"the service does not want {change.record.name}")
            plan.changes = changes[:number]
            super()._apply(plan)


class AddressesOnlyProvider(_YamlProvider):  # type: ignore[misc]
    """Knows no records but addresses."""

    SUPPORTS = frozenset({"A", "AAAA"})

    def supports(self, record: Any) -> bool:
        return record._type in self.SUPPORTS


class ForgetfulProvider(_YamlProvider):  # type: ignore[misc]
    """Says of names that begin with "left-out" that they need no change."""

    def _include_change(self, change: Any) -> bool:
        return not change.record.name.startswith("left-out")


class RacedProvider(_YamlProvider):  # type: ignore[misc]
    """Somebody else adds the record "raced" to the zone just before octoDNS plans."""

    def plan(self, desired: Any, *given: Any, **named: Any) -> Any:
        (Path(self.directory) / f"{desired.name}yaml").write_text("raced: {type: A, value: 198.51.100.7}\n")
        return super().plan(desired, *given, **named)
