"""Events are forgotten after an hour without a sign of life."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from gatepost.standalone.apiserver.events import outlived

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def event(created: str, **fields: Any) -> dict[str, Any]:
    metadata = {"name": "e", "namespace": "shop", "creationTimestamp": created}
    return {"apiVersion": "v1", "kind": "Event", "metadata": metadata, **fields}


@pytest.mark.parametrize(
    ("raw", "gone"),
    [
        (event("2026-03-01T11:00:00Z"), False),
        (event("2026-03-01T10:59:59Z"), True),
        (event("2026-03-01T08:00:00Z", lastTimestamp="2026-03-01T11:30:00Z"), False),
        (event("2026-03-01T08:00:00Z", series={"lastObservedTime": "2026-03-01T11:30:00.000000Z"}), False),
        (event("2026-03-01T08:00:00Z", eventTime="2026-03-01T09:00:00.000000Z"), True),
        (event("2026-03-01T08:00:00Z", lastTimestamp=None), True),
        (event("when it was"), False),
    ],
)
def test_event_is_kept_for_an_hour_after_it_was_last_seen(raw: dict[str, Any], gone: bool) -> None:
    assert [ref.name for ref in outlived([raw], NOW)] == (["e"] if gone else [])
