"""Moments as Kubernetes writes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_CANONICAL_LENGTH = len("2026-01-01T00:00:00Z")
_RFC_3339 = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[-+]\d\d:\d\d)", re.ASCII)


def timestamp(moment: datetime) -> str:
    """A moment of UTC as metav1.Time: `2026-01-01T00:00:00Z`, in whole seconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def whole_seconds_utc(text: str) -> str | None:
    """A moment in the one form in which moments compare as text: `2026-01-01T00:00:00Z`.

    Returns: None if the text is no moment.
    Source: RFC 3339; metav1.Time, which takes any offset and any fraction, and keeps UTC and whole seconds.
    """
    found = _RFC_3339.fullmatch(text)
    if found is None:
        return None
    try:
        moment = datetime.fromisoformat("".join(found.groups())).astimezone(UTC)
    except (ValueError, OverflowError):  # no such day, or none in UTC
        return None
    return f"{moment.replace(tzinfo=None).isoformat()}Z"


def is_in_canonical_form(text: str) -> bool:
    """Whether a moment is in the form that `whole_seconds_utc` gives, which those of an API server always are."""
    return len(text) == _CANONICAL_LENGTH and text[-1] == "Z"
