"""What the objects behind a record are told about it: that it is published, gone, or refused."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from gatepost.dns.desired import record_set_at
from gatepost.dns.endpoint import Endpoint, EndpointKey, NameKey
from gatepost.dns.plan import CREATE, DELETE, UPDATE, PlannedChange
from gatepost.dns.records import OWNER, RESOURCE
from gatepost.dns.standing import object_behind
from gatepost.objects.kinds import type_for
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.runtime.dns.doubts import is_given_up
from gatepost.state.engine import Engine
from gatepost.writes.outcome import Event, Subject, subject

READY, DELETED, ERROR, GIVEN_UP = "RecordReady", "RecordDeleted", "RecordError", "RecordGivenUp"

_ACTIONS = {CREATE: "Created", UPDATE: "Updated", DELETE: "Deleted"}


class RecordEvents:
    """Words events and problems for the objects that a record comes from.

    | the provider            | reason        | type    | told                       |
    | took it                 | RecordReady   | Normal  | if --events-emit names it  |
    | took it out             | RecordDeleted | Normal  | if --events-emit names it  |
    | took it out on doubt    | RecordGivenUp | Warning | always                     |
    | refused the change      | RecordError   | Warning | always                     |

    Source: external-dns, the reasons of --events-emit; there RecordError is Normal and RecordDeleted never comes.
    """

    def __init__(self, engine: Engine, emitted: Collection[str]) -> None:
        self._engine = engine
        self._emitted = frozenset(emitted)

    def events(self, sent: Iterable[PlannedChange], refused: Collection[EndpointKey]) -> tuple[Event, ...]:
        """What to tell of the changes that were made."""
        return tuple(
            Event(self._subject(ref), type_, reason, message, _ACTIONS[change.action])
            for change in sent
            if change.record.key not in refused
            for type_, reason, message in self._told(change)
            for ref in self._behind(change)
        )

    def problems(
        self, sent: Iterable[PlannedChange], refused: Mapping[EndpointKey, str]
    ) -> dict[NameKey, list[Problem]]:
        """What to tell of the changes that were refused, by name."""
        found: dict[NameKey, list[Problem]] = {}
        for change in sent:
            error = refused.get(change.record.key)
            if error is not None:
                message = f"the DNS provider refused to {change.action} {_described(change.record)}: {error}"
                hint = "It is tried again, later and later."
                problems = (Problem(ERROR, message, ref, hint=hint) for ref in self._behind(change))
                found.setdefault(change.record.name_key, []).extend(problems)
        return found

    def _told(self, change: PlannedChange) -> Iterable[tuple[str, str, str]]:
        if is_given_up(change):
            why = "; ".join(cause.message for cause in change.causes)
            yield "Warning", GIVEN_UP, f"{_described(change.record)} was deleted after --delete-grace: {why}"
        reason = DELETED if change.action == DELETE else READY
        if reason in self._emitted and change.touches_record:
            yield "Normal", reason, f"(gatepost) {_described(change.record)}"

    def _behind(self, change: PlannedChange) -> tuple[Ref, ...]:
        """The objects that want a record; of one that goes, the object that is written down for it."""
        record = change.record
        wanted = record_set_at(self._engine, record.name_key)
        if change.action != DELETE and wanted is not None and wanted.claimants:
            return tuple(claimant.ref for claimant in wanted.claimants)
        ref = object_behind(record.labels.get(RESOURCE, ""))
        return (ref,) if ref is not None else ()

    def _subject(self, ref: Ref) -> Subject:
        """The object, even if it is gone: whoever looks why a name went looks there."""
        obj = self._engine.store.get(ref)
        return subject(obj) if obj is not None else Subject(ref, type_for(ref.group_kind).KIND.api_version)


def _described(record: Endpoint) -> str:
    """As in `record:app.example.com,owner:me,type:A,ttl:300,targets:192.0.2.1`, which tools can take apart.

    Source: external-dns, whose notes begin with its own name in brackets.
    """
    parts = {
        "record": record.dns_name,
        "owner": record.labels.get(OWNER, ""),
        "type": record.record_type,
        "ttl": str(record.record_ttl),
        **({"set-identifier": record.set_identifier} if record.set_identifier else {}),
        "targets": ",".join(record.targets),
    }
    return ",".join(f"{key}:{value}" for key, value in parts.items())
