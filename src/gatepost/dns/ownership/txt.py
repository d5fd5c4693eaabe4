"""Ownership that is written down in the zone itself, in a TXT record beside each record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from gatepost.dns.endpoint import Endpoint, NameKey
from gatepost.dns.ownership.contract import Written
from gatepost.dns.ownership.txt_format import Cipher, OwnershipNames, labels_in
from gatepost.dns.records import OWNER

_OLD_FORM = "its ownership record is written in an old form"


class _Found(Struct, frozen=True):
    """An ownership record that was read: its labels, or the owners that contend for what it speaks of."""

    endpoint: Endpoint
    labels: dict[str, str]
    contested: tuple[str, ...] = ()


class TxtOwnership:
    """The ownership records of a listing. See `contract.Ownership`.

    Args:
        names: where ownership is written.
        cipher: opens their texts; None if none of them is sealed.
    """

    def __init__(self, names: OwnershipNames, cipher: Cipher | None = None) -> None:
        self.names = names
        self._cipher = cipher
        self._found: dict[NameKey, _Found] = {}

    def add(self, record: Endpoint) -> bool:
        found = self._read(record)
        if found is None:
            return False
        self._found[record.name_key] = found
        return True

    def remove(self, record: Endpoint) -> bool:
        if self._read(record) is None:
            return False
        self._found.pop(record.name_key, None)
        return True

    def forget(self, is_unknown: Callable[[str], bool]) -> None:
        """Drops the ownership records under names of which nothing is known any more."""
        for key in [key for key in self._found if is_unknown(key[0])]:
            del self._found[key]

    def of(self, key: NameKey, record_type: str, *, is_alias: bool = False) -> Written | None:
        for name in self.names.to_read(key[0], record_type, is_alias=is_alias):
            found = self._found.get((name, key[1]))
            if found is not None:
                is_where_written = name == self.names.for_record(key[0], record_type)
                return Written(found.labels, found.contested, "" if is_where_written else _OLD_FORM)
        return None

    def refusal(self, name: str, record_type: str) -> str | None:
        return self.names.refusal(name, record_type)

    def is_at(self, key: NameKey) -> bool:
        """Whether an ownership record stands under a name, whoever's it is."""
        return key in self._found

    def record_of(self, key: NameKey, record_type: str) -> Endpoint | None:
        """The ownership record that stands under the name we would write, left over or not."""
        found = self._found.get((self.names.for_record(key[0], record_type), key[1]))
        return found.endpoint if found is not None else None

    def left_over(
        self,
        owner: str,
        held: Mapping[NameKey, Collection[str]],
        claimed: Iterable[NameKey],
        record_types: Iterable[str],
    ) -> tuple[Endpoint, ...]:
        """The ownership records of an owner that speak of no record, see `Inventory.left_over`.

        One that holds other texts as well is somebody's, and stays.
        Args: held: the types of the records of each name.
        """
        written = {
            (self.names.for_record(key[0], record_type), key[1]) for key, types in held.items() for record_type in types
        }
        ours = {
            key: found.endpoint
            for key, found in self._found.items()
            if key not in written and found.labels.get(OWNER) == owner
        }
        if not ours:  # as nearly always: the rest is dear in a large zone
            return ()
        types = tuple(record_types)
        kept = {(name, key[1]) for key in held for name in self._names_beside(key, held[key], owner)}
        kept.update((name, key[1]) for key in claimed for name in self._names_about(key, types))
        return tuple(ours[key] for key in sorted(ours) if key not in kept and not self.others_in(ours[key]))

    def others_in(self, record: Endpoint) -> tuple[str, ...]:
        """The texts beside those of ownership in a TXT record, such as a sender policy that somebody put there."""
        return tuple(text for text in record.targets if self._labels_in(text) is None)

    def _names_beside(self, key: NameKey, held: Collection[str], owner: str) -> Iterator[str]:
        """Where ownership stays because of the records of a name: what speaks of them, and what is left beside ours."""
        if any(self._is_owned(key, record_type, owner) for record_type in held):
            yield from self._names_about(key, held)
        else:
            for record_type in held:
                yield from self.names.to_read(key[0], record_type, is_alias=True)

    def _is_owned(self, key: NameKey, record_type: str, owner: str) -> bool:
        written = self.of(key, record_type, is_alias=True)
        return written is not None and written.labels.get(OWNER) == owner

    def _names_about(self, key: NameKey, record_types: Iterable[str]) -> Iterator[str]:
        for record_type in {"A", *record_types}:
            yield from self.names.to_read(key[0], record_type, is_alias=True)

    def _read(self, record: Endpoint) -> _Found | None:
        """What an ownership record says; None for an ordinary record."""
        if record.record_type != "TXT":
            return None
        read = [labels for labels in map(self._labels_in, record.targets) if labels is not None]
        if not read:
            return None
        owners = tuple(sorted({labels.get(OWNER, "") for labels in read}))
        return _Found(record, read[0]) if len(owners) == 1 else _Found(record, {}, owners)

    def _labels_in(self, text: str) -> dict[str, str] | None:
        opened = self._cipher.open(text) if self._cipher is not None else None
        return labels_in(text if opened is None else opened)
