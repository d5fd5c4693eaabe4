"""What is said in the log about the writing of DNS; what comes again with every plan is said once."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from gatepost.dns.inventory import Inventory
from gatepost.dns.plan import Plan, PlannedChange
from gatepost.dns.served import UnreadZone
from gatepost.log_fields import fields
from gatepost.objects.problems import Problem

log = logging.getLogger("gatepost.dns")

_REMEMBERED = 10_000


class ZoneLog:
    """Remembers what has been said."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._former_count: int | None = None

    def say_plan(self, plan: Plan) -> None:
        """What a plan holds back and what cannot be served, each reason once as long as the process lives."""
        if plan.stopped is not None:
            self._say_once(logging.ERROR, "a plan was stopped", str(plan.stopped))
        for held in plan.held:
            what = f"{held.action} {held.record.record_type} {held.record.dns_name}: {held.cause.message}"
            self._say_once(logging.WARNING, "a change is held back", what)
        self.say_problems(plan.problems)

    def say_problems(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            self._say_once(logging.WARNING, "a name cannot be served as wanted", str(problem))

    def say_unread(self, zones: Iterable[UnreadZone]) -> None:
        for zone in zones:
            what = f"{zone.name}: {zone.why}"
            self._say_once(logging.WARNING, "a zone cannot be read, and its records stay as they are", what)

    def say_dry_run(self, changes: Iterable[PlannedChange]) -> None:
        for planned in changes:
            record = planned.record
            what = f"{planned.action} {record.record_type} {record.dns_name} to {', '.join(record.targets)}"
            self._say_once(logging.INFO, "would change a record (dry run)", f"{what} ({_causes(planned)})")

    def say_changes(self, changes: Iterable[PlannedChange]) -> None:
        for planned in changes:
            record = planned.record
            said = fields(
                action=planned.action,
                name=record.dns_name,
                type=record.record_type,
                targets=record.targets,
                cause=_causes(planned),
            )
            log.info("changing a record", extra=said)

    def say_progress(self, holdings: Inventory) -> None:
        """How far the records of a former owner have been taken over, whenever that has changed."""
        count = holdings.former_count()
        if not holdings.former_owner or count == self._former_count:
            return
        self._former_count = count
        message = "records of the former owner are left" if count else "all records of the former owner are taken over"
        log.info(message, extra=fields(former_owner=holdings.former_owner, records=count))

    def _say_once(self, level: int, message: str, what: str) -> None:
        if what not in self._said:
            if len(self._said) > _REMEMBERED:
                self._said.clear()
            self._said.add(what)
            log.log(level, message, extra=fields(what=what))


def _causes(planned: PlannedChange) -> str:
    return "; ".join(f"{cause.kind}: {cause.message}" for cause in planned.causes)
