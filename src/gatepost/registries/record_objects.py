"""DNSRecords as values: what one says about a record, and what is to be written of one.

The name is that of external-dns, so that either finds the objects of the other: the DNS name, made fit for a name, and
eight digits of a hash over what makes the record one. The Ready condition tells how far the record is:

| reason       | status  | the record                                         |
| `Accepted`   | Unknown | is about to be written, or it is not known whether |
| `Programmed` | True    | is what the provider holds                         |
| `Failed`     | False   | was refused by the provider, as the message tells  |

Source: external-dns, the registry crd.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from gatepost.dns.endpoint import Endpoint, EndpointKey, Property
from gatepost.dns.ownership.stored import Entry
from gatepost.dns.records import OWNER
from gatepost.objects.dnsrecord import OWNER_LABEL, READY, DNSRecord
from gatepost.objects.meta import condition_of

Raw = dict[str, Any]

ACCEPTED, PROGRAMMED, FAILED = "Accepted", "Programmed", "Failed"
_STATUS = {ACCEPTED: "Unknown", PROGRAMMED: "True", FAILED: "False"}
_NOT_PROGRAMMED = "its DNSRecord does not say yet that it is in DNS"
_LONGEST_NAME = 253
_LONGEST_MESSAGE = 32768
_UNFIT = re.compile(r"[^a-z0-9]+")


def object_name(key: EndpointKey) -> str:
    """The name of the DNSRecord of a record."""
    identity = f"{key.dns_name}/{key.record_type}/{key.set_identifier}"
    end = "-" + hashlib.sha256(identity.encode()).hexdigest()[:8]
    start = _UNFIT.sub("-", key.dns_name.lower()).strip("-")
    return (start[: _LONGEST_NAME - len(end)].strip("-") or "record") + end


def entry_of(obj: DNSRecord) -> Entry:
    """What a DNSRecord says. Its label tells the owner; one that lacks it has the owner of its endpoint, or nobody."""
    written = obj.spec.endpoint
    owner = obj.metadata.labels.get(OWNER_LABEL) or written.labels.get(OWNER, "")
    record = Endpoint(
        written.dns_name,
        written.record_type,
        written.targets,
        written.record_ttl,
        written.set_identifier,
        {**written.labels, OWNER: owner},
        tuple(sorted(Property(entry.name, entry.value) for entry in written.provider_specific)),
    )
    ready = condition_of(obj.status.conditions, READY)
    is_due = ready is not None and ready.reason != PROGRAMMED
    return Entry(record, obj.metadata.name, _NOT_PROGRAMMED if is_due else "")


def spec_of(entry: Entry) -> Raw:
    """The `spec` that says what an entry says."""
    endpoint: Raw = msgspec.json.decode(msgspec.json.encode(entry.record))  # as it comes back, lists and all
    return {"endpoint": endpoint}


def new_object(entry: Entry, namespace: str) -> Raw:
    """A DNSRecord that is not there yet; the edge sets its apiVersion."""
    metadata = {"name": object_name(entry.key), "namespace": namespace, "labels": {OWNER_LABEL: entry.owner}}
    return {"kind": DNSRecord.KIND.kind, "metadata": metadata, "spec": spec_of(entry)}


def owner_in(raw: Raw) -> str:
    """The owner of a raw DNSRecord, as `entry_of` tells it."""
    labels: dict[str, str] = raw["metadata"].get("labels") or {}
    written: dict[str, str] = raw.get("spec", {}).get("endpoint", {}).get("labels") or {}
    return labels.get(OWNER_LABEL) or written.get(OWNER, "")


def status_with(raw: Raw, reason: str, message: str) -> Raw:
    """The status of a raw DNSRecord with its Ready condition set, conditions of others kept; see `wanted_status`."""
    others = [c for c in raw.get("status", {}).get("conditions") or [] if c.get("type") != READY]
    ready = {
        "type": READY,
        "status": _STATUS[reason],
        "reason": reason,
        "message": message[:_LONGEST_MESSAGE],
        "observedGeneration": raw["metadata"].get("generation", 1),
    }
    return {"conditions": [*others, ready]}
