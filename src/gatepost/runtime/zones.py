"""What a DNS provider holds, what it should hold, and the changes in between: planned, capped, sent, followed.

plan -> what is held, its doubts measured -> what was refused waits for its time -> what never takes is left alone
     -> sent -> inventory, and what the objects behind the records are told
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence

from msgspec import Struct

from gatepost.dns.claims import RECORD_SETS
from gatepost.dns.desired import record_set_at, record_sets
from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership import Cipher
from gatepost.dns.plan import Plan, PlannedChange, Planner, removes
from gatepost.dns.records import NameKey, RecordSet
from gatepost.dns.registry import inventory
from gatepost.dns.repeats import Repeats
from gatepost.dns.settings import DnsSettings
from gatepost.dns.standing import Standings
from gatepost.objects.problems import Problem
from gatepost.objects.refs import GroupKind
from gatepost.providers.contract import GuardingProvider, Provider
from gatepost.runtime.adjusting import adjuster, domains_of
from gatepost.runtime.doubts import Doubts, problem_of
from gatepost.runtime.kinds import KnownKinds, kinds_in_doubt
from gatepost.runtime.quarantine import Quarantine
from gatepost.runtime.record_events import RecordEvents
from gatepost.runtime.sending import Sender
from gatepost.runtime.zone_log import ZoneLog
from gatepost.state.engine import Engine
from gatepost.writes.outcome import Event

REMOVALS_COUNT_SECONDS = 600.0
"""Own records removed within this time count together towards the cap, so that it also stops a slow disaster."""


class Written(Struct, frozen=True):
    """How a write went: `held` names are to be planned again when anything changes, events and problems to be told."""

    names: frozenset[NameKey] = frozenset()
    changes: int = 0
    held: frozenset[NameKey] = frozenset()
    problems: tuple[Problem, ...] = ()
    events: tuple[Event, ...] = ()
    is_stopped: bool = False


class _Planned(Struct, frozen=True):
    """A plan, and the names that it is over."""

    plan: Plan
    names: frozenset[NameKey]


class Zones:
    """The zones of one provider, kept as the engine wants them.

    Args:
        allow: lets plans through however much they remove, and what nobody is known to own.
        monotonic: seconds that only grow.
        cipher: opens the texts of ownership records, and seals them if the settings say so.
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
        cipher: Cipher | None = None,
    ) -> None:
        self._engine = engine
        self._kinds = kinds
        self._settings = settings
        self._provider = provider
        self._monotonic = monotonic
        self._dry_run = dry_run
        self._allow = allow
        self._cipher = cipher
        self._inventory: Inventory | None = None
        self._is_fresh = False
        self._zones: tuple[str, ...] = ()
        self._domains: DomainFilter | None = None
        self._removals: deque[tuple[float, int]] = deque()
        self._seen: dict[NameKey, str] = {}
        self._unmade: frozenset[NameKey] = frozenset()
        self._sender = Sender(provider, cipher if settings.txt_encrypt_enabled else None)
        self._doubts = Doubts(settings.delete_grace)
        self._quarantine = Quarantine()
        self._repeats = Repeats()
        self._tells = RecordEvents(engine, settings.events_emit)
        self._log = ZoneLog()

    @property
    def is_listed(self) -> bool:
        return self._inventory is not None

    @property
    def is_failing(self) -> bool:
        """Whether the provider refuses something."""
        return bool(self._quarantine) or self._sender.owes

    def next_moment(self) -> float | None:
        """When `take_due` has something next: a refused record to try again, a doubt that has lasted long enough."""
        moments = (self._quarantine.moments.next(), self._doubts.moments.next())
        return min((moment for moment in moments if moment is not None), default=None)

    def take_due(self) -> frozenset[NameKey]:
        """The names whose time has come since it was last asked; they are to be written."""
        now = self._monotonic()
        return self._quarantine.moments.take(now) | self._doubts.moments.take(now)

    async def list_anew(self) -> None:
        """Reads what the provider holds. Raises: ProviderError; what was known before then still counts."""
        self._zones = tuple(await self._provider.zones())
        self._domains = await domains_of(self._provider, self._zones)
        self._inventory = inventory(self._settings, await self._provider.records(), self._zones, self._cipher)
        self._is_fresh = True
        if isinstance(self._provider, GuardingProvider):
            self._provider.guard(self._inventory.txt.names if self._inventory.txt is not None else None)

    async def write(self, names: Collection[NameKey] | None) -> Written:
        """Plans these names, or all, and makes the changes that are allowed.

        Raises: ProviderError if it is not known what was changed: everything has to be listed anew.
        """
        holdings = self._inventory
        assert holdings is not None
        await self._mend(holdings)
        planned = await self._plan(names, holdings)
        plan = planned.plan
        self._log.say_plan(plan)
        now = self._monotonic()
        self._doubts.note(planned.names, plan, now)
        if self._dry_run:
            self._log.say_dry_run(plan.allowed)
            return self._written(planned)
        if self._is_fresh and names is None:
            self._repeats.keep_only(change.record.key for change in plan.changes)
            self._is_fresh = False
        due = plan.allowed if plan.stopped is not None else self._quarantine.sift(planned.names, plan.allowed, now)
        due, untaken = self._repeats.sift(due)
        self._log.say_problems(untaken)
        events = await self._send(due, holdings) if due else ()
        if names is None and plan.stopped is None and self._settings.policy == "sync":
            await self._sweep(planned.names, holdings)
        if names is None:
            self._log.say_progress(holdings)
        return self._written(planned, len(due), untaken, events)

    def is_published(self, name: NameKey) -> bool:
        """Whether a name stands in DNS as it was wanted when it was last planned, as far as is known."""
        wanted = record_set_at(self._engine, name)
        if wanted is None or self._inventory is None or name in self._unmade:
            return False
        ours = [h.endpoint.record_type for h in self._inventory.row(name) if self._inventory.is_ours(h)]
        return bool(wanted.records) and all(record.type in ours for record in wanted.records)

    def _written(
        self, planned: _Planned, changes: int = 0, untaken: Sequence[Problem] = (), events: tuple[Event, ...] = ()
    ) -> Written:
        plan = planned.plan
        held = [problem for held in plan.held if (problem := problem_of(held)) is not None]
        problems = (*plan.problems, *held, *untaken, *self._quarantine.problems)
        names = frozenset((held.record.dns_name, held.record.set_identifier) for held in plan.held)
        waits = self._dry_run or plan.stopped is not None
        changed = frozenset((change.record.dns_name, change.record.set_identifier) for change in plan.changes)
        unmade = names | frozenset(name for name in changed if waits or name in self._quarantine.moments)
        self._unmade = (self._unmade - planned.names) | unmade
        told = tuple(dict.fromkeys(problems))
        return Written(planned.names, changes, names, told, events, plan.stopped is not None)

    # Planning

    async def _plan(self, names: Collection[NameKey] | None, holdings: Inventory) -> _Planned:
        if names is None:
            names = {record_set.key for record_set in record_sets(self._engine)} | set(holdings.keys())
        sure = frozenset(name for name in names if not self._rests_on_unknown_kinds(name))
        # What is wanted is looked up before a provider that is far away is asked, and not again after: so what is
        # planned is what it was asked about. A name that changes meanwhile is due again.
        found = ((name, record_set_at(self._engine, name)) for name in sure)
        wanted = {name: record_set for name, record_set in found if record_set is not None}
        adjust = await adjuster(self._provider, wanted.values())
        planner = Planner(self._settings, self._standings(wanted), adjust, self._domains)
        plan = planner.plan_names(
            sure,
            holdings,
            wanted.get,
            allow=self._allow,
            removed_before=self._removed_lately(),
            let_go=self._let_go(),
        )
        return _Planned(plan, sure)

    def _standings(self, wanted: dict[NameKey, RecordSet]) -> Standings:
        is_owner_known = bool(self._settings.owner)
        if not is_owner_known:
            claimed = ((name, record_set.claimants) for name, record_set in wanted.items())
            self._seen.update((name, claimants[0].resource) for name, claimants in claimed if claimants)
        return Standings(
            self._engine, self._doubtful_kinds(), is_owner_known=is_owner_known or self._allow, seen=self._seen
        )

    def _doubtful_kinds(self) -> frozenset[str]:
        return kinds_in_doubt(self._kinds.watched, self._kinds.unknown, self._kinds.missing)

    def _rests_on_unknown_kinds(self, name: NameKey) -> set[GroupKind]:
        return self._kinds.unknown_below(self._engine.rule(RECORD_SETS), name)

    def _let_go(self) -> frozenset[NameKey]:
        """The names whose doubt has lasted long enough; none while the cluster cannot be read, which may be why."""
        if self._kinds.failing or self._kinds.unknown:
            return frozenset()
        return self._doubts.moments.past(self._monotonic())

    def _removed_lately(self) -> int:
        oldest = self._monotonic() - REMOVALS_COUNT_SECONDS
        while self._removals and self._removals[0][0] < oldest:
            self._removals.popleft()
        return sum(count for _, count in self._removals)

    # Sending

    async def _send(self, due: Sequence[PlannedChange], holdings: Inventory) -> tuple[Event, ...]:
        """Makes changes and takes note of how they went. Returns: the events to tell."""
        self._log.say_changes(due)
        try:
            refused = await self._sender.send(due, holdings)
        except BaseException:
            self._inventory = None  # it is not known how far this went
            raise
        now = self._monotonic()
        self._removals.append((now, sum(removes(change) for change in due if change.record.key not in refused)))
        self._repeats.forget(refused)
        self._quarantine.note(due, refused, self._tells.problems(due, refused), now)
        return self._tells.events(due, refused)

    async def _sweep(self, names: Collection[NameKey], holdings: Inventory) -> None:
        """Deletes ownership records of ours that speak of none of these names, unless the cluster cannot be read."""
        if self._kinds.failing or self._doubtful_kinds():
            return
        left_over = holdings.left_over(names, self._settings.record_types)
        reach = [domains for domains in (self._settings.domains, self._domains) if domains]
        due = [record for record in left_over if all(domains.matches(record.dns_name) for domains in reach)]
        try:
            await self._sender.sweep(due, holdings)
        except BaseException:
            self._inventory = None
            raise

    async def _mend(self, holdings: Inventory) -> None:
        if not self._sender.owes or self._dry_run:
            return
        try:
            await self._sender.mend(holdings)
        except BaseException:
            self._inventory = None
            raise
