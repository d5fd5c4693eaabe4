"""The registry: from a plan to the changes that a provider makes, ownership records included."""

from __future__ import annotations

from collections.abc import Iterable

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership import OWNED_RECORD, Cipher, OwnershipNames, labels_in, ownership_text
from gatepost.dns.plan import CREATE, DELETE, PlannedChange
from gatepost.dns.records import OWNER
from gatepost.dns.settings import DnsSettings


def inventory(
    settings: DnsSettings, records: Iterable[Endpoint], zones: Iterable[str] = (), cipher: Cipher | None = None
) -> Inventory:
    """What a provider holds, read by the registry of the settings.

    Args:
        records: all that the provider lists.
        zones: the zones that it can write, so that ownership records of an apex stay inside.
    """
    names = OwnershipNames(
        settings.txt_prefix,
        settings.txt_suffix,
        settings.txt_wildcard_replacement,
        tuple(sorted(zone.strip().rstrip(".").lower() for zone in zones)),
    )
    return Inventory(records, settings.owner, names, former_owner=settings.migrate_from_txt_owner, cipher=cipher)


def changes_for(planned: Iterable[PlannedChange], inventory: Inventory, cipher: Cipher | None = None) -> Changes:
    """The changes to send, each with what has to happen to its ownership record.

    Ownership records that are replaced or deleted are sent as they were read, since some providers remove by value.
    """
    create: list[Endpoint] = []
    update: list[tuple[Endpoint, Endpoint]] = []
    delete: list[Endpoint] = []
    for change in planned:
        record = change.record
        there = inventory.ownership_of((record.dns_name, record.set_identifier), record.record_type)
        if change.action == DELETE:
            delete.append(record)
            if inventory.owner and there is not None:
                delete.append(_about(there, record))
            continue
        if change.action == CREATE:
            create.append(record)
        elif change.touches_record and change.old is not None:
            update.append((change.old, record))
        if inventory.owner:
            wanted = _ownership(record, inventory, cipher)
            if there is None:
                create.append(wanted)
            elif _differs(there, wanted, cipher):
                update.append((_about(there, record), wanted))
    return Changes(
        tuple(_sorted(create)),
        tuple(old for old, _ in sorted(update, key=lambda pair: pair[1].key)),
        tuple(new for _, new in sorted(update, key=lambda pair: pair[1].key)),
        tuple(_sorted(delete)),
    )


def _ownership(record: Endpoint, inventory: Inventory, cipher: Cipher | None) -> Endpoint:
    text = ownership_text(record.labels)
    return Endpoint(
        inventory.names.for_record(record.dns_name, record.record_type),
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


def _texts(endpoint: Endpoint, cipher: Cipher | None) -> list[dict[str, str] | None]:
    """What is written down, as labels: sealing one text twice gives two texts, and providers may drop the quotes."""
    texts = endpoint.targets if cipher is None else tuple(cipher.open(text) or text for text in endpoint.targets)
    return [labels_in(text) for text in texts]


def _sorted(endpoints: list[Endpoint]) -> list[Endpoint]:
    return sorted(endpoints, key=lambda endpoint: endpoint.key)
