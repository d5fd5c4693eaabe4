"""Logs: a constant message and fields, as text for people or JSON for machines."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec


class TextFormatter(logging.Formatter):
    """`2026-03-01T00:00:00Z INFO wrote an object ref="Ingress shop/app" call=apply`"""

    def format(self, record: logging.LogRecord) -> str:
        parts = [_time(record), record.levelname, record.getMessage()]
        parts += [f"{key}={_shown(value)}" for key, value in getattr(record, "fields", {}).items() if value != ""]
        line = " ".join(parts)
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, then the fields."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"time": _time(record), "level": record.levelname, "logger": record.name, "message": record.getMessage()}
        line.update(_plain(getattr(record, "fields", {})))
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()


def set_up_logs(level: str, form: str, stream: TextIO = sys.stderr) -> None:
    """Sends the logs of gatepost to a stream. `form` is "text" or "json"."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    logger = logging.getLogger("gatepost")
    logger.handlers[:] = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _shown(value: Any) -> str:
    plain = _plain(value)
    if isinstance(plain, dict | list):
        return msgspec.json.encode(plain).decode()
    text = str(plain)
    return msgspec.json.encode(text).decode() if not text or any(c in text for c in ' "=\n') else text


def _plain(value: Any) -> Any:
    """The value as JSON knows it; a Ref and the like stand as people write them."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | None) else str(value)
