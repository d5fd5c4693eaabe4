"""The registry of the settings: the place where ownership is written, and the inventory that reads it there."""

from __future__ import annotations

from collections.abc import Iterable

from gatepost.dns.endpoint import Endpoint
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership.contract import Ownership
from gatepost.dns.ownership.stored import Entry, StoredOwnership
from gatepost.dns.ownership.txt import TxtOwnership
from gatepost.dns.ownership.txt_format import Cipher, OwnershipNames
from gatepost.dns.settings import DnsSettings


def inventory(
    settings: DnsSettings,
    records: Iterable[Endpoint],
    zones: Iterable[str] = (),
    cipher: Cipher | None = None,
    entries: Iterable[Entry] | None = None,
) -> Inventory:
    """What a provider holds, read by the registry of the settings.

    Args:
        records: all that the provider lists.
        zones: the zones that it can write, so that ownership records of an apex stay inside.
        entries: all entries of the store of the registry; None for a registry without one.
    """
    owner = settings.owner
    names = ownership_names(settings, zones)
    ownership: Ownership | None = TxtOwnership(names, cipher) if owner else None
    if isinstance(ownership, TxtOwnership) and entries is not None:
        ownership = StoredOwnership(owner, entries, ownership)
    return Inventory(records, owner, ownership, former_owner=settings.migrate_from_txt_owner, zones=names.zones)


def ownership_names(settings: DnsSettings, zones: Iterable[str] = ()) -> OwnershipNames:
    """The names of TXT records of ownership, kept inside of these zones."""
    return OwnershipNames(
        settings.txt_prefix,
        settings.txt_suffix,
        settings.txt_wildcard_replacement,
        tuple(sorted(zone.strip().rstrip(".").lower() for zone in zones)),
    )
