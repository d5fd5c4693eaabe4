"""What happened to the zones of a provider, in numbers: kept beside the writing of DNS, read by whoever measures it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable

from msgspec import Struct, field

from gatepost.dns.endpoint import EndpointKey, NameKey
from gatepost.dns.inventory import Inventory
from gatepost.dns.plan import Plan, PlannedChange
from gatepost.dns.records import RecordSet


class ZoneFigures:
    """Counts since the process began, and how things stand since the last plan.

    Args: now_utc: seconds since 1970.

    Attributes:
        attempted_at, synced_at: when the provider was last called, and when that last went well; 0 for never.
        compared_at: when all that it holds was last compared.
        failures, failures_in_a_row: calls after which nothing is known of what the provider holds.
        comparisons, idle_comparisons: with all that the provider holds; and those that found nothing to change.
        is_stopped: whether the last plan over everything, or one since, removes more than it may.
        changes: how many changes of each action, record type and result ("made" or "refused") there were.
    """

    def __init__(self, now_utc: Callable[[], float] = time.time) -> None:
        self._now_utc = now_utc
        self.attempted_at = self.synced_at = self.compared_at = 0.0
        self.failures = self.failures_in_a_row = 0
        self.comparisons = self.idle_comparisons = 0
        self.plans = self.plans_stopped = 0
        self.is_stopped = False
        self.changes: Counter[tuple[str, str, str]] = Counter()
        self._held: dict[NameKey, tuple[tuple[str, str], ...]] = {}

    def note_attempt(self) -> None:
        self.attempted_at = self._now_utc()

    def note_failure(self) -> None:
        self.failures += 1
        self.failures_in_a_row += 1

    def note_written(self, changes: int, *, is_comparison: bool) -> None:
        self.synced_at = self._now_utc()
        self.failures_in_a_row = 0
        if is_comparison:
            self.comparisons += 1
            self.compared_at = self.synced_at
            self.idle_comparisons += not changes

    def note_plan(self, names: Collection[NameKey], plan: Plan, *, is_everything: bool) -> None:
        """Takes note of a plan over these names."""
        self.plans += 1
        self.plans_stopped += plan.stopped is not None
        self.is_stopped = plan.stopped is not None or (self.is_stopped and not is_everything)
        for name in names if not is_everything else list(self._held):
            self._held.pop(name, None)
        for held in plan.held:
            name = held.record.name_key
            self._held[name] = (*self._held.get(name, ()), (held.action, held.cause.kind))

    def note_sent(self, sent: Iterable[PlannedChange], refused: Collection[EndpointKey]) -> None:
        for change in sent:
            result = "refused" if change.record.key in refused else "made"
            self.changes[change.action, change.record.record_type, result] += 1

    def held(self) -> Counter[tuple[str, str]]:
        """How many changes are held back now, by action and kind of cause."""
        return Counter(held for found in self._held.values() for held in found)


class Foreign(Struct, frozen=True):
    """A record that is wanted here and that another owner has."""

    record_type: str
    owner: str
    domain: str


class RecordCounts(Struct):
    """How many records there are of each type.

    Attributes:
        wanted: by objects of the cluster.
        held: by the provider, whoever owns them, ownership records apart.
        verified: wanted here, held there and ours.
        foreign: wanted here and held there, but not ours.
    """

    wanted: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)
    verified: Counter[str] = field(default_factory=Counter)
    foreign: Counter[Foreign] = field(default_factory=Counter)


def count_records(record_sets: Iterable[RecordSet], holdings: Inventory | None) -> RecordCounts:
    """Counts what is wanted, and what is held as far as it is known."""
    counts = RecordCounts(held=holdings.count_by_type() if holdings is not None else Counter())
    for record_set in record_sets:
        types = {record.type for record in record_set.records}
        counts.wanted.update(types)
        if holdings is not None and types:
            _count_holdings(record_set.key, types, holdings, counts)
    return counts


def _count_holdings(key: NameKey, wanted: Collection[str], holdings: Inventory, counts: RecordCounts) -> None:
    for holding in holdings.row(key):
        record_type = holding.endpoint.record_type
        if record_type not in wanted:
            continue
        if holdings.is_ours(holding):
            counts.verified[record_type] += 1
        else:
            # The domain is the name without its first label, as external-dns has it.
            counts.foreign[Foreign(record_type, holding.owner, key[0].partition(".")[2])] += 1
