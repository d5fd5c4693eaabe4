"""For providers that know no conditions: is what is there now still what the plan started from?"""

from __future__ import annotations

from collections.abc import Callable

from gatepost.dns.endpoint import Endpoint
from gatepost.dns.names import record_name
from gatepost.dns.ownership.txt_format import OwnershipNames, labels_in
from gatepost.dns.records import OWNER
from gatepost.dns.targets import same_targets
from gatepost.providers.bundles import Bundle, RecordChange
from gatepost.providers.contract import RefusedError
from gatepost.providers.spelling import canonical_name, listed_form

Key = tuple[str, str]
"""Canonical name and type."""

There = Callable[[Key], Endpoint | None]
"""What is there now under a key, in listed form."""


def key_of(record: Endpoint) -> Key:
    """Raises: RefusedError if its name is none."""
    try:
        return (canonical_name(record.dns_name), record.record_type)
    except ValueError as error:
        raise RefusedError(f"{record.record_type} {record.dns_name}: {error}") from error


def require_as_planned(bundle: Bundle, there: There, names: OwnershipNames | None) -> None:
    """Raises: RefusedError unless every record of the bundle, and who owns it, is as the plan believed it to be.

    Args: names: where ownership is written; None if there is no registry.
    """
    changed = {key_of(change.record) for change in bundle.changes}
    for change in bundle.changes:
        _require_targets(change, there(key_of(change.record)))
        if names is not None:
            _require_owner(change.record, there, changed, names)


def ownership_key(record: Endpoint, names: OwnershipNames) -> Key | None:
    """Where the owner of a record is written; None for records that nobody owns by name."""
    if record.record_type == "TXT":
        return None
    return (names.for_record(record_name(record.dns_name), record.record_type), "TXT")


def _require_targets(change: RecordChange, there: Endpoint | None) -> None:
    named = f"{change.record.record_type} {change.record.dns_name}"
    if change.old is None:
        if there is not None:
            raise RefusedError(f"{named}: there is already one, {', '.join(there.targets)}; it was left as it is")
        return
    wanted = listed_form(change.old).targets
    if there is None or not same_targets(there.targets, wanted):
        found = ", ".join(there.targets) if there is not None else "none"
        raise RefusedError(
            f"{named}: found {found}, wanted {', '.join(wanted)}: somebody else has changed it; it was left as it is"
        )


def _require_owner(record: Endpoint, there: There, changed: set[Key], names: OwnershipNames) -> None:
    owner = record.labels.get(OWNER, "")
    key = ownership_key(record, names)
    if not owner or key is None or key in changed:
        return
    ownership = there(key)
    for labels in map(labels_in, ownership.targets if ownership is not None else ()):
        if labels is not None and labels.get(OWNER, "") != owner:
            theirs = labels.get(OWNER) or "somebody else"
            raise RefusedError(f"{record.record_type} {record.dns_name}: it belongs to {theirs} by now, not {owner}")
