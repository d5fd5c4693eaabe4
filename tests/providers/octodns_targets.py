"""Targets of octoDNS that files of the tests name: the one of YAML files, with the limits that services have."""

from __future__ import annotations

import importlib
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
