"""From a plan to the changes that a provider makes, ownership records included."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct, field, structs

from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey, NameKey
from gatepost.dns.inventory import Holding, Inventory
from gatepost.dns.ownership.txt import TxtOwnership
from gatepost.dns.ownership.txt_format import OWNED_RECORD, Cipher, labels_in, ownership_text
from gatepost.dns.plan import CREATE, DELETE, PlannedChange
from gatepost.dns.records import OWNER
from gatepost.dns.targets import same_targets


def changes_for(planned: Iterable[PlannedChange], inventory: Inventory, cipher: Cipher | None = None) -> Changes:
    """The changes to send, each with what has to happen to its ownership record.

    Ownership records that are replaced or deleted are sent as they were read, since some providers remove by value.
    Texts of others in them stay.
    """
    sent = _Sent()
    for change in planned:
        _add_record(sent, change)
        if inventory.txt is not None:
            _add_ownership(sent, change, inventory.txt, cipher)
    # Ownership is written before its record and goes after it: where a provider stops halfway, a left-over ownership
    # record is used later, while a record without one would be nobody's for ever.
    updates = sorted(sent.updates, key=lambda pair: pair[1].key)
    return Changes(
        tuple(sorted(sent.create, key=lambda record: (not _is_ownership(record), record.key))),
        tuple(old for old, _ in updates),
        tuple(new for _, new in updates),
        tuple(sorted(sent.delete, key=lambda record: (_is_ownership(record), record.key))),
    )


class _Sent(Struct):
    """What goes to the provider, as it is gathered; `updates` are pairs of old and new."""

    create: list[Endpoint] = field(default_factory=list)
    updates: list[tuple[Endpoint, Endpoint]] = field(default_factory=list)
    delete: list[Endpoint] = field(default_factory=list)


def _add_record(sent: _Sent, change: PlannedChange) -> None:
    if change.action == DELETE:
        sent.delete.append(change.record)
    elif change.action == CREATE:
        sent.create.append(change.record)
    elif change.touches_record and change.old is not None:
        sent.updates.append((change.old, change.record))


def _add_ownership(sent: _Sent, change: PlannedChange, txt: TxtOwnership, cipher: Cipher | None) -> None:
    record = change.record
    there = txt.record_of(record.name_key, record.record_type)
    if there is None:
        if change.action != DELETE:
            sent.create.append(_ownership(record, txt, cipher))
        return
    others, before = txt.others_in(there), _about(there, record)
    if change.action != DELETE:
        wanted = _ownership(record, txt, cipher)
        if _differs(there, wanted, cipher):
            sent.updates.append((before, structs.replace(wanted, targets=(*wanted.targets, *others))))
    elif others:
        sent.updates.append((before, structs.replace(before, targets=others)))
    else:
        sent.delete.append(before)


def amends(changes: Changes, failed: Collection[EndpointKey], inventory: Inventory) -> Changes:
    """What sets ownership right again after a provider took a record and refused its ownership record, or the reverse.

    A record that stayed gets its ownership record back, or nobody could ever change it again; a record that was created
    without one is deleted for the same reason. An ownership record without its record does no harm: it is used later.
    Returns: empty changes if every record and its ownership record went the same way.
    """
    txt = inventory.txt
    if txt is None or not failed:
        return Changes()

    def of(record: Endpoint, among: Iterable[Endpoint]) -> list[Endpoint]:
        name = txt.names.for_record(record.dns_name, record.record_type)
        key = EndpointKey(name, "TXT", record.set_identifier)
        return [other for other in among if other.key == key and OWNED_RECORD in other.labels]

    lost = [
        ownership
        for record in changes.delete
        if record.key in failed
        for ownership in of(record, changes.delete)
        if ownership.key not in failed
    ]
    unowned = [
        record
        for record in changes.create
        if record.key not in failed
        for ownership in of(record, changes.create)
        if ownership.key in failed
    ]
    return Changes(create=tuple(_sorted(lost)), delete=tuple(_sorted(unowned)))


def still_due(mend: Changes, inventory: Inventory) -> Changes:
    """What of `amends` has to happen still, going by what the provider lists by now.

    Only records that nobody owns get an ownership record back. One that we made is deleted only while it is as we made
    it and is not ours: left beside the ownership record of another, it would be given away.
    """
    txt = inventory.txt
    if txt is None:
        return Changes()

    def held(key: NameKey, record_type: str) -> Holding | None:
        row = (holding for holding in inventory.row(key) if holding.endpoint.record_type == record_type)
        return next((holding for holding in row if not holding.contested), None)

    def is_unowned(key: NameKey, record_type: str) -> bool:
        found = held(key, record_type)
        return found is not None and not found.owner

    def lacks_ownership(ownership: Endpoint) -> bool:
        key = (ownership.labels[OWNED_RECORD], ownership.set_identifier)
        types = [holding.endpoint.record_type for holding in inventory.row(key)]
        return any(txt.names.for_record(key[0], t) == ownership.dns_name and is_unowned(key, t) for t in types)

    def is_as_made(record: Endpoint) -> bool:
        found = held(record.name_key, record.record_type)
        if found is None or inventory.is_ours(found):
            return False
        return same_targets(found.endpoint.targets, record.targets)

    return Changes(create=tuple(filter(lacks_ownership, mend.create)), delete=tuple(filter(is_as_made, mend.delete)))


def _ownership(record: Endpoint, txt: TxtOwnership, cipher: Cipher | None) -> Endpoint:
    text = ownership_text(record.labels)
    return Endpoint(
        txt.names.for_record(record.dns_name, record.record_type),
        "TXT",
        (text if cipher is None else cipher.seal(text),),
        set_identifier=record.set_identifier,
        labels={OWNER: record.labels.get(OWNER, ""), OWNED_RECORD: record.dns_name},
        provider_specific=record.provider_specific,
    )


def _about(there: Endpoint, record: Endpoint) -> Endpoint:
    """An ownership record as it was read, marked with the name that it speaks of."""
    return Endpoint(
        there.dns_name,
        there.record_type,
        there.targets,
        there.record_ttl,
        there.set_identifier,
        {**there.labels, OWNED_RECORD: record.dns_name},
        there.provider_specific,
    )


def _differs(there: Endpoint, wanted: Endpoint, cipher: Cipher | None) -> bool:
    return _texts(there, cipher) != _texts(wanted, cipher) or there.provider_specific != wanted.provider_specific


def _texts(endpoint: Endpoint, cipher: Cipher | None) -> list[dict[str, str]]:
    """What is written down, as labels: sealing one text twice gives two texts, and providers may drop the quotes."""
    texts = endpoint.targets if cipher is None else tuple(cipher.open(text) or text for text in endpoint.targets)
    return [labels for labels in map(labels_in, texts) if labels is not None]


def _is_ownership(record: Endpoint) -> bool:
    return OWNED_RECORD in record.labels


def _sorted(endpoints: list[Endpoint]) -> list[Endpoint]:
    return sorted(endpoints, key=lambda endpoint: endpoint.key)
