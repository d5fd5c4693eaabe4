"""The warnings that `gatepost run` has left in a cluster, in events on the objects that they are about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from gatepost.cluster.client import Client
from gatepost.cluster.connection import Connection
from gatepost.explain.values import Told
from gatepost.objects.refs import Ref, group_of
from gatepost.writes.requests import MANAGER

_OURS = f"type=Warning,reportingComponent={MANAGER}"


class _Involved(Struct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""

    @property
    def ref(self) -> Ref:
        return Ref(group_of(self.api_version), self.kind, self.namespace, self.name)


class _Event(Struct, rename="camel"):
    involved_object: _Involved = _Involved()
    reason: str = ""
    message: str = ""
    last_timestamp: datetime | None = None


class _Events(Struct):
    items: tuple[_Event, ...] = ()


async def warnings_told(connection: Connection, uids: Mapping[Ref, str], now: datetime) -> tuple[Told, ...]:
    """The warnings about these objects.

    Args: uids: the objects with their UIDs, by which one is told from an earlier one of its name.
    Raises: ClusterError if events cannot be read.
    """
    found: list[Told] = []
    async with Client(connection, dry_run=True) as client:
        for namespace in sorted({ref.namespace or "default" for ref in uids}):
            answer = await client.read(f"/api/v1/namespaces/{namespace}/events", {"fieldSelector": _OURS})
            found += _told_in(msgspec.json.decode(answer, type=_Events), uids, now)
    return tuple(found)


def _told_in(events: _Events, uids: Mapping[Ref, str], now: datetime) -> Iterator[Told]:
    for event in events.items:
        about = event.involved_object
        if event.last_timestamp is None or about.uid != uids.get(about.ref):
            continue
        ago = now - event.last_timestamp.astimezone(UTC)
        minutes = max(0, int(ago.total_seconds() // 60))
        yield Told(about=about.ref, reason=event.reason, message=event.message, minutes_ago=minutes)
