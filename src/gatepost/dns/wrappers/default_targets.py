"""--default-targets: what records without targets answer with.

This happens to claims, before they are settled: what a claim wants includes its targets.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from gatepost.dns.records import Claim, Claims, Record, Records
from gatepost.dns.targets import joined, records_for


class DefaultTargets:
    """Gives the default targets to records without targets, or to all of them.

    A record without targets becomes one record per type of the defaults; its own type is forgotten, its settings stay.
    """

    def __init__(self, targets: Sequence[str], *, force: bool) -> None:
        self._records = records_for(target.removesuffix(".") for target in targets)
        self._force = force

    def __call__(self, claims: Claims) -> Claims:
        return structs.replace(claims, claims=tuple(self._filled(claim) for claim in claims.claims))

    def _filled(self, claim: Claim) -> Claim:
        if not any(self._needs(record) for record in claim.records):
            return claim
        return structs.replace(claim, records=self._fill(claim.records))

    def _fill(self, records: Records) -> Records:
        return joined([self._instead(record) if self._needs(record) else (record,) for record in records])

    def _needs(self, record: Record) -> bool:
        return self._force or not record.targets

    def _instead(self, record: Record) -> Records:
        return tuple(structs.replace(record, type=default.type, targets=default.targets) for default in self._records)
