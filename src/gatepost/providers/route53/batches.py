"""The changes of one name as Route 53 takes them, and how many of them fit into one call.

Source: quotas of ChangeResourceRecordSets: 1,000 record elements and 32,000 characters of values. An update is a
deletion and a creation here, so that it counts for both, as it would if it were an UPSERT.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from gatepost.dns.endpoint import EndpointKey
from gatepost.providers.bundles import Bundle, RecordChange
from gatepost.providers.contract import RefusedError
from gatepost.providers.route53.record_sets import AliasRules, RouteSet, key_of, record_set_for, says_the_same

Presents = Mapping[EndpointKey, RouteSet]
"""The record sets as Route 53 listed them, by their canonical keys."""


class Step(Struct, frozen=True):
    """One record set before and after, as Route 53 spells it; None where there is none."""

    key: EndpointKey
    before: RouteSet | None
    after: RouteSet | None


class Package(Struct, frozen=True):
    """What is sent for a bundle: all or none of it is made."""

    bundle: Bundle
    steps: tuple[Step, ...]

    @property
    def changes(self) -> list[dict[str, Any]]:
        """Deletions go first: a name cannot hold A and CNAME at once (RFC 1034 3.6.2), nor two routing policies."""
        deleted = [_change("DELETE", step.before) for step in self.steps if step.before is not None]
        return deleted + [_change("CREATE", step.after) for step in self.steps if step.after is not None]

    @property
    def size(self) -> tuple[int, int]:
        """Record elements, and characters of their values."""
        sets = [change["ResourceRecordSet"] for change in self.changes]
        values = [[record["Value"] for record in set_.get("ResourceRecords", ())] for set_ in sets]
        return sum(max(1, len(some)) for some in values), sum(len(value) for some in values for value in some)


def _change(action: str, record_set: RouteSet) -> dict[str, Any]:
    return {"Action": action, "ResourceRecordSet": dict(record_set)}


def package_of(bundle: Bundle, present: Presents, rules: AliasRules) -> Package:
    """What to send for a bundle.

    Raises: RefusedError if what was listed last is not what its changes start from, or one cannot be written.
    """
    steps = (_step(change, present, rules) for change in bundle.changes)
    return Package(bundle, tuple(step for step in steps if not _is_idle(step)))


def _step(change: RecordChange, present: Presents, rules: AliasRules) -> Step:
    key = key_of(change.record)
    before = present.get(key)
    named = f"{key.record_type} {key.dns_name}" + (f" ({key.set_identifier})" if key.set_identifier else "")
    if change.old is None and before is not None:
        raise RefusedError(f"{named}: there is already one; it was left as it is")
    if change.old is not None and before is None:
        raise RefusedError(f"{named}: it is not there any more, so there is nothing to change")
    if change.new is None:
        return Step(key, before, None)
    ttl_before = before.get("TTL", 0) if before is not None else 0
    return Step(key, before, record_set_for(change.new, rules, ttl_before))


def _is_idle(step: Step) -> bool:
    """Whether it changes nothing, as for an ownership record of an alias, which has no alias itself."""
    return step.before is not None and step.after is not None and says_the_same(step.before, step.after)


def batches_within(packages: Iterable[Package], most_changes: int, most_characters: int) -> list[list[Package]]:
    """The packages in batches that one call takes; one that is too large by itself is a batch of its own."""
    batches: list[list[Package]] = []
    changes = characters = 0
    for package in packages:
        more, longer = package.size
        if not batches or changes + more > most_changes or characters + longer > most_characters:
            batches.append([])
            changes = characters = 0
        batches[-1].append(package)
        changes, characters = changes + more, characters + longer
    return batches


def changes_of(batch: Sequence[Package]) -> list[dict[str, Any]]:
    return [change for package in batch for change in package.changes]
