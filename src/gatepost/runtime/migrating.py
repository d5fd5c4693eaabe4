"""Carries migrations out, one step after the other, each on what the cluster says now.

First all slices are laid, then all Services turned, then all left-overs deleted, with a pause in between: DNS servers
watch Services and slices apart from each other, and must not see a Service turn before the slices that it turns to.
A step that finds something else than it was planned on stops its Service there: every step leaves the name answered,
so stopping anywhere is safe, and planning again goes on from where it stopped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import msgspec
from msgspec import Struct

from gatepost.cluster.calls import Calls
from gatepost.cluster.errors import ApiError, ClusterError
from gatepost.migration.found import form_of, ready_addresses
from gatepost.migration.values import CheckSlices, DeleteObject, LaySlice, Migration, Step, TurnService
from gatepost.objects.core import EndpointSlice, Service
from gatepost.objects.kinds import typed
from gatepost.objects.meta import KubernetesObject, controller_of
from gatepost.objects.problems import Problem, UnreadableObject
from gatepost.objects.refs import Ref
from gatepost.writes.requests import Request, apply_requests, delete_request

Raw = dict[str, Any]

CHANGED_MEANWHILE = "ChangedMeanwhile"
NOT_TAKEN = "NotTaken"
CLUSTER_REFUSED = "ClusterRefused"

_AGAIN = "Its name is answered as before; run this again to plan anew."


class Carried(Struct, frozen=True):
    """How far one Service came. `stopped` says why it did not go on, None if all its steps are done."""

    service: Ref
    done: tuple[Step, ...]
    stopped: Problem | None = None


class _Move:
    """One Service on its way."""

    def __init__(self, migration: Migration) -> None:
        self.migration = migration
        self.done: list[Step] = []
        self.stopped: Problem | None = None

    @property
    def next_step(self) -> Step:
        return self.migration.steps[len(self.done)]

    def is_at(self, phase: tuple[type[Step], ...]) -> bool:
        """Whether its next step is of that phase."""
        has_more = self.stopped is None and len(self.done) < len(self.migration.steps)
        return has_more and isinstance(self.next_step, phase)


class _Stopped(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


class Migrator:
    """Moves Services.

    Args:
        told: hears of each step that is done.
        pause_seconds: how long DNS servers get to see what was written before something rests on it.
        wait: how waiting is done.
    """

    def __init__(
        self,
        calls: Calls,
        told: Callable[[Ref, Step], None] = lambda service, step: None,
        pause_seconds: float = 2.0,
        wait: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._calls = calls
        self._told = told
        self._pause_seconds = pause_seconds
        self._wait = wait

    async def carry_out(self, migrations: Iterable[Migration]) -> list[Carried]:
        """Moves those that are due. One that has to stop does not stop the others."""
        moves = [_Move(migration) for migration in migrations if migration.is_due]
        for phase in (LaySlice,), (CheckSlices, TurnService), (DeleteObject,):
            due = [move for move in moves if move.is_at(phase)]
            if due and any(move.done for move in moves):
                await self._wait(self._pause_seconds)
            for move in due:
                while move.is_at(phase):
                    await self._advance(move)
        return [Carried(move.migration.service, tuple(move.done), move.stopped) for move in moves]

    async def _advance(self, move: _Move) -> None:
        step, service = move.next_step, move.migration.service
        try:
            await self._do(step, move.migration)
        except _Stopped as stopped:
            move.stopped = stopped.problem
        except ClusterError as error:
            is_conflict = isinstance(error, ApiError) and error.is_conflict
            reason = CHANGED_MEANWHILE if is_conflict else CLUSTER_REFUSED
            move.stopped = Problem(reason, f"{error}.", service, hint=_AGAIN)
        else:
            move.done.append(step)
            self._told(service, step)

    async def _do(self, step: Step, migration: Migration) -> None:
        service, raw = await self._service(migration)
        if isinstance(step, LaySlice):
            await self._lay(step, service)
        elif isinstance(step, CheckSlices):
            await self._check(step)
        elif isinstance(step, TurnService):
            await self._turn(step, migration, service, raw)
        else:
            await self._delete(step, service)

    async def _lay(self, step: LaySlice, service: Service) -> None:
        _, current = await self._read(step.on)
        self._require_owner(current, service.metadata.uid, step.on)
        for request in apply_requests(step.apply, current):
            await self._calls.send(_bound(request, current))
        laid, _ = await self._read(step.on)
        if not isinstance(laid, EndpointSlice) or ready_addresses(laid) != step.addresses:
            raise _taken_otherwise(step.on, "endpoints", f"does not hold {', '.join(step.addresses)} after the write.")

    async def _check(self, step: CheckSlices) -> None:
        held: set[str] = set()
        for ref in step.slices:
            slice_, _ = await self._read(ref)
            if isinstance(slice_, EndpointSlice):
                held.update(ready_addresses(slice_))
        missing = sorted(set(step.addresses) - held)
        if missing:
            raise _changed(step.on, "", f"its slices lack {', '.join(missing)}.")

    async def _turn(self, step: TurnService, migration: Migration, service: Service, raw: Raw) -> None:
        self._require_form(service, step.before)
        patch = {"spec": step.spec, "metadata": {"resourceVersion": raw["metadata"]["resourceVersion"]}}
        await self._calls.send(Request("merge", step.on, patch))
        turned, _ = await self._service(migration)
        has_ip = step.after != "Allocated" or turned.spec.cluster_ip
        if form_of(turned) != step.after or not has_ip:
            raise _taken_otherwise(step.on, "spec.type", f"is {form_of(turned)} after the write, wanted {step.after}.")

    async def _delete(self, step: DeleteObject, service: Service) -> None:
        self._require_form(service, step.form)
        _, current = await self._read(step.on)
        owner = controller_of(service)
        is_slice = step.on.kind == EndpointSlice.KIND.kind
        self._require_owner(current, service.metadata.uid if is_slice else owner.uid if owner else "", step.on)
        request = delete_request(step.delete, current)
        if request is not None and current is not None:
            preconditions = {**request.body["preconditions"], "resourceVersion": current["metadata"]["resourceVersion"]}
            body = {**request.body, "preconditions": preconditions}
            await self._calls.send(Request(request.kind, request.ref, body))

    # What is there now

    async def _service(self, migration: Migration) -> tuple[Service, Raw]:
        """The Service, if it still is the one that the plan is about."""
        service, raw = await self._read(migration.service)
        if not isinstance(service, Service) or raw is None:
            raise _changed(migration.service, "", "is gone.")
        if service.metadata.uid != migration.uid or service.metadata.deletion_timestamp is not None:
            raise _changed(migration.service, "metadata.uid", "is another one than was planned for, or goes.")
        return service, raw

    async def _read(self, ref: Ref) -> tuple[KubernetesObject | None, Raw | None]:
        answer = await self._calls.read(ref)
        if answer is None:
            return None, None
        raw: Raw = msgspec.json.decode(answer)
        try:
            return typed({"apiVersion": "v1", "kind": ref.kind, **raw}), raw
        except UnreadableObject as error:
            raise _changed(ref, error.problem.field, f"{error.problem.message}.") from error

    def _require_form(self, service: Service, form: str) -> None:
        if form_of(service) != form:
            raise _changed(service.ref, "spec.type", f"is {form_of(service)}, wanted {form}.")

    def _require_owner(self, raw: Raw | None, uid: str, ref: Ref) -> None:
        """An object that is there must be controlled by the one with this UID."""
        owners = (raw or {}).get("metadata", {}).get("ownerReferences") or []
        if raw is not None and not any(owner.get("controller") and owner.get("uid") == uid for owner in owners):
            raise _changed(ref, "metadata.ownerReferences", "belongs to somebody else now.")


def _bound(request: Request, current: Raw | None) -> Request:
    """The apply, refused by the server unless the object is still as it was read."""
    if current is None or request.kind != "apply":
        return request
    metadata = {**request.body["metadata"], "resourceVersion": current["metadata"]["resourceVersion"]}
    return Request(request.kind, request.ref, {**request.body, "metadata": metadata})


def _changed(ref: Ref, field: str, message: str) -> _Stopped:
    return _Stopped(Problem(CHANGED_MEANWHILE, message, ref, field, _AGAIN))


def _taken_otherwise(ref: Ref, field: str, message: str) -> _Stopped:
    return _Stopped(
        Problem(NOT_TAKEN, message, ref, field, "Somebody else writes it too; find out who before going on.")
    )
