"""Ownership that is kept outside of DNS: one entry for each record, whether or not the record is there.

| entry  | TXT ownership record | whose the record is                                                    |
| none   | none                 | nobody's                                                               |
| none   | one                  | that of the TXT record; if that is us, the entry is still to be made   |
| one    | none, or the same    | that of the entry                                                      |
| ours   | somebody else's      | contested: another instance still keeps its ownership in the zone      |
| theirs | any                  | that of the entry                                                      |
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from gatepost.dns.endpoint import Endpoint, EndpointKey, NameKey
from gatepost.dns.names import record_name
from gatepost.dns.ownership.contract import Written
from gatepost.dns.ownership.txt import TxtOwnership
from gatepost.dns.records import OWNER

_ONLY_IN_TXT = "its ownership stands in a TXT record, and not yet in the registry"


class Entry(Struct, frozen=True):
    """What a store says about one record.

    Attributes:
        record: the record, with its owner among the labels; its targets only where the store keeps them.
        id: what the store calls the entry, "" for one that is still to be made.
        due: why it has to be written anew although it is ours, "" if it is as it should be.
    """

    record: Endpoint
    id: str = ""
    due: str = ""

    @property
    def key(self) -> EndpointKey:
        """The key of the record in canonical form."""
        return EndpointKey(record_name(self.record.dns_name), self.record.record_type, self.record.set_identifier)

    @property
    def owner(self) -> str:
        return self.record.labels.get(OWNER, "")


class StoredOwnership:
    """The entries of a store, those of others too. See `contract.Ownership`.

    Args:
        owner: who we are.
        entries: everything in the store: a claim of another owner counts before its record is there.
        txt: the ownership records of the listing, such as a registry leaves behind that kept them in the zone.
    """

    def __init__(self, owner: str, entries: Iterable[Entry], txt: TxtOwnership) -> None:
        self._owner = owner
        self._txt = txt
        self._entries: dict[EndpointKey, dict[str, Entry]] = {}
        for entry in entries:
            self._entries.setdefault(entry.key, {})[entry.id] = entry

    def add(self, record: Endpoint) -> bool:
        return self._txt.add(record)

    def remove(self, record: Endpoint) -> bool:
        return self._txt.remove(record)

    def forget(self, is_unknown: Callable[[str], bool]) -> None:
        self._txt.forget(is_unknown)

    def of(self, key: NameKey, record_type: str, *, is_alias: bool = False) -> Written | None:
        entries = self._entries.get(EndpointKey(key[0], record_type, key[1]))
        txt = self._txt.of(key, record_type, is_alias=is_alias)
        if entries is None:
            return Written(txt.labels, txt.contested, _ONLY_IN_TXT) if txt is not None else None
        owners = {entry.owner for entry in entries.values()}
        if txt is not None and owners == {self._owner}:
            owners |= {*txt.contested, *([txt.labels.get(OWNER, "")] if txt.labels else [])}
        if len(owners) > 1:
            return Written({}, tuple(sorted(owners)))
        first = next(iter(entries.values()))
        return Written(dict(first.record.labels), due=first.due)

    def is_at(self, key: NameKey) -> bool:
        return self._txt.is_at(key)

    def refusal(self, name: str, record_type: str) -> str | None:
        return None

    def own_entry(self, key: EndpointKey) -> Entry | None:
        """Our entry about a record."""
        found = self._entries.get(key, {})
        return next((entry for entry in found.values() if entry.owner == self._owner), None)

    def put(self, entry: Entry) -> None:
        """Takes in an entry that we have made or changed."""
        self._entries.setdefault(entry.key, {})[entry.id] = entry

    def drop(self, entry: Entry) -> None:
        """Forgets an entry that is gone."""
        entries = self._entries.get(entry.key, {})
        entries.pop(entry.id, None)
        if not entries:
            self._entries.pop(entry.key, None)

    def left_over(
        self, held: Mapping[NameKey, Collection[str]], claimed: Iterable[NameKey], record_types: Collection[str]
    ) -> tuple[Entry, ...]:
        """Our entries that speak of no record and of nothing that is asked for, sorted.

        Args: held: the types of the records of each name. `claimed`, `record_types`: see `Inventory.left_over`.
        """
        kept = set(claimed)
        found = [
            entry
            for entry in self._ours()
            if entry.key.record_type not in held.get(entry.key.name_key, ())
            and not (entry.key.name_key in kept and entry.key.record_type in record_types)
        ]
        return tuple(sorted(found, key=lambda entry: (entry.key, entry.id)))

    def superfluous_txt(
        self, held: Mapping[NameKey, Collection[str]], claimed: Iterable[NameKey], record_types: Iterable[str]
    ) -> tuple[Endpoint, ...]:
        """Our ownership records in the zone that nothing rests on any more, sorted. Arguments as in `left_over`."""
        resting = {key: [t for t in types if not self._has_entry(key, t)] for key, types in held.items()}
        claimed_only = [key for key in claimed if resting.get(key) != []]
        return self._txt.left_over(
            self._owner, {key: types for key, types in resting.items() if types}, claimed_only, record_types
        )

    def _has_entry(self, key: NameKey, record_type: str) -> bool:
        return EndpointKey(key[0], record_type, key[1]) in self._entries

    def _ours(self) -> Iterator[Entry]:
        return (entry for found in self._entries.values() for entry in found.values() if entry.owner == self._owner)
