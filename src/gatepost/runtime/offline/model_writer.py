"""Carries outcomes out on the model of the API server: what `cluster.writer` does with a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gatepost.kubernetes.api import ApiModel
from gatepost.kubernetes.errors import ApiError
from gatepost.objects.refs import Ref
from gatepost.writes.announcements import applied, deleted, not_applied
from gatepost.writes.compare import wanted_object, wanted_status
from gatepost.writes.outcome import Apply, Delete, Event, Outcome
from gatepost.writes.requests import MANAGER
from gatepost.writes.steps import FinalizersStep, StatusStep, first_steps, last_steps

Raw = dict[str, Any]


class ModelWriter:
    """Writes what differs from the wish.

    Args: now: the time that goes into statuses.

    Attributes:
        events: those that were told, each once.
        refusals: objects that could not be written in the end, with what the API server said.
    """

    def __init__(self, model: ApiModel, now: str) -> None:
        self.events: dict[Event, None] = {}
        self.refusals: dict[Ref, str] = {}
        self._model = model
        self._now = now

    def carry_out(self, outcome: Outcome) -> None:
        refused: list[Ref] = []
        for first in first_steps(outcome):
            if isinstance(first, FinalizersStep):
                self._write_finalizers(first)
            elif not self._apply(first):
                refused.append(first.ref)
        for last in last_steps(outcome, refused):
            if isinstance(last, Delete):
                self._delete(last)
            elif isinstance(last, FinalizersStep):
                self._write_finalizers(last)
            else:
                self._write_status(last)
        self._tell(outcome.events)

    def _apply(self, apply: Apply) -> bool:
        current = self._model.find(apply.ref)
        wanted = wanted_object(apply, current)
        if wanted is None or wanted == current:
            return True
        self.refusals.pop(apply.ref, None)
        try:
            if current is None:
                self._model.create(wanted, manager=MANAGER)
            else:
                self._model.replace(wanted, manager=MANAGER)
        except ApiError as error:
            self.refusals[apply.ref] = str(error)
            self._tell(not_applied(apply, str(error), is_new=current is None))
            return False
        self._tell(applied(apply, is_new=current is None))
        return True

    def _delete(self, delete: Delete) -> None:
        current = self._model.find(delete.ref)
        if current is None or (delete.uid and current["metadata"].get("uid") != delete.uid):
            return
        self._model.delete(delete.ref)
        self._tell(deleted(delete))

    def _write_finalizers(self, step: FinalizersStep) -> None:
        current = self._model.find(step.ref)
        if current is None:
            return
        present = tuple(current["metadata"].get("finalizers") or ())
        wanted = step.after(present)
        if wanted != present:
            kept = {key: value for key, value in current["metadata"].items() if key != "finalizers"}
            metadata = {**kept, "finalizers": list(wanted)} if wanted else kept
            self._write_checked(step.ref, {**current, "metadata": metadata})

    def _write_status(self, step: StatusStep) -> None:
        current = self._model.find(step.ref)
        if current is None:
            return
        before = current.get("status") or {}
        status = wanted_status(step.wish, before, self._now)
        if status != before:
            self._write_checked(step.ref, {**current, "status": status}, "status")

    def _write_checked(self, ref: Ref, raw: Raw, subresource: str = "") -> None:
        """Writes to an object of the input. One that no API server would hold still gets told what is wrong with it."""
        try:
            self._model.replace(raw, manager=MANAGER, subresource=subresource)
        except ApiError as error:
            self.refusals[ref] = str(error)
            self._model.load(raw)

    def _tell(self, events: Iterable[Event]) -> None:
        for event in events:
            self.events.setdefault(event, None)
