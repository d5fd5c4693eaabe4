"""What the provider holds, name by name, and who owns it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator

from msgspec import Struct, structs

from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey, NameKey
from gatepost.dns.names import record_name
from gatepost.dns.ownership.contract import Ownership, Written
from gatepost.dns.ownership.stored import Entry, StoredOwnership
from gatepost.dns.ownership.txt import TxtOwnership
from gatepost.dns.ownership.txt_format import OWNED_RECORD
from gatepost.dns.records import OWNER, RESOURCE


class Holding(Struct, frozen=True):
    """A record that is there, as the registry knows it.

    Attributes:
        endpoint: with the labels that are written down for it.
        contested: several owners are written down for it; it then counts as nobody's.
        ownership_due: why its ownership has to be written anew, "" if it stands as we would write it.
    """

    endpoint: Endpoint
    contested: tuple[str, ...] = ()
    ownership_due: str = ""

    @property
    def owner(self) -> str:
        return self.endpoint.labels.get(OWNER, "")

    @property
    def resource(self) -> str:
        return self.endpoint.labels.get(RESOURCE, "")


class Inventory:
    """The records of a provider. What speaks of ownership is told apart from ordinary records and joined to them.

    It follows the changes that were made (`take`), so that names can be planned one by one without a new listing.

    Args:
        records: everything that the provider lists, or nothing of it would be safe to change.
        owner: who we are; "" if there is no registry, and everything counts as ours.
        ownership: where it is written who owns what; None if there is no registry.
        former_owner: whose records we take over, "" for nobody.
        zones: the zones that the records lie in, in canonical form, as far as they are known.
    """

    def __init__(
        self,
        records: Iterable[Endpoint],
        owner: str,
        ownership: Ownership | None,
        *,
        former_owner: str = "",
        zones: Iterable[str] = (),
    ) -> None:
        self.owner = owner
        self._zones = frozenset(zones)
        self.former_owner = former_owner
        self._owners = {name for name in (owner, former_owner) if name}
        self._ownership = ownership
        self._records: dict[NameKey, dict[str, Endpoint]] = {}
        self._own_count: int | None = None
        for record in records:
            self._add(record)

    @property
    def txt(self) -> TxtOwnership | None:
        """Where ownership is written, if that is in TXT records."""
        return self._ownership if isinstance(self._ownership, TxtOwnership) else None

    @property
    def _stored(self) -> StoredOwnership | None:
        return self._ownership if isinstance(self._ownership, StoredOwnership) else None

    def own_entry(self, key: EndpointKey) -> Entry | None:
        """Our entry about a record, where ownership is kept outside of DNS."""
        return self._stored.own_entry(key) if self._stored is not None else None

    def row(self, key: NameKey) -> tuple[Holding, ...]:
        """The records of a name, sorted by type."""
        records = self._records.get(key)
        if records is None:
            return ()
        return tuple(self._holding(key, records[type_]) for type_ in sorted(records))

    def keys(self) -> Iterator[NameKey]:
        """All names that have records, ownership records apart."""
        return iter(list(self._records))

    def count_by_type(self) -> Counter[str]:
        """How many records of each type there are, ownership records apart."""
        return Counter(record_type for records in self._records.values() for record_type in records)

    def is_ours(self, holding: Holding) -> bool:
        """Whether we may change a record: ours, or that of the owner whom we follow."""
        if not self.owner:
            return True
        return holding.owner in self._owners

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
            deque(self.counting_own(), maxlen=0)
        assert self._own_count is not None
        return self._own_count

    def counting_own(self) -> Iterator[int]:
        """Counts the records that are ours name by name, so that `own_count` knows; nothing may change meanwhile.

        Yields: how many they are so far.
        """
        count = 0
        for key in self._records:
            count += self._own_in(key)
            yield count
        self._own_count = count

    def claimed_by_others(self, key: NameKey, record_type: str) -> tuple[str, ...]:
        """The other owners who have written down that they own this record, whether or not it is there."""
        written = self._written(key, record_type)
        if written is None:
            return ()
        if written.contested:
            return written.contested
        owner = written.labels.get(OWNER, "")
        return () if owner in (self.owner, self.former_owner) else (owner,)

    def is_ownership(self, key: NameKey, record_type: str) -> bool:
        """Whether what stands under a name and type says whose another record is."""
        return record_type == "TXT" and self._ownership is not None and self._ownership.is_at(key)

    def refusal(self, name: str, record_type: str) -> str | None:
        """Why the ownership of a record cannot be written down, None if it can or there is no registry."""
        return self._ownership.refusal(name, record_type) if self._ownership is not None else None

    def left_over(self, claimed: Iterable[NameKey], record_types: Iterable[str]) -> tuple[Endpoint, ...]:
        """Our ownership records without a record, sorted, such as an interrupted change leaves behind.

        They keep all others from the name, so they should go once nobody here claims it. At a name that has a record of
        ours, those of A, of aliases and of no type stay too: external-dns leaves some beside records of other types.
        Args: claimed: names with a claim, doubtful ones too. `record_types`: those that claims may ask for.
        """
        if self.txt is not None:
            return self.txt.left_over(self.owner, self._records, claimed, record_types)
        types = tuple(record_types)
        # Beside a store, TXT records are written only where they are ours to write.
        if self._stored is None or "TXT" not in types:
            return ()
        return self._stored.superfluous_txt(self._records, claimed, types)

    def left_over_entries(self, claimed: Iterable[NameKey], record_types: Collection[str]) -> tuple[Entry, ...]:
        """The same of our entries. Those below a delegation stay: their zone is another one, and was not listed."""
        if self._stored is None:
            return ()
        found = self._stored.left_over(self._records, claimed, record_types)
        return tuple(entry for entry in found if not self._is_delegated(entry.key.dns_name))

    def _is_delegated(self, name: str) -> bool:
        labels = name.split(".")
        above = (".".join(labels[start:]) for start in range(len(labels)))
        return any("NS" in self._records.get((other, ""), ()) for other in above if other not in self._zones)

    def note_entries(self, made: Iterable[Entry] = (), gone: Iterable[Entry] = ()) -> None:
        """Follows what has become of our entries."""
        if self._stored is None:
            return
        made, gone = tuple(made), tuple(gone)
        touched = {entry.key.name_key for entry in (*made, *gone)}
        before = self._count(touched)
        for entry in gone:
            self._stored.drop(entry)
        for entry in made:
            self._stored.put(entry)
        if self._own_count is not None:
            self._own_count += self._count(touched) - before

    def take(self, changes: Changes, failed: Iterable[EndpointKey] = ()) -> None:
        """Follows changes that the provider has made, but for those it refused."""
        refused = set(failed)
        touched = {self._key_touched(record) for record in (*changes.create, *changes.update_new, *changes.delete)}
        before = self._count(touched)
        for record in changes.delete:
            if record.key not in refused:
                self._remove(record)
        for record in changes.update_old:  # a TXT record may cease to speak of ownership
            if record.key not in refused:
                self._remove(record)
        for record in (*changes.update_new, *changes.create):
            if record.key not in refused:
                self._add(record)
        if self._own_count is not None:
            self._own_count += self._count(touched) - before

    def learn(self, records: Iterable[Endpoint]) -> None:
        """Takes in all records of a zone of which nothing was known."""
        for record in records:
            self._add(record)
        self._own_count = None

    def forget(self, is_unknown: Callable[[str], bool]) -> None:
        """Drops what it holds of names of which nothing is known any more."""
        for key in [key for key in self._records if is_unknown(key[0])]:
            del self._records[key]
        if self._ownership is not None:
            self._ownership.forget(is_unknown)
        self._own_count = None

    def _count(self, keys: Iterable[NameKey]) -> int:
        return 0 if self._own_count is None else sum(self._own_in(key) for key in keys)

    def _own_in(self, key: NameKey) -> int:
        records = self._records.get(key, {})
        if not self.owner:
            return len(records)
        return sum(self._owner_at(key, record) in self._owners for record in records.values())

    def _owner_at(self, key: NameKey, record: Endpoint) -> str:
        """Who owns a record: what `Holding.owner` says, at a fraction of the cost."""
        written = self._written(key, record.record_type, is_alias=_is_alias(record))
        return written.labels.get(OWNER, "") if written is not None else ""

    def _key_touched(self, record: Endpoint) -> NameKey:
        """The name whose ownership a record has to do with: for an ownership record, the name that it speaks of."""
        return (record.labels.get(OWNED_RECORD) or record_name(record.dns_name), record.set_identifier)

    def _add(self, record: Endpoint) -> None:
        if self._ownership is None or not self._ownership.add(record):
            self._records.setdefault(record.name_key, {})[record.record_type] = record

    def _remove(self, record: Endpoint) -> None:
        if self._ownership is not None and self._ownership.remove(record):
            return
        key = record.name_key
        records = self._records.get(key, {})
        records.pop(record.record_type, None)
        if not records:
            self._records.pop(key, None)

    def _written(self, key: NameKey, record_type: str, *, is_alias: bool = False) -> Written | None:
        return self._ownership.of(key, record_type, is_alias=is_alias) if self._ownership is not None else None

    def _holding(self, key: NameKey, record: Endpoint) -> Holding:
        labels = {name: value for name, value in record.labels.items() if name not in (OWNER, RESOURCE)}
        written = self._written(key, record.record_type, is_alias=_is_alias(record))
        if written is None:
            return Holding(structs.replace(record, dns_name=key[0], labels=labels if self.owner else record.labels))
        endpoint = structs.replace(record, dns_name=key[0], labels={**labels, **written.labels})
        return Holding(endpoint, written.contested, written.due)


def _is_alias(record: Endpoint) -> bool:
    return any(property_.name == "alias" for property_ in record.provider_specific)
