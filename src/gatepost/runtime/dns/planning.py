"""What has to change in DNS, from what the engine wants and what a provider holds.

wishes looked up -> the provider brings them into its form -> names planned, in slices -> what moved meanwhile left out
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec import Struct

from gatepost.dns.claims import RECORD_SETS
from gatepost.dns.desired import names_wanted, record_set_at
from gatepost.dns.endpoint import NameKey
from gatepost.dns.inventory import Inventory
from gatepost.dns.plan import Plan
from gatepost.dns.planner import Planner
from gatepost.dns.records import RecordSet
from gatepost.dns.served import Served
from gatepost.dns.standing import Standings, unreadable_claimant
from gatepost.runtime.dns.adjusting import adjuster
from gatepost.runtime.dns.part import DnsPart
from gatepost.runtime.dns.slices import in_slices
from gatepost.runtime.loop.kinds import KnownKinds, kinds_in_doubt
from gatepost.state.engine import Engine


class Planned(Struct, frozen=True):
    """A plan, the names that it is over, and those of them that cannot be served as wanted."""

    plan: Plan
    names: frozenset[NameKey]
    refused: frozenset[NameKey]


class Planning:
    """Plans names of one provider; objects may come in meanwhile, for a whole zone takes its time.

    Args: monotonic: seconds that only grow.
    """

    def __init__(
        self,
        engine: Engine,
        kinds: KnownKinds,
        part: DnsPart,
        monotonic: Callable[[], float],
    ) -> None:
        self._engine = engine
        self._kinds = kinds
        self._settings = part.settings
        self._provider = part.provider
        self._monotonic = monotonic
        self._allow = part.allow
        self._seen: dict[NameKey, str] = {}

    @property
    def doubtful_kinds(self) -> frozenset[str]:
        """The kinds of which an object that is not there need not be gone."""
        # Of a kind that cannot be read now, an object may have come since that another replica has published.
        missing = self._kinds.missing | self._kinds.failing.keys()
        return kinds_in_doubt(self._kinds.watched, self._kinds.unknown, missing)

    @property
    def may_miss_claims(self) -> bool:
        """Whether an object may ask for names of which nothing, or not its present form, is known."""
        return bool(self.doubtful_kinds) or unreadable_claimant(self._engine, self._settings.namespace) is not None

    def known(self, holdings: Inventory) -> set[NameKey]:
        """All names that are wanted or held."""
        return names_wanted(self._engine) | set(holdings.keys())

    async def plan(
        self,
        names: Collection[NameKey] | None,
        holdings: Inventory,
        served: Served,
        *,
        removed_before: int,
        let_go: Collection[NameKey],
    ) -> Planned:
        """The plan for these names, or for all. The cap on removals judges it as a whole.

        A name that was wished otherwise by the end is not in it: its change makes it due again.
        Args: removed_before, let_go: see `Planner`.
        Raises: ProviderError
        """
        # What is wanted is looked up before a provider that is far away is asked, and not again after: so what is
        # planned is what it was asked about.
        sure: set[NameKey] = set()
        wanted: dict[NameKey, RecordSet] = {}
        async for name in in_slices(self.known(holdings) if names is None else names, self._monotonic):
            if self._rests_on_unknown_kinds(name):
                continue
            sure.add(name)
            record_set = record_set_at(self._engine, name)
            if record_set is not None:
                wanted[name] = record_set
        adjust = await adjuster(self._provider, wanted.values())
        planner = Planner(self._settings, self._standings(wanted), adjust, served)
        planning = planner.rows(sure, holdings, wanted.get, let_go=let_go)
        rows = {key: row async for key, row in in_slices(planning, self._monotonic) if row}
        # A record may be planned to go although its name has been claimed again since its row was made.
        moved = {key for key in rows if record_set_at(self._engine, key) != wanted.get(key)}
        lasting = {key: row for key, row in rows.items() if key not in moved}
        plan = planner.joined(list(lasting.values()), holdings, allow=self._allow, removed_before=removed_before)
        refused = frozenset(key for key, row in lasting.items() if row.problems)
        return Planned(plan, frozenset(sure - moved), refused)

    def _standings(self, wanted: dict[NameKey, RecordSet]) -> Standings:
        is_owner_known = bool(self._settings.owner)
        if not is_owner_known:
            claimed = ((name, record_set.claimants) for name, record_set in wanted.items())
            self._seen.update((name, claimants[0].resource) for name, claimants in claimed if claimants)
        return Standings(
            self._engine,
            _DoubtfulNow(self),
            is_owner_known=is_owner_known or self._allow,
            seen=self._seen,
            namespace=self._settings.namespace,
        )

    def _rests_on_unknown_kinds(self, name: NameKey) -> bool:
        return bool(self._kinds.unknown_below(self._engine.rule(RECORD_SETS), name))


class _DoubtfulNow:
    """The doubtful kinds as they are whenever it is asked: a rule may need a new kind while names are planned."""

    def __init__(self, planning: Planning) -> None:
        self._planning = planning

    def __contains__(self, kind: object) -> bool:
        return kind in self._planning.doubtful_kinds
