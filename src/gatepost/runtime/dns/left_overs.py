"""Ownership of ours that speaks of no record any more: what a sweep may delete."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from gatepost.dns.endpoint import Endpoint, NameKey
from gatepost.dns.inventory import Inventory
from gatepost.dns.names import record_name
from gatepost.dns.ownership.stored import Entry
from gatepost.dns.served import Served
from gatepost.dns.settings import DnsSettings


class LeftOver(Struct, frozen=True):
    """Ownership records in the zone, and entries in a store beside it, that may go."""

    records: tuple[Endpoint, ...] = ()
    entries: tuple[Entry, ...] = ()


def left_over(holdings: Inventory, claimed: Collection[NameKey], served: Served, settings: DnsSettings) -> LeftOver:
    """What is left over in the zones that are served, within the names that the settings let us touch.

    Args: claimed: all names that objects here ask for.
    """
    records = holdings.left_over(claimed, settings.record_types)
    entries = holdings.left_over_entries(claimed, settings.record_types) if _lists_for_certain(served) else ()
    types = served.capabilities.types

    def is_in_reach(name: str) -> bool:
        return settings.domains.matches(name) and served.serves(record_name(name))

    return LeftOver(
        tuple(record for record in records if is_in_reach(record.dns_name)),
        tuple(entry for entry in entries if entry.key.record_type in types and is_in_reach(entry.key.dns_name)),
    )


def _lists_for_certain(served: Served) -> bool:
    """Whether a record that was not listed is not there: a store may hold entries of zones that we do not even see."""
    return (served.zones is not None or bool(served.domains)) and served.capabilities.lists_records
