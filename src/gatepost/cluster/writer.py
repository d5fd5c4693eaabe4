"""Makes a wish come true: plans the calls against what is known of the cluster, and sends those that are needed."""

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

import msgspec

from gatepost.cluster.calls import Calls
from gatepost.cluster.errors import ApiError, ClusterError, WriteWithheld
from gatepost.cluster.mirror import Mirror, Unknown
from gatepost.cluster.recorder import EventRecorder
from gatepost.log_fields import fields
from gatepost.objects.refs import Ref
from gatepost.objects.times import timestamp
from gatepost.writes.announcements import applied, deleted, no_finalizers, no_status, not_applied, not_deleted
from gatepost.writes.compare import wanted_object
from gatepost.writes.outcome import Apply, Delete, Event, Outcome, Subject
from gatepost.writes.requests import (
    Request,
    apply_requests,
    delete_request,
    finalizers_request,
    status_request,
)
from gatepost.writes.steps import FinalizersStep, StatusStep, first_steps, last_steps

log = logging.getLogger("gatepost.writes")

Raw = dict[str, Any]

_SERVERS_OWN = ("resourceVersion", "managedFields", "generation")


class Conflict(Exception):
    """Somebody else changed an object in between. It has been read anew; the wish should be looked at again."""

    def __init__(self, ref: Ref, error: ApiError) -> None:
        super().__init__(f"{ref}: {error.message}")
        self.ref = ref


class _ObjectGone(Conflict):
    """The object is no longer there. For its own status and finalizers that settles the matter."""


class Writer:
    """Carries outcomes out. It holds no wish of its own, and sends nothing where nothing differs."""

    def __init__(self, calls: Calls, mirror: Mirror, recorder: EventRecorder, now: Callable[[], datetime]) -> None:
        self._calls = calls
        self._mirror = mirror
        self._recorder = recorder
        self._now = now
        self._settled: dict[Ref, tuple[Apply, bytes]] = {}
        self.counts: Counter[tuple[str, str, str]] = Counter()  # of calls by kind, call and result
        self.withheld: dict[tuple[Ref, str, str], Request] = {}

    async def carry_out(self, outcome: Outcome) -> None:
        """Sends what the outcome needs, in the order of `writes.steps`. Its events are told apart from it, see `tell`.

        Raises: Conflict, ClusterError. Calling again with the same outcome does what is left.
        """
        failures: dict[Ref, ApiError] = {}
        for first in first_steps(outcome):
            if isinstance(first, Apply):
                await self._apply(first, failures)
            else:
                await self._write_finalizers(first, outcome.about)
        for last in last_steps(outcome, failures):
            if isinstance(last, Delete):
                await self._delete(last)
            elif isinstance(last, FinalizersStep):
                await self._write_finalizers(last, outcome.about)
            else:
                await self._write_status(last, outcome.about)
        if failures:
            raise next(iter(failures.values()))

    async def tell(self, events: Iterable[Event]) -> None:
        """Writes events. One that cannot be written is dropped."""
        for event in events:
            await self._recorder.record(event)

    async def _apply(self, apply: Apply, failures: dict[Ref, ApiError]) -> None:
        ref = apply.ref
        current: Raw | None = None
        try:
            current = await self._current(ref)
            if current is not None and self._is_settled(ref, apply, current):
                return
            requests = apply_requests(apply, current)
            for request in requests:
                await self._send(request)
        except ApiError as error:
            failures[ref] = error
            await self.tell(not_applied(apply, error.message, is_new=current is None))
            return
        if requests:
            self._remember(ref, apply)
            await self.tell(applied(apply, is_new=current is None))

    async def _delete(self, delete: Delete) -> None:
        current = await self._current(delete.ref)
        request = delete_request(delete, current)
        if request is None:
            return
        log.info("deleting an object", extra=fields(ref=delete.ref, cause=delete.cause))
        try:
            with contextlib.suppress(_ObjectGone):
                await self._send(request)
        except ApiError as error:
            await self.tell(not_deleted(delete, error.message))
            raise
        await self.tell(deleted(delete))

    async def _write_finalizers(self, step: FinalizersStep, about: Subject | None) -> None:
        current = await self._current(step.ref)
        if current is None:
            return
        present = current["metadata"].get("finalizers") or ()
        request = finalizers_request(step.ref, step.after(present), current)
        await self._update(request, lambda why: no_finalizers(about, step.ref, why))

    async def _write_status(self, step: StatusStep, about: Subject | None) -> None:
        current = await self._current(step.ref)
        if current is None:
            return
        request = status_request(step.ref, step.wish, current, timestamp(self._now()))
        await self._update(request, lambda why: no_status(about, step.ref, why))

    async def _update(self, request: Request | None, told: Callable[[str], list[Event]]) -> None:
        """Sends a call about an object that may go meanwhile. Args: told: what is told if it is refused, and why."""
        if request is None:
            return
        try:
            await self._send(request)
        except _ObjectGone:
            return
        except ApiError as error:
            await self.tell(told(error.message))
            raise

    # One call

    async def _send(self, request: Request) -> None:
        """Sends a call and takes in the answer. A dry run notes the call instead. Raises: Conflict, ClusterError."""
        with self._mirror.call(request.ref):
            try:
                answer = await self._calls.send(request)
            except WriteWithheld:
                self._withhold(request)
                return
            except ApiError as error:
                self._count(request, "conflict" if error.is_conflict else "error")
                await self._look_after(request, error)
                raise
            except ClusterError:
                self._count(request, "error")
                raise
            self._count(request, "ok")
            if request.kind != "delete":
                self._mirror.read_back(request.ref, answer)
        log.info("wrote an object", extra=_fields_of(request))

    def _count(self, request: Request, result: str) -> None:
        call = f"{request.kind}/{request.subresource}" if request.subresource else request.kind
        self.counts[request.ref.kind, call, result] += 1

    async def _look_after(self, request: Request, error: ApiError) -> None:
        """Reads an object anew whose write was refused because it is not as it was thought to be. Raises: Conflict."""
        if error.is_conflict:
            await self._read_anew(request.ref)
            raise Conflict(request.ref, error) from error
        if error.is_not_found and request.kind != "create" and await self._read_anew(request.ref) is None:
            raise _ObjectGone(request.ref, error) from error

    def _withhold(self, request: Request) -> None:
        place = (request.ref, request.kind, request.subresource)
        if self.withheld.get(place) != request:  # the same wish comes again with every change around it
            self.withheld[place] = request
            log.info("would write (dry run)", extra=_fields_of(request, body=request.body))

    async def _current(self, ref: Ref) -> Raw | None:
        known = self._mirror.current(ref)
        if isinstance(known, Unknown):
            return await self._read_anew(ref)
        return known

    async def _read_anew(self, ref: Ref) -> Raw | None:
        with self._mirror.call(ref):
            raw = await self._calls.read(ref)
            if raw is None:
                self._mirror.read_back_gone(ref)
                return None
            return self._mirror.read_back(ref, raw)

    # Objects that the server completes

    def _remember(self, ref: Ref, apply: Apply) -> None:
        """Notes what the server made of a wish, if it is not the wish itself.

        A server fills in defaults. Where we own a part whole, they look like left-overs that have to go, for ever.
        """
        self._settled.pop(ref, None)
        current = self._mirror.current(ref)
        if isinstance(current, dict) and wanted_object(apply, current) != current:
            self._settled[ref] = (apply, _content(current))

    def _is_settled(self, ref: Ref, apply: Apply, current: Raw) -> bool:
        settled = self._settled.get(ref)
        return settled is not None and settled[0] == apply and settled[1] == _content(current)


def _fields_of(request: Request, **more: Any) -> dict[str, dict[str, Any]]:
    return fields(ref=request.ref, call=request.kind, subresource=request.subresource, **more)


def _content(raw: Raw) -> bytes:
    """An object without what moves by itself."""
    metadata = {key: value for key, value in raw["metadata"].items() if key not in _SERVERS_OWN}
    body = {key: value for key, value in raw.items() if key not in ("status", "apiVersion")}
    return msgspec.json.encode({**body, "metadata": metadata}, order="sorted")
