"""The source crd: records that a DNSEndpoint spells out.

They are taken as written. No annotation has a meaning here, except those that --annotation-filter looks at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from gatepost.dns.annotations import LONGEST_TTL
from gatepost.dns.endpoint import NameKey, Property
from gatepost.dns.names import record_name, too_long_label
from gatepost.dns.ownership.txt_format import OWNED_RECORD, labels_in
from gatepost.dns.records import OWNER, RESOURCE, Claim, Claimant, Claims, Record
from gatepost.dns.sources.filters import Filters
from gatepost.dns.targets import distinct, joined
from gatepost.objects.dnsendpoint import DNSEndpoint, WrittenEndpoint
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref
from gatepost.state.view import View

_OURS = (OWNER, RESOURCE, OWNED_RECORD)
_BREAKS_THE_TEXT = re.compile(r'[,"\\\x00-\x1f\x7f]')
_ANY_FINAL_DOT = ("CNAME", "DNAME", "TXT", "MX", "SRV")


class EndpointRule:
    """Claims of a DNSEndpoint: one for each name and set identifier in it."""

    def __init__(self, filters: Filters) -> None:
        self._filters = filters

    def __call__(self, ref: Ref, view: View) -> Claims:
        written = view.get(DNSEndpoint, ref)
        if written is None:
            return Claims()
        refused = self._filters.against_object(ref, written.metadata)
        if refused is not None:
            return Claims(skipped=(refused,))
        wishes = self._filters.reader.read(written.metadata.annotations)
        skipped = list(wishes.remarks(ref, wishes.present))
        by_key: dict[NameKey, list[Record]] = {}
        for entry in _entries(written, ref, skipped):
            by_key.setdefault(entry.key, []).append(entry.record)
        claimant = Claimant(written.metadata.creation_timestamp or "", ref)
        claims = tuple(
            Claim(*key, joined([(record,) for record in records]), claimant) for key, records in by_key.items()
        )
        return Claims(claims, tuple(skipped))


class _Entry(Struct, frozen=True):
    key: NameKey
    record: Record


def _entries(written: DNSEndpoint, ref: Ref, skipped: list[Skipped]) -> Iterator[_Entry]:
    """The entries that can be records; the others leave a line, one bad entry does not stop the rest."""
    for index, endpoint in enumerate(written.spec.endpoints):
        field = f"spec.endpoints[{index}]"
        if endpoint is None:
            skipped.append(Skipped("EmptyEntry", "is null", ref, field))
            continue
        name = record_name(endpoint.dns_name)
        refused = _refusal(endpoint, name, ref, field)
        if refused is not None:
            skipped.append(refused)
            continue
        if not 0 <= endpoint.record_ttl <= LONGEST_TTL:
            message = f"found {endpoint.record_ttl}, wanted 1 to {LONGEST_TTL}; it does not count"
            skipped.append(Skipped("InvalidTTL", message, ref, f"{field}.recordTTL"))
        for label in sorted(endpoint.labels):
            if not _can_be_kept(label, endpoint.labels[label]):
                message = "holds a comma, quote, backslash or control character, and is not kept"
                skipped.append(Skipped("InvalidLabel", message, ref, f"{field}.labels[{label}]"))
        yield _Entry((name, endpoint.set_identifier), _record(endpoint))


def _refusal(endpoint: WrittenEndpoint, name: str, ref: Ref, field: str) -> Skipped | None:
    if not name:
        return Skipped("InvalidName", "found no name, wanted one", ref, f"{field}.dnsName")
    label = too_long_label(name)
    if label is not None:
        return Skipped("InvalidName", f"label {label!r} has more than 63 characters", ref, f"{field}.dnsName")
    for target in endpoint.targets:
        if endpoint.record_type == "TXT" and labels_in(target) is not None:
            why = "says whose a record is, which only the registry may"
            return Skipped("InvalidTarget", f"{target!r} {why}", ref, f"{field}.targets")
        if endpoint.record_type == "NAPTR" and not target.endswith("."):
            return Skipped("InvalidTarget", f"{target!r} must end with a dot", ref, f"{field}.targets")
        if endpoint.record_type not in (*_ANY_FINAL_DOT, "NAPTR") and target.endswith("."):
            return Skipped("InvalidTarget", f"{target!r} must not end with a dot", ref, f"{field}.targets")
    return None


def _record(endpoint: WrittenEndpoint) -> Record:
    properties = {written.name: Property(written.name, written.value) for written in endpoint.provider_specific}
    return Record(
        endpoint.record_type,
        distinct(endpoint.record_type, endpoint.targets),
        endpoint.record_ttl if 0 <= endpoint.record_ttl <= LONGEST_TTL else 0,
        tuple(properties[name] for name in sorted(properties)),
        tuple(label for label in sorted(endpoint.labels.items()) if label[0] not in _OURS and _can_be_kept(*label)),
    )


def _can_be_kept(label: str, value: str) -> bool:
    """Whether a label comes back from an ownership text as it went in; there a comma begins another label."""
    return "=" not in label and not _BREAKS_THE_TEXT.search(label + value)
