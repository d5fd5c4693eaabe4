"""Tells events to the cluster: each once, repeats as a count, no object more than its share."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime

import msgspec
from msgspec import Struct, field

from gatepost.cluster.calls import Calls
from gatepost.cluster.decoding import head_in
from gatepost.cluster.errors import ApiError, ClusterError, WriteWithheld
from gatepost.objects.refs import Ref
from gatepost.objects.times import timestamp
from gatepost.writes.outcome import Event
from gatepost.writes.requests import event_request, repeated_event_request

REMEMBERED_EVENTS = 4096
BURST = 25
REFILL_SECONDS = 300.0
"""An object may have this many events at once, then one each five minutes. Source: client-go, EventCorrelator."""


QUIET_SECONDS = 600.0
"""An event of an earlier process is left as it is for this long; then a process that tells it again counts it up."""


class _Told(Struct):
    name: str
    namespace: str
    count: int


class _Known(Struct, rename="camel"):
    """What an event in the cluster says of how often it was told."""

    count: int = 0
    last: datetime | None = field(name="lastTimestamp", default=None)

    @classmethod
    def of(cls, raw: bytes) -> _Known:
        try:
            return msgspec.json.decode(raw, type=cls)
        except msgspec.DecodeError:
            return cls()


class _Share(Struct):
    tokens: float
    at: datetime


class EventRecorder:
    """Writes events. An event that cannot be written is dropped: it must not hold up what it tells about."""

    def __init__(self, calls: Calls, now: Callable[[], datetime]) -> None:
        self._calls = calls
        self._now = now
        self._told: OrderedDict[Event, _Told] = OrderedDict()
        self._shares: OrderedDict[Ref, _Share] = OrderedDict()
        self.dropped = 0

    async def record(self, event: Event) -> None:
        """Writes the event, or counts it up if the same one was written before."""
        if not self._is_within_share(event.about.ref):
            self.dropped += 1
            return
        try:
            await self._record(event)
        except WriteWithheld:
            pass
        except ClusterError:
            self.dropped += 1

    async def _record(self, event: Event) -> None:
        now = timestamp(self._now())
        told = self._told.get(event)
        if told is not None:
            try:
                await self._calls.send(repeated_event_request(told.namespace, told.name, told.count + 1, now))
            except ApiError as error:
                if not error.is_not_found:  # events live an hour; then it is a new one
                    raise
            else:
                told.count += 1
                self._told.move_to_end(event)
                return
        self._told[event] = await self._tell_first(event, now)
        if len(self._told) > REMEMBERED_EVENTS:
            self._told.popitem(last=False)

    async def _tell_first(self, event: Event, now: str) -> _Told:
        """Writes an event that this process has not told yet; it may be there from an earlier one."""
        request = event_request(event, now)
        name, namespace = request.ref.name, request.ref.namespace
        try:
            answer = await self._calls.send(request)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise
            return _Told(name, namespace, await self._count_up(request.ref))
        return _Told(_name_in(answer) or name, namespace, 1)

    async def _count_up(self, ref: Ref) -> int:
        """Counts an event up that is in the cluster, unless it was told just now. Returns: its count."""
        known = _Known.of(await self._calls.read(ref) or b"{}")
        now = self._now()
        if known.last is not None and (now - known.last).total_seconds() < QUIET_SECONDS:
            return known.count
        await self._calls.send(repeated_event_request(ref.namespace, ref.name, known.count + 1, timestamp(now)))
        return known.count + 1

    def _is_within_share(self, about: Ref) -> bool:
        now = self._now()
        share = self._shares.pop(about, None) or _Share(BURST, now)
        share.tokens = min(BURST, share.tokens + (now - share.at).total_seconds() / REFILL_SECONDS)
        share.at = now
        self._shares[about] = share
        if len(self._shares) > REMEMBERED_EVENTS:
            self._shares.popitem(last=False)
        if share.tokens < 1:
            return False
        share.tokens -= 1
        return True


def _name_in(answer: bytes) -> str:
    try:
        return head_in(answer).metadata.name
    except msgspec.DecodeError:
        return ""
