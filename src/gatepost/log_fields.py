"""What varies in a log line, so that its message can stay constant; `runtime/logs.py` writes both."""

from __future__ import annotations

from typing import Any


def fields(**values: Any) -> dict[str, dict[str, Any]]:
    """The `extra` of a log call."""
    return {"fields": values}
