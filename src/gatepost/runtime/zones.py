"""What a DNS provider holds, what it should hold, and the changes in between: planned, capped, sent, followed."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection
from typing import Any

from msgspec import Struct

from gatepost.dns.claims import RECORD_SETS
from gatepost.dns.desired import record_set_at, record_sets
from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.endpoint import Changes
from gatepost.dns.inventory import Inventory
from gatepost.dns.plan import Held, Plan, PlannedChange, Planner, removes
from gatepost.dns.records import NameKey
from gatepost.dns.registry import changes_for, inventory
from gatepost.dns.settings import DnsSettings
from gatepost.dns.standing import Standings
from gatepost.objects.problems import Problem
from gatepost.objects.refs import GroupKind
from gatepost.providers.contract import GuardingProvider, Provider
from gatepost.runtime.adjusting import adjuster, domains_of
from gatepost.runtime.kinds import KnownKinds
from gatepost.runtime.logs import fields
from gatepost.state.engine import Engine

log = logging.getLogger("gatepost.dns")

REMOVALS_COUNT_SECONDS = 600.0
"""Own records removed within this time count together towards the cap, so that it also stops a slow disaster."""


class Written(Struct, frozen=True):
    """How a write went: `refused` names are to be tried again, `held` ones planned again when anything changes."""

    changes: int = 0
    refused: frozenset[NameKey] = frozenset()
    held: frozenset[NameKey] = frozenset()
    problems: tuple[Problem, ...] = ()
    is_stopped: bool = False


class Zones:
    """The zones of one provider, kept as the engine wants them.

    Args:
        allow: lets plans through however much they remove.
        monotonic: seconds that only grow.
    """

    def __init__(
        self,
        engine: Engine,
        kinds: KnownKinds,
        settings: DnsSettings,
        provider: Provider,
        monotonic: Callable[[], float],
        *,
        dry_run: bool = False,
        allow: bool = False,
    ) -> None:
        self._engine = engine
        self._kinds = kinds
        self._settings = settings
        self._provider = provider
        self._monotonic = monotonic
        self._dry_run = dry_run
        self._allow = allow
        self._inventory: Inventory | None = None
        self._zones: tuple[str, ...] = ()
        self._domains: DomainFilter | None = None
        self._removals: deque[tuple[float, int]] = deque()
        self._said: set[str] = set()

    @property
    def is_listed(self) -> bool:
        return self._inventory is not None

    async def list_anew(self) -> None:
        """Reads what the provider holds. Raises: ProviderError; what was known before then still counts."""
        self._zones = tuple(await self._provider.zones())
        self._domains = await domains_of(self._provider, self._zones)
        self._inventory = inventory(self._settings, await self._provider.records(), self._zones)
        if isinstance(self._provider, GuardingProvider):
            self._provider.guard(self._inventory.names if self._inventory.owner else None)

    async def write(self, names: Collection[NameKey] | None) -> Written:
        """Plans these names, or all, and makes the changes that are allowed.

        Raises: ProviderError if it is not known what was changed: everything has to be listed anew.
        """
        held_inventory = self._inventory
        assert held_inventory is not None
        plan = await self._plan(names, held_inventory)
        self._say_what_is_held(plan)
        changes = changes_for(plan.allowed, held_inventory)
        held = frozenset((held.record.dns_name, held.record.set_identifier) for held in plan.held)
        if not changes:
            return Written(0, frozenset(), held, plan.problems, plan.stopped is not None)
        if self._dry_run:
            for planned in plan.allowed:
                self._say_once(logging.INFO, "would change a record (dry run)", _described(planned))
            return Written(0, frozenset(), held, plan.problems)
        for planned in plan.allowed:
            log.info("changing a record", extra=_fields_of(planned))
        try:
            refused = await self._apply(changes, held_inventory)
        except BaseException:
            self._inventory = None  # it is not known how far this went
            raise
        self._removals.append((self._monotonic(), sum(removes(planned) for planned in plan.allowed)))
        return Written(len(plan.allowed), refused, held, plan.problems)

    async def _plan(self, names: Collection[NameKey] | None, holdings: Inventory) -> Plan:
        if names is None:
            names = {record_set.key for record_set in record_sets(self._engine)} | set(holdings.keys())
        sure = [name for name in names if not self._rests_on_unknown_kinds(name)]
        # What is wanted is looked up before a provider that is far away is asked, and not again after: so what is
        # planned is what it was asked about. A name that changes meanwhile is due again.
        found = ((name, record_set_at(self._engine, name)) for name in sure)
        wanted = {name: record_set for name, record_set in found if record_set is not None}
        adjust = await adjuster(self._provider, wanted.values())
        planner = Planner(self._settings, Standings(self._engine, self._doubtful_kinds()), adjust, self._domains)
        return planner.plan_names(sure, holdings, wanted.get, allow=self._allow, removed_before=self._removed_lately())

    def _doubtful_kinds(self) -> frozenset[str]:
        """While any kind is not known, all are in doubt: without its Gateway, a Route claims nothing either."""
        unknown = self._kinds.unknown
        return frozenset(kind.kind for kind in self._kinds.watched) if unknown else frozenset()

    def _rests_on_unknown_kinds(self, name: NameKey) -> set[GroupKind]:
        return self._kinds.unknown_below(self._engine.rule(RECORD_SETS), name)

    def _removed_lately(self) -> int:
        oldest = self._monotonic() - REMOVALS_COUNT_SECONDS
        while self._removals and self._removals[0][0] < oldest:
            self._removals.popleft()
        return sum(count for _, count in self._removals)

    async def _apply(self, changes: Changes, holdings: Inventory) -> frozenset[NameKey]:
        """Sends changes and follows them. Returns: the names of which something was refused."""
        results = await self._provider.apply(changes)
        refused = {result.key: result.error for result in results if result.error}
        holdings.take(changes, refused)
        for key, error in refused.items():
            log.warning("a record was refused", extra=fields(name=key.dns_name, type=key.record_type, error=error))
        return frozenset((key.dns_name, key.set_identifier) for key in refused)

    # Logs

    def _say_what_is_held(self, plan: Plan) -> None:
        """Each reason once, as long as the process lives: it comes again with every plan."""
        if plan.stopped is not None:
            self._say_once(logging.ERROR, "a plan was stopped", str(plan.stopped))
        for held in plan.held:
            self._say_held(held)
        for problem in plan.problems:
            self._say_once(logging.WARNING, "a name cannot be served as wanted", str(problem))

    def _say_held(self, held: Held) -> None:
        what = f"{held.action} {held.record.record_type} {held.record.dns_name}: {held.cause.message}"
        self._say_once(logging.WARNING, "a change is held back", what)

    def _say_once(self, level: int, message: str, what: str) -> None:
        if what not in self._said:
            if len(self._said) > 10_000:
                self._said.clear()
            self._said.add(what)
            log.log(level, message, extra=fields(what=what))


def _fields_of(planned: PlannedChange) -> dict[str, dict[str, Any]]:
    record = planned.record
    causes = "; ".join(f"{cause.kind}: {cause.message}" for cause in planned.causes)
    return fields(
        action=planned.action, name=record.dns_name, type=record.record_type, targets=record.targets, cause=causes
    )


def _described(planned: PlannedChange) -> str:
    record = planned.record
    causes = "; ".join(f"{cause.kind}: {cause.message}" for cause in planned.causes)
    return f"{planned.action} {record.record_type} {record.dns_name} to {', '.join(record.targets)} ({causes})"
