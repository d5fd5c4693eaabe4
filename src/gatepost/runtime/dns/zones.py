"""What a DNS provider holds, what it should hold, and the changes in between: planned, capped, sent, followed.

plan -> what is held, its doubts measured -> what was refused waits for its time -> what never takes is left alone
     -> sent -> inventory, and what the objects behind the records are told
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from gatepost.dns.desired import names_wanted, record_set_at, record_sets
from gatepost.dns.endpoint import NameKey
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership.registry import inventory
from gatepost.dns.plan import Plan, PlannedChange, removes
from gatepost.dns.repeats import Repeats
from gatepost.objects.problems import Problem
from gatepost.providers.contract import GuardingProvider
from gatepost.runtime.dns.claiming import sender_for
from gatepost.runtime.dns.doubts import Doubts, problem_of
from gatepost.runtime.dns.left_overs import left_over
from gatepost.runtime.dns.part import DnsPart
from gatepost.runtime.dns.planning import Planned, Planning
from gatepost.runtime.dns.quarantine import Quarantine
from gatepost.runtime.dns.reading import read_provider, take_in
from gatepost.runtime.dns.record_events import RecordEvents
from gatepost.runtime.dns.removals import RecentRemovals
from gatepost.runtime.dns.served_zones import ServedZones
from gatepost.runtime.dns.zone_figures import RecordCounts, ZoneFigures, count_records
from gatepost.runtime.dns.zone_log import ZoneLog
from gatepost.runtime.loop.kinds import KnownKinds
from gatepost.state.engine import Engine
from gatepost.writes.outcome import Event


class Written(Struct, frozen=True):
    """How a write went: `held` names are to be planned again when anything changes, events and problems to be told."""

    names: frozenset[NameKey] = frozenset()
    changes: int = 0
    held: frozenset[NameKey] = frozenset()
    problems: tuple[Problem, ...] = ()
    events: tuple[Event, ...] = ()
    is_stopped: bool = False


class Zones:
    """The zones of one provider, kept as the engine wants them.

    Args:
        monotonic: seconds that only grow.
        may_write: asked before each writing call; see `leading`.
    """

    def __init__(
        self,
        engine: Engine,
        kinds: KnownKinds,
        part: DnsPart,
        monotonic: Callable[[], float],
        *,
        dry_run: bool = False,
        may_write: Callable[[], bool] = lambda: True,
    ) -> None:
        self._engine = engine
        self._kinds = kinds
        self._settings = part.settings
        self._provider = part.provider
        self._monotonic = monotonic
        self._dry_run = dry_run
        self._cipher = part.cipher
        self._store = part.store
        self._removals = RecentRemovals()
        self._planning = Planning(engine, kinds, part, monotonic)
        self._sender = sender_for(part, may_write)
        self._record_events = RecordEvents(engine, part.settings.events_emit)
        self._log = ZoneLog()
        self._served_zones = ServedZones(part.provider, monotonic, self._log)
        self.figures = ZoneFigures()
        self.forget()

    def forget(self) -> None:
        """Forgets what the provider holds, and how long refusals and doubts have lasted: others may have written.

        What the sender owes stays: it is judged by the next listing, and nobody else knows of it.
        """
        self._inventory: Inventory | None = None
        self._is_fresh = False
        self._served_zones.forget()
        self._unmade: frozenset[NameKey] = frozenset()
        self._doubts = Doubts(self._settings.delete_grace)
        self._quarantine = Quarantine()
        self._repeats = Repeats()

    @property
    def is_listed(self) -> bool:
        return self._inventory is not None

    @property
    def is_failing(self) -> bool:
        """Whether the provider refuses something."""
        return bool(self._quarantine) or bool(self._served_zones.served.unread) or self._sender.owes

    @property
    def failures(self) -> tuple[str, ...]:
        """What fails for whole zones, in words."""
        return self._served_zones.failures

    @property
    def owner(self) -> str:
        return self._settings.owner

    @property
    def quarantined(self) -> int:
        """How many names were refused and wait for their time."""
        return len(self._quarantine)

    def count_records(self) -> RecordCounts:
        return count_records(record_sets(self._engine), self._inventory)

    def next_moment(self) -> float | None:
        """When `take_due` has something next: a refused record to try again, a doubt that has lasted long enough, a
        zone to read again.
        """
        moments = (self._quarantine.moments.next(), self._doubts.moments.next(), self._served_zones.next_moment())
        return min((moment for moment in moments if moment is not None), default=None)

    def take_due(self) -> frozenset[NameKey]:
        """The names whose time has come since it was last asked; they are to be written.

        Zones whose time has come are read in the background, see `take_reread`.
        """
        now = self._monotonic()
        self._served_zones.read_due()
        return self._quarantine.moments.take(now) | self._doubts.moments.take(now)

    def wake_with(self, wake: Callable[[], None]) -> None:
        """What to call when a zone has been read in the background, and `take_reread` has something."""
        self._served_zones.wake_with(wake)

    def stop(self) -> None:
        """Ends what goes on in the background."""
        self._served_zones.stop()

    async def list_anew(self) -> None:
        """Reads what the provider holds; zones that cannot be read are tried again by themselves.

        Raises: ProviderError; what was known before then still counts.
        """
        # The store first: a record that came meanwhile is nobody's yet, while a claim without its record may be swept.
        entries = await self._store.read() if self._store is not None else None
        read = await read_provider(self._provider)
        holdings = inventory(self._settings, (), read.served.zones or (), self._cipher, entries)
        await take_in(holdings, read.endpoints, self._monotonic)
        self._served_zones.note_listing(read.served)
        self._inventory = holdings
        self._is_fresh = True
        if isinstance(self._provider, GuardingProvider):
            self._provider.guard(holdings.txt.names if holdings.txt is not None else None)

    async def take_reread(self) -> frozenset[NameKey]:
        """Takes in the zones that were read in the background. Returns: the names that are to be planned anew."""
        zones = await self._served_zones.take_reread(self._inventory)
        if not zones or self._inventory is None:
            return frozenset()
        known = self._planning.known(self._inventory)
        return frozenset(key for key in known if self._served_zones.served.zone_of(key[0]) in zones)

    async def write(self, names: Collection[NameKey] | None) -> Written:
        """Plans these names, or all, and makes the changes that are allowed; `list_anew` has to come before it.

        Raises: ProviderError if it is not known what was changed: everything has to be listed anew.
        """
        holdings, is_everything = self._inventory, names is None
        if holdings is None:
            raise RuntimeError("names are to be written before it was listed what the provider holds")
        await self._mend(holdings)
        planned = await self._plan(names, holdings)
        plan = planned.plan
        self._log.say_plan(plan)
        self.figures.note_plan(planned.names, plan, is_everything=is_everything)
        self._doubts.note(planned.names, plan, self._monotonic())
        if self._dry_run:
            self._log.say_dry_run(plan.allowed)
            return self._written(planned)
        due, untaken = self._worth_sending(planned, is_everything=is_everything)
        events = await self._send(due, holdings) if due else ()
        if is_everything and plan.stopped is None and self._settings.policy == "sync":
            await self._sweep(holdings)
        if is_everything:
            self._log.say_progress(holdings)
        return self._written(planned, len(due), untaken, events)

    def is_published(self, name: NameKey) -> bool:
        """Whether a name stands in DNS as it was wanted when it was last planned, as far as is known."""
        wanted = record_set_at(self._engine, name)
        if wanted is None or self._inventory is None or name in self._unmade:
            return False
        return bool(wanted.records) and any(map(self._inventory.is_ours, self._inventory.row(name)))

    def _written(
        self, planned: Planned, changes: int = 0, untaken: Sequence[Problem] = (), events: tuple[Event, ...] = ()
    ) -> Written:
        """Takes note of which names stand as they are wanted by now. Returns: how the write went."""
        plan = planned.plan
        held_names = frozenset(held.record.name_key for held in plan.held)
        self._unmade = (self._unmade - planned.names) | held_names | planned.refused | self._names_waiting(plan)
        held = [problem for held in plan.held if (problem := problem_of(held)) is not None]
        problems = dict.fromkeys((*plan.problems, *held, *untaken, *self._quarantine.problems))
        return Written(planned.names, changes, held_names, tuple(problems), events, plan.stopped is not None)

    def _names_waiting(self, plan: Plan) -> frozenset[NameKey]:
        """The names whose changes were not made: all in a dry run or of a plan that is stopped, else those refused."""
        changed = frozenset(change.record.name_key for change in plan.changes)
        if self._dry_run or plan.stopped is not None:
            return changed
        return frozenset(name for name in changed if name in self._quarantine.moments)

    # Planning

    async def _plan(self, names: Collection[NameKey] | None, holdings: Inventory) -> Planned:
        removed = self._removals.count(self._monotonic())
        return await self._planning.plan(
            names, holdings, self._served_zones.served, removed_before=removed, let_go=self._let_go()
        )

    def _let_go(self) -> frozenset[NameKey]:
        """The names whose doubt has lasted long enough; none while the cluster cannot be read, which may be why."""
        if self._kinds.failing or self._kinds.unknown:
            return frozenset()
        return self._doubts.moments.past(self._monotonic())

    # Sending

    def _worth_sending(
        self, planned: Planned, *, is_everything: bool
    ) -> tuple[tuple[PlannedChange, ...], tuple[Problem, ...]]:
        """The changes to make now, and a problem for each of those that are given up because they never take.

        What was refused waits for its time.
        """
        plan = planned.plan
        if self._is_fresh and is_everything:
            self._repeats.keep_only(change.record.key for change in plan.changes)
            self._is_fresh = False
        if plan.stopped is not None:
            return (), ()
        due = self._quarantine.sift(planned.names, plan.changes, self._monotonic())
        due, untaken = self._repeats.sift(due)
        self._log.say_problems(untaken)
        return due, untaken

    async def _send(self, due: Sequence[PlannedChange], holdings: Inventory) -> tuple[Event, ...]:
        """Makes changes and takes note of how they went. Returns: the events to tell."""
        self._log.say_changes(due)
        with self._listing_anew_if_it_fails():
            refused = await self._sender.send(due, holdings, self._served_zones.served)
        if self._sender.is_contradicted(holdings):
            self._inventory = None
        now = self._monotonic()
        known = self._served_zones.note_sent(due, self._sender.take_lost())
        self.figures.note_sent(known, refused)
        self._removals.note(sum(removes(change) for change in known if change.record.key not in refused), now)
        self._repeats.forget(refused)
        self._quarantine.note(known, refused, self._record_events.problems(known, refused), now)
        return self._record_events.events(known, refused)

    async def _sweep(self, holdings: Inventory) -> None:
        """Deletes our ownership of records that are gone and that nobody asks for, unless who asks cannot be known.

        A name that only somebody else's record holds is not asked for: an entry would keep it from others for ever.
        """
        if self._kinds.failing or self._planning.may_miss_claims:
            return
        served = self._served_zones.served
        found = left_over(holdings, names_wanted(self._engine), served, self._settings)
        with self._listing_anew_if_it_fails():
            await self._sender.sweep(found, holdings, served)
        self._served_zones.note_sent((), self._sender.take_lost())

    async def _mend(self, holdings: Inventory) -> None:
        if not self._sender.owes or self._dry_run:
            return
        with self._listing_anew_if_it_fails():
            await self._sender.mend(holdings, self._served_zones.served)
        self._served_zones.note_sent((), self._sender.take_lost())

    @contextmanager
    def _listing_anew_if_it_fails(self) -> Iterator[None]:
        """Around calls that write: when one breaks off, by cancellation too, it is not known how far it went."""
        try:
            yield
        except BaseException:
            self._inventory = None
            raise
