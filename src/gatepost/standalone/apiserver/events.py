"""Events do not stay: kube-apiserver forgets them after an hour, or every cluster would fill up with them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from gatepost.kubernetes.values import Raw, mapping_at
from gatepost.objects.refs import GroupKind, Ref, ref_of

EVENT_KINDS = (GroupKind("", "Event"), GroupKind("events.k8s.io", "Event"))
KEPT_FOR = timedelta(hours=1)


def outlived(events: Iterable[Raw], now: datetime) -> list[Ref]:
    """The events whose last sign of life is longer ago than they are kept."""
    return [ref_of(event) for event in events if now - _last_seen(event, now) > KEPT_FOR]


def _last_seen(event: Raw, now: datetime) -> datetime:
    stamps = (
        mapping_at(event, "series").get("lastObservedTime"),
        event.get("lastTimestamp"),
        event.get("deprecatedLastTimestamp"),
        event.get("eventTime"),
        event["metadata"].get("creationTimestamp"),
    )
    seen = [moment for stamp in stamps if (moment := _moment(stamp)) is not None]
    return max(seen, default=now)


def _moment(stamp: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(stamp))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
