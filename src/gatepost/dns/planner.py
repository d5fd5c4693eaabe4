"""Makes the plan, name by name.

holdings of a name + record set wanted -> creates, updates and deletes of that name, each with its causes
all of them -> policy -> ownership -> the cap on removals -> Plan
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from msgspec import structs

from gatepost.dns.capabilities import Misfit
from gatepost.dns.endpoint import Endpoint, NameKey
from gatepost.dns.inventory import Inventory
from gatepost.dns.plan import Plan, PlannedChange, Stop, removes
from gatepost.dns.records import RecordSet
from gatepost.dns.row import Name, Row, plan_row
from gatepost.dns.served import Served
from gatepost.dns.settings import DnsSettings
from gatepost.dns.standing import Standing
from gatepost.objects.problems import Problem

Adjust = Callable[[Sequence[Endpoint]], Sequence[Endpoint]]


def _as_it_is(endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
    return endpoints


class Planner:
    """Plans names against what a provider holds.

    Args:
        standing: where the object behind a record stands.
        adjust: brings wanted endpoints into the form in which the provider would list them.
        served: the names that the provider serves, and what it can hold.
    """

    def __init__(
        self,
        settings: DnsSettings,
        standing: Callable[[str, NameKey], Standing],
        adjust: Adjust = _as_it_is,
        served: Served | None = None,
    ) -> None:
        self._settings = settings
        self._standing = standing
        self._adjust = adjust
        self._domains = settings.domains
        self._served = served or Served()
        self._types = settings.record_types

    def plan_all(
        self,
        inventory: Inventory,
        record_sets: Iterable[RecordSet],
        *,
        allow: bool = False,
        let_go: Collection[NameKey] = (),
    ) -> Plan:
        """The plan for every name that is held or wanted. See `plan_names`."""
        wanted = {record_set.key: record_set for record_set in record_sets}
        keys = wanted.keys() | set(inventory.keys())
        return self.plan_names(keys, inventory, wanted.get, allow=allow, let_go=let_go)

    def plan_names(
        self,
        keys: Iterable[NameKey],
        inventory: Inventory,
        wanted: Callable[[NameKey], RecordSet | None],
        *,
        allow: bool = False,
        removed_before: int = 0,
        let_go: Collection[NameKey] = (),
    ) -> Plan:
        """The plan for just these names; its cost does not depend on how many others there are.

        Args:
            wanted: the record set of a name, None if nothing claims it.
            allow: lets the plan through however much it removes.
            removed_before: own records removed a short while ago, which count towards the cap as well, so that a
                disaster that comes in small portions is stopped too.
            let_go: names whose doubt has lasted long enough to give them up, if it is one that may end.
        """
        rows = [row for _, row in self.rows(keys, inventory, wanted, let_go=let_go)]
        return self.joined(rows, inventory, allow=allow, removed_before=removed_before)

    def rows(
        self,
        keys: Iterable[NameKey],
        inventory: Inventory,
        wanted: Callable[[NameKey], RecordSet | None],
        *,
        let_go: Collection[NameKey] = (),
    ) -> Iterator[tuple[NameKey, Row]]:
        """The plan of each name, made when it is asked for; sorted by name.

        Args: see `plan_names`.
        """
        for key in sorted(keys):
            if not self._domains or self._domains.matches(key[0]):
                yield key, self._row(key, inventory, wanted(key), let_go=key in let_go)

    def joined(
        self, rows: Sequence[Row], inventory: Inventory, *, allow: bool = False, removed_before: int = 0
    ) -> Plan:
        """The plan from those of all its names, in their order; the cap on removals judges it as a whole.

        Args: see `plan_names`.
        """
        changes = tuple(change for row in rows for change in row.changes)
        return Plan(
            changes,
            tuple(held for row in rows for held in row.held),
            tuple(sorted({problem for row in rows for problem in row.problems})),
            None if allow else self._stop(changes, inventory, removed_before),
        )

    def _row(self, key: NameKey, inventory: Inventory, wanted: RecordSet | None, *, let_go: bool) -> Row:
        if not self._served.serves(key[0]):
            # Nothing is known of such a name, so nothing of it is created or deleted.
            refusal = self._served.refusal(key[0])
            return Row(problems=_problems(wanted, [refusal] if refusal is not None else []))
        holdings = tuple(holding for holding in inventory.row(key) if holding.endpoint.record_type in self._types)
        endpoints, misfits = self._fitting(key, wanted)
        name = Name(key, holdings, wanted, endpoints, let_go=let_go)
        row = plan_row(name, inventory, self._settings.policy, self._standing)
        row.problems += _problems(wanted, misfits)
        return row

    def _fitting(self, key: NameKey, wanted: RecordSet | None) -> tuple[tuple[Endpoint, ...], list[Misfit]]:
        """What is wanted in the form of the provider, as far as it can be held, and why the rest cannot."""
        if wanted is None or not wanted.records:
            return (), []
        capabilities, zone = self._served.capabilities, self._served.zone_of(key[0])
        # A provider may spell a name in its own way; ownership, and all that follows, goes by the one we know.
        adjusted = [structs.replace(e, dns_name=key[0]) for e in self._adjust(wanted.endpoints)]
        ours = [endpoint for endpoint in adjusted if endpoint.record_type in self._types]
        misfits = [(endpoint, capabilities.misfit(endpoint, zone)) for endpoint in ours]
        fitting = tuple(capabilities.fitted(endpoint) for endpoint, misfit in misfits if misfit is None)
        by_type = {endpoint.record_type: endpoint for endpoint in ours}
        remarks = [
            remark
            for endpoint in wanted.endpoints
            for remark in capabilities.remarks(endpoint, by_type.get(endpoint.record_type, endpoint))
        ]
        return fitting, [*(misfit for _, misfit in misfits if misfit is not None), *remarks]

    def _stop(self, changes: Iterable[PlannedChange], inventory: Inventory, removed_before: int) -> Stop | None:
        removed = sum(removes(change) for change in changes)
        if not removed:
            return None
        own = inventory.own_count() + removed_before
        removed += removed_before
        limit = self._settings.max_removal_share
        if own <= self._settings.removal_free_count or removed <= own * limit:
            return None
        return Stop(removed, own, limit)


def _problems(wanted: RecordSet | None, misfits: Iterable[Misfit]) -> list[Problem]:
    """What everyone who asks for a name is told."""
    if wanted is None or not wanted.records:
        return []
    return [
        Problem(misfit.reason, misfit.message, claimant.ref, hint=misfit.hint)
        for misfit in misfits
        for claimant in wanted.claimants
    ]
