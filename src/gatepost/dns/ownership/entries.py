"""What has to happen to the entries of a store around the changes that a provider makes.

    claims -> provider -> releases

A claim comes first and goes last: where things stop halfway an entry is left over, which is used later or swept, while
a record without an entry would be nobody's for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from gatepost.dns.endpoint import EndpointKey
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership.stored import Entry
from gatepost.dns.plan import DELETE, PlannedChange
from gatepost.dns.targets import same_targets


def claims_for(planned: Iterable[PlannedChange], inventory: Inventory) -> tuple[Entry, ...]:
    """The entries to make or to confirm before the provider is asked, in the order of the changes.

    A deletion confirms its entry too: it was read a while ago, and the name may be somebody else's by now. A record
    whose ownership stands in a TXT record alone has none to confirm.
    """
    claims: list[Entry] = []
    for change in planned:
        there = inventory.own_entry(change.record.key)
        if change.action != DELETE:
            claims.append(Entry(change.record, there.id if there is not None else ""))
        elif there is not None:
            claims.append(there)
    return tuple(claims)


def releases_for(
    planned: Iterable[PlannedChange], is_done: Callable[[EndpointKey], bool], inventory: Inventory
) -> tuple[Entry, ...]:
    """The entries of records that were deleted."""
    gone = [change.record.key for change in planned if change.action == DELETE and is_done(change.record.key)]
    return tuple(entry for key in gone if (entry := inventory.own_entry(key)) is not None)


def without(planned: Iterable[PlannedChange], refused: Collection[EndpointKey]) -> tuple[PlannedChange, ...]:
    """The changes of names of which no claim was refused: those of one name are one wish, and go together."""
    names = {key.name_key for key in refused}
    return tuple(change for change in planned if change.record.name_key not in names)


def is_made_by_another(claim: Entry, inventory: Inventory) -> bool | None:
    """Whether a record is there that our claim cannot have made; None while no record is there.

    Args: claim: one that we made for a creation of which it is not known that it took place. Whoever else made a
        record there did so without asking the registry; only by its targets it can be told from ours.
    """
    key = claim.key
    row = inventory.row(key.name_key)
    found = next((holding.endpoint for holding in row if holding.endpoint.record_type == key.record_type), None)
    return None if found is None else not same_targets(found.targets, claim.record.targets)
