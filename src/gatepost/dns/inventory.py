"""What the provider holds, name by name, and who owns it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey
from gatepost.dns.names import record_name
from gatepost.dns.ownership import OWNED_RECORD, Cipher, OwnershipNames, labels_in
from gatepost.dns.records import OWNER, RESOURCE, NameKey


class Holding(Struct, frozen=True):
    """A record that is there, as the registry knows it.

    Attributes:
        endpoint: with the labels that its ownership record holds.
        ownership: its ownership record, where that stands under the name that we would write; else None.
        contested: several owners are written down for it; it then counts as nobody's.
    """

    endpoint: Endpoint
    ownership: Endpoint | None = None
    contested: tuple[str, ...] = ()

    @property
    def owner(self) -> str:
        return self.endpoint.labels.get(OWNER, "")

    @property
    def resource(self) -> str:
        return self.endpoint.labels.get(RESOURCE, "")


class _Found(Struct, frozen=True):
    """An ownership record that was read: its labels, or the owners that contend for it."""

    endpoint: Endpoint
    labels: dict[str, str]
    contested: tuple[str, ...] = ()


class Inventory:
    """The records of a provider. Ownership records are told apart from ordinary TXT records and joined to theirs.

    It follows the changes that were made (`take`), so that names can be planned one by one without a new listing.

    Args:
        records: everything that the provider lists, or nothing of it would be safe to change.
        owner: who we are; "" if there is no registry, and everything counts as ours.
        former_owner: whose records we take over, "" for nobody.
        names: where ownership is written.
    """

    def __init__(
        self,
        records: Iterable[Endpoint],
        owner: str,
        names: OwnershipNames,
        *,
        former_owner: str = "",
        cipher: Cipher | None = None,
    ) -> None:
        self.owner = owner
        self.former_owner = former_owner
        self.names = names
        self._cipher = cipher
        self._records: dict[NameKey, dict[str, Endpoint]] = {}
        self._ownership: dict[NameKey, _Found] = {}
        self._own_count: int | None = None
        for record in records:
            self._add(record)

    def row(self, key: NameKey) -> tuple[Holding, ...]:
        """The records of a name, sorted by type."""
        records = self._records.get(key)
        if records is None:
            return ()
        return tuple(self._holding(key, records[type_]) for type_ in sorted(records))

    def keys(self) -> Iterator[NameKey]:
        """All names that have records, ownership records apart."""
        return iter(list(self._records))

    def is_ours(self, holding: Holding) -> bool:
        """Whether we may change a record: ours, or that of the owner whom we follow."""
        if not self.owner:
            return True
        return holding.owner == self.owner or (bool(self.former_owner) and holding.owner == self.former_owner)

    def is_former(self, holding: Holding) -> bool:
        """Whether a record is still that of the owner whom we follow."""
        return bool(self.former_owner) and holding.owner == self.former_owner != self.owner

    def former_count(self) -> int:
        """How many records are still those of the owner whom we follow."""
        if not self.former_owner:
            return 0
        return sum(self.is_former(holding) for key in self._records for holding in self.row(key))

    def own_count(self) -> int:
        """How many records are ours. Counted once, then kept up to date."""
        if self._own_count is None:
            self._own_count = sum(self._own_in(key) for key in self._records)
        return self._own_count

    def claimed_by_others(self, key: NameKey, record_type: str) -> tuple[str, ...]:
        """The other owners who have written down that they own this record, whether or not it is there."""
        if not self.owner:
            return ()
        found = self._found(key, record_type)
        if found is None:
            return ()
        if found.contested:
            return found.contested
        owner = found.labels.get(OWNER, "")
        return () if owner in (self.owner, self.former_owner) else (owner,)

    def ownership_of(self, key: NameKey, record_type: str) -> Endpoint | None:
        """The ownership record that stands under the name we would write, left over or not."""
        found = self._ownership.get((self.names.for_record(key[0], record_type), key[1]))
        return found.endpoint if found is not None else None

    def left_over(self, claimed: Iterable[NameKey], record_types: Iterable[str]) -> tuple[Endpoint, ...]:
        """Our ownership records without a record, sorted, such as an interrupted change leaves behind.

        They keep all others from the name, so they should go once nobody here claims it. At a name that has any record,
        those of A, of aliases and of no type stay too: external-dns leaves some of them beside records of other types.
        Args: claimed: names with a claim, doubtful ones too. `record_types`: those that claims may ask for.
        """
        written = {
            (self.names.for_record(key[0], record_type), key[1])
            for key, records in self._records.items()
            for record_type in records
        }
        ours = {
            key: found.endpoint
            for key, found in self._ownership.items()
            if key not in written and found.labels.get(OWNER) == self.owner
        }
        if not ours:  # as nearly always: the rest is dear in a large zone
            return ()
        types = tuple(record_types)
        kept = {(name, key[1]) for key in self._records for name in self._names_about(key, self._records[key])}
        kept.update((name, key[1]) for key in claimed for name in self._names_about(key, types))
        return tuple(ours[key] for key in sorted(ours) if key not in kept)

    def _names_about(self, key: NameKey, record_types: Iterable[str]) -> Iterator[str]:
        for record_type in {"A", *record_types}:
            yield from self.names.to_read(key[0], record_type, is_alias=True)

    def take(self, changes: Changes, failed: Iterable[EndpointKey] = ()) -> None:
        """Follows changes that the provider has made, but for those it refused."""
        refused = set(failed)
        touched = {self._key_touched(record) for record in (*changes.create, *changes.update_new, *changes.delete)}
        before = self._count(touched)
        for record in changes.delete:
            if record.key not in refused:
                self._remove(record)
        for record in (*changes.update_new, *changes.create):
            if record.key not in refused:
                self._add(record)
        if self._own_count is not None:
            self._own_count += self._count(touched) - before

    def _count(self, keys: Iterable[NameKey]) -> int:
        return 0 if self._own_count is None else sum(self._own_in(key) for key in keys)

    def _own_in(self, key: NameKey) -> int:
        return sum(self.is_ours(holding) for holding in self.row(key))

    def _key_touched(self, record: Endpoint) -> NameKey:
        """The name whose ownership a record has to do with: for an ownership record, the name that it speaks of."""
        return (record.labels.get(OWNED_RECORD) or record_name(record.dns_name), record.set_identifier)

    def _add(self, record: Endpoint) -> None:
        key = (record_name(record.dns_name), record.set_identifier)
        found = self._read(record)
        if found is not None:
            self._ownership[key] = found
        else:
            self._records.setdefault(key, {})[record.record_type] = record

    def _remove(self, record: Endpoint) -> None:
        key = (record_name(record.dns_name), record.set_identifier)
        if self._read(record) is not None:
            self._ownership.pop(key, None)
            return
        records = self._records.get(key, {})
        records.pop(record.record_type, None)
        if not records:
            self._records.pop(key, None)

    def _read(self, record: Endpoint) -> _Found | None:
        """What an ownership record says; None for an ordinary record, and for all where there is no registry."""
        if record.record_type != "TXT" or not self.owner:
            return None
        read = [labels for labels in map(self._labels_in, record.targets) if labels is not None]
        if not read:
            return None
        owners = tuple(sorted({labels.get(OWNER, "") for labels in read}))
        return _Found(record, read[0]) if len(owners) == 1 else _Found(record, {}, owners)

    def _labels_in(self, text: str) -> dict[str, str] | None:
        opened = self._cipher.open(text) if self._cipher is not None else None
        return labels_in(text if opened is None else opened)

    def _found(self, key: NameKey, record_type: str, *, is_alias: bool = False) -> _Found | None:
        for name in self.names.to_read(key[0], record_type, is_alias=is_alias):
            found = self._ownership.get((name, key[1]))
            if found is not None:
                return found
        return None

    def _holding(self, key: NameKey, record: Endpoint) -> Holding:
        labels = {name: value for name, value in record.labels.items() if name not in (OWNER, RESOURCE)}
        is_alias = any(property_.name == "alias" for property_ in record.provider_specific)
        found = self._found(key, record.record_type, is_alias=is_alias) if self.owner else None
        if found is None:
            return Holding(structs.replace(record, dns_name=key[0], labels=labels if self.owner else record.labels))
        endpoint = structs.replace(record, dns_name=key[0], labels={**labels, **found.labels})
        written = found.endpoint if self._is_where_written(key, record.record_type, found) else None
        return Holding(endpoint, written, found.contested)

    def _is_where_written(self, key: NameKey, record_type: str, found: _Found) -> bool:
        return record_name(found.endpoint.dns_name) == self.names.for_record(key[0], record_type)
