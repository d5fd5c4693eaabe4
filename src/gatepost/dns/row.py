"""The plan of one name: the records that are there against the record set that is wanted.

| there | wanted | what happens                                                                                     |
| no    | yes    | create, unless another owner has written down that the name is theirs                            |
| yes   | no     | delete if the object behind it is gone or detached; hold if that is in doubt                     |
| yes   | yes    | per type: create, update, delete; a type only comes beside records if all of them are ours       |

A change of type is a deletion and a creation, and is done whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec import Struct, field, structs

from gatepost.dns.endpoint import Endpoint, NameKey
from gatepost.dns.inventory import Holding, Inventory
from gatepost.dns.plan import CREATE, DELETE, POLICY, UPDATE, Cause, Held, PlannedChange
from gatepost.dns.records import OWNER, RESOURCE, RecordSet
from gatepost.dns.standing import DETACHED, DOUBTFUL, Standing, may_end
from gatepost.dns.targets import same_targets
from gatepost.objects.problems import Problem, Skipped
from gatepost.objects.refs import Ref

_DROPPED_BY_POLICY = {"sync": (), "upsert-only": (DELETE,), "create-only": (UPDATE, DELETE)}


_Deletion = tuple[Endpoint, Cause]


class Row(Struct):
    """The plan of one name."""

    changes: list[PlannedChange] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.changes or self.held or self.problems)


class Name(Struct, frozen=True):
    """One name: what is there, and what is wanted.

    Attributes:
        endpoints: those of `wanted` that are to be published, in the form of the provider.
        let_go: doubts about this name that may end hold nothing back any more.
    """

    key: NameKey
    holdings: tuple[Holding, ...]
    wanted: RecordSet | None
    endpoints: tuple[Endpoint, ...]
    let_go: bool = False


def plan_row(name: Name, inventory: Inventory, policy: str, standing: Callable[[str, NameKey], Standing]) -> Row:
    """The changes of one name, sorted by type.

    Args: standing: where the object behind a record stands.
    """
    if not name.holdings and not name.endpoints:
        return Row()
    planning = _Planning(name, inventory, policy, standing)
    if not name.endpoints:
        planning.remove_all()
    else:
        planning.compare()
    return planning.row


class _Planning:
    """The planning of one name, step by step."""

    def __init__(
        self, name: Name, inventory: Inventory, policy: str, standing: Callable[[str, NameKey], Standing]
    ) -> None:
        self.row = Row()
        self._key = name.key
        self._holdings = {holding.endpoint.record_type: holding for holding in name.holdings}
        self._wanted = name.wanted
        self._endpoints = {endpoint.record_type: endpoint for endpoint in name.endpoints}
        self._inventory = inventory
        self._dropped = _DROPPED_BY_POLICY[policy]
        self._standing = standing
        self._let_go = name.let_go
        claimants = name.wanted.claimants if name.wanted is not None else ()
        self._claimants = tuple(claimant.resource for claimant in claimants)

    def remove_all(self) -> None:
        """Nothing is to be published here: records go, or are held."""
        for holding in self._holdings.values():
            if self._inventory.is_ours(holding):
                self._delete(holding.endpoint, self._cause_of_removal(holding))

    def compare(self) -> None:
        """Something is to be published: per type, what there is against what is wanted."""
        types = sorted(self._holdings.keys() | self._endpoints.keys())
        creates: list[PlannedChange] = []
        deletes: list[_Deletion] = []
        stays: set[str] = set()
        for type_ in types:
            holding, endpoint = self._holdings.get(type_), self._endpoints.get(type_)
            if holding is None and endpoint is not None:
                creates += self._create(endpoint)
            elif holding is not None and endpoint is not None:
                stays.add(type_)
                self._update(holding, endpoint)
            elif holding is not None and self._inventory.is_ours(holding):
                deletes.append((holding.endpoint, self._cause_of_type_change(holding)))
        self._change_types(creates, deletes, stays)
        self.row.changes.sort(key=lambda change: (change.record.record_type, change.action))

    def _change_types(self, creates: list[PlannedChange], deletes: list[_Deletion], stays: set[str]) -> None:
        """Makes the creations and deletions of a name if they fit together, else holds those that do not."""
        left = self._holdings.keys() - {record.record_type for record, cause in deletes if self._passes(cause)}
        fitting = [change for change in creates if _fits(change.record.record_type, left)]
        if deletes and not stays and (not fitting or left):
            self._hold_change_of_type(creates, deletes)
            return
        for record, cause in deletes:
            self._delete(record, cause)
        for change in creates:
            if change not in fitting:
                message = f"{' and '.join(sorted(left))} stays, and a CNAME stands alone"
                self.row.held.append(Held(change.record, CREATE, Cause(POLICY, message)))
        self.row.changes += fitting

    def _hold_change_of_type(self, creates: list[PlannedChange], deletes: list[_Deletion]) -> None:
        """Half a change of type is worse than none: it leaves a name without records, or with those of two wishes."""
        for record, cause in deletes:
            message = f"a change of type is done whole or not at all; {cause.message}"
            self.row.held.append(Held(record, DELETE, cause if cause.kind == DOUBTFUL else Cause(POLICY, message)))
        for change in creates:
            message = f"{' and '.join(sorted(self._holdings))} has to make way first, and is held"
            self.row.held.append(Held(change.record, CREATE, Cause(POLICY, message)))

    def _passes(self, cause: Cause) -> bool:
        """Whether a deletion for that cause is made."""
        return DELETE not in self._dropped and not self._holds(cause)

    def _holds(self, cause: Cause) -> bool:
        """Whether a doubt keeps a record where it is."""
        return cause.kind == DOUBTFUL and not (self._let_go and cause.may_end)

    # The three kinds of changes

    def _create(self, endpoint: Endpoint) -> list[PlannedChange]:
        name, type_ = self._key[0], endpoint.record_type
        foreign = sorted({holding.owner or "nobody" for holding in self._foreign()})
        if foreign:
            why = f"{name} holds records that belong to {', '.join(foreign)}, so no {type_} is put beside them"
            return self._refuse("ForeignRecord", why)
        claimed = self._inventory.claimed_by_others(self._key, type_)
        if claimed:
            why = f"{name} {type_} is written down as owned by {', '.join(claimed)}, so it is not created"
            return self._refuse("ForeignOwnership", why)
        if self._inventory.is_ownership(self._key, type_):
            return self._refuse("OwnershipRecord", f"the {type_} of {name} says whose another record is, and stays")
        unwritable = self._inventory.refusal(name, type_)
        if unwritable is not None:
            return self._refuse("OwnershipNotWritable", f"{name} {type_} is not created: {unwritable}")
        winner = self._winner()
        cause = Cause("type" if self._holdings else "new", f"{winner or 'another record'} asks for it", winner)
        return [PlannedChange(CREATE, None, self._labelled(endpoint, ""), (cause,))]

    def _update(self, holding: Holding, endpoint: Endpoint) -> None:
        old = holding.endpoint
        if not self._inventory.is_ours(holding):  # told even where it is as wanted: it is not kept that way
            owner = ", ".join(holding.contested) or holding.owner or "nobody"
            self._refuse("ForeignRecord", f"{self._key[0]} {old.record_type} belongs to {owner} and is left as it is")
            return
        causes = self._causes_of_update(holding, endpoint)
        if not causes:
            return
        if set(old.targets) - set(endpoint.targets) and not same_targets(old.targets, endpoint.targets):
            doubt = self._doubt_about(holding)
            if doubt is not None and self._holds(doubt):
                self.row.held.append(Held(old, UPDATE, doubt))
                return
        if UPDATE in self._dropped and any(cause.kind != "ownership" for cause in causes):  # that one is a creation
            self.row.held.append(Held(old, UPDATE, Cause(POLICY, "the policy changes no record that is there")))
            return
        new = self._labelled(endpoint, holding.resource)
        self.row.changes.append(PlannedChange(UPDATE, old, new, causes))

    def _delete(self, record: Endpoint, cause: Cause) -> None:
        if self._holds(cause):
            self.row.held.append(Held(record, DELETE, cause))
        elif DELETE in self._dropped:
            self.row.held.append(Held(record, DELETE, Cause(POLICY, f"the policy deletes nothing; {cause.message}")))
        else:
            self.row.changes.append(PlannedChange(DELETE, record, None, (cause,)))

    # Why

    def _causes_of_update(self, holding: Holding, endpoint: Endpoint) -> tuple[Cause, ...]:
        old, at = holding.endpoint, self._winner()
        causes: list[Cause] = []
        if not same_targets(old.targets, endpoint.targets):
            causes.append(Cause("targets", f"{', '.join(old.targets)} -> {', '.join(endpoint.targets)}", at))
        if endpoint.record_ttl and endpoint.record_ttl != old.record_ttl:
            causes.append(Cause("ttl", f"{old.record_ttl} -> {endpoint.record_ttl}", at))
        if sorted(old.provider_specific) != sorted(endpoint.provider_specific):
            causes.append(Cause("properties", _difference(old, endpoint), at))
        if self._inventory.owner and self._inventory.is_ours(holding):
            if holding.owner != self._inventory.owner:
                causes.append(Cause("owner", f"{holding.owner} -> {self._inventory.owner}", at))
            if holding.ownership_due:
                causes.append(Cause("ownership", holding.ownership_due, at))
        return tuple(causes)

    def _cause_of_removal(self, holding: Holding) -> Cause:
        wanted = self._wanted
        if self._inventory.is_former(holding):
            message = f"it is still of {holding.owner}, who may have objects for it elsewhere; none here asks for it"
            return Cause(DOUBTFUL, message)
        if wanted is not None and wanted.hold is not None:
            return _doubt_of(wanted.hold)
        standing = self._standing(holding.resource, self._key)
        if wanted is not None and wanted.notes and not standing.is_of_another:
            return Cause(DETACHED, str(wanted.notes[0]), wanted.notes[0].at)
        return _cause_of(standing)

    def _cause_of_type_change(self, holding: Holding) -> Cause:
        doubt = self._doubt_about(holding)
        if doubt is not None:
            return doubt
        wanted = " and ".join(sorted(self._endpoints))
        return Cause(DETACHED, f"{self._key[0]} is to hold {wanted}", self._winner())

    def _doubt_about(self, holding: Holding) -> Cause | None:
        """Why targets must not be taken away although something else is wanted; None if that is certain."""
        if self._wanted is None:
            return None
        if self._wanted.hold is not None:
            return _doubt_of(self._wanted.hold)
        if not holding.resource or holding.resource in self._claimants:
            return None
        standing = self._standing(holding.resource, self._key)
        lost = any(problem.about == standing.at for problem in self._wanted.problems)  # it was heard, and lost
        # Who is known to ask for the name comes before who only may.
        if standing.kind != DOUBTFUL or standing.is_of_another or lost:
            return None
        return _cause_of(standing)

    # Odds and ends

    def _foreign(self) -> list[Holding]:
        return [holding for holding in self._holdings.values() if not self._inventory.is_ours(holding)]

    def _winner(self) -> Ref | None:
        return self._wanted.claimants[0].ref if self._wanted is not None and self._wanted.claimants else None

    def _refuse(self, reason: str, message: str) -> list[PlannedChange]:
        at = self._winner()
        if at is not None:
            self.row.problems.append(Problem(reason, message, at))
        return []

    def _labelled(self, endpoint: Endpoint, resource: str) -> Endpoint:
        """The endpoint with our name, and with the object that holds it already while that is one of its claimants."""
        labels = dict(endpoint.labels)
        if resource in self._claimants:
            labels[RESOURCE] = resource
        if self._inventory.owner:
            labels[OWNER] = self._inventory.owner
        return structs.replace(endpoint, labels=labels)


def _cause_of(standing: Standing) -> Cause:
    return Cause(standing.kind, standing.message, standing.at, standing.may_end, standing.is_of_another)


def _doubt_of(hold: Skipped) -> Cause:
    """What holds a record set as a cause."""
    return Cause(DOUBTFUL, str(hold), hold.at, may_end=may_end(hold))


def _fits(type_: str, left: Collection[str]) -> bool:
    """Whether a record of that type may join those that are left at a name (RFC 1034 3.6.2)."""
    return not left or (type_ != "CNAME" and "CNAME" not in left)


def _difference(old: Endpoint, new: Endpoint) -> str:
    before = {property_.name: property_.value for property_ in old.provider_specific}
    after = {property_.name: property_.value for property_ in new.provider_specific}
    names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return ", ".join(f"{name} {before.get(name, 'unset')} -> {after.get(name, 'unset')}" for name in names)
