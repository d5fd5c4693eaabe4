"""What of a claim is ours to publish: targets in our networks, records of the types that we manage.

The rest is none of our business. So it leaves a claim before claims compete for a name and before an address displaces
a name: a private address neither wins against a public one nor hides it, and neither does a record of another tool.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import structs

from gatepost.dns.records import Claim, Claims, Records
from gatepost.dns.targets import ADDRESS_TYPES, TRAFFIC_TYPES
from gatepost.dns.wrappers.networks import Nat64, TargetFilter
from gatepost.objects.problems import Skipped


class Reach:
    """Takes the records of a name through NAT64, the target networks and the record types, in that order.

    Addresses stay where PTR records are managed, which are made from them; `chain.py` leaves them out then.
    """

    def __init__(
        self, nat64: Sequence[str], include: Sequence[str], exclude: Sequence[str], types: Collection[str]
    ) -> None:
        self._nat64 = Nat64(nat64) if nat64 else None
        self._networks = TargetFilter(include, exclude) if include or exclude else None
        self._types = frozenset(types) | frozenset(ADDRESS_TYPES if "PTR" in types else ())
        manages_all = self._types.issuperset(TRAFFIC_TYPES)
        asked = (
            ("--target-net-filter", include),
            ("--exclude-target-net", exclude),
            ("the managed record types", () if manages_all else sorted(types)),
        )
        self.filters = ", ".join(f"{flag} {' '.join(texts)}" for flag, texts in asked if texts)
        """What targets have to pass, in the words of the flags."""

    @property
    def is_idle(self) -> bool:
        """Whether the records that come from targets pass as they are."""
        return self._nat64 is None and self._networks is None and self._types.issuperset(TRAFFIC_TYPES)

    def __call__(self, records: Records) -> Records:
        return self._managed(self._in_networks(records))

    def within(self, claims: Claims) -> Claims:
        """The claims with what is left of their records. One without any is no claim, unless it is in doubt."""
        skipped = list(claims.skipped)
        kept = [claim for claim in (self._claim(claim, skipped) for claim in claims.claims) if _counts(claim)]
        return structs.replace(claims, claims=tuple(kept), skipped=tuple(skipped))

    def _claim(self, claim: Claim, skipped: list[Skipped]) -> Claim:
        at = claim.claimant.ref
        in_networks = self._in_networks(claim.records)
        lost = sorted({record.type for record in claim.records} - {record.type for record in in_networks})
        if lost:
            message = f"{claim.name}: {', '.join(lost)} has no target in the target networks"
            skipped.append(Skipped("TargetsFilteredOut", message, at))
        if not _counts(claim):
            message = f"{claim.name}: none of its targets passes {self.filters}"
            skipped.append(Skipped("OutOfReach", message, at))
        managed = self._managed(in_networks)
        for record in in_networks:
            if record not in managed:
                message = f"{claim.name}: {record.type or 'no type'} is not among the managed record types"
                skipped.append(Skipped("RecordType", message, at))
        return claim if managed == claim.records else structs.replace(claim, records=managed)

    def _in_networks(self, records: Records) -> Records:
        if self._nat64 is not None:
            records = self._nat64(records)
        if self._networks is not None:
            records = tuple(record for record in map(self._networks, records) if record.targets)
        return records

    def _managed(self, records: Records) -> Records:
        return tuple(record for record in records if record.type in self._types)


def _counts(claim: Claim) -> bool:
    return bool(claim.records) or claim.doubt is not None
