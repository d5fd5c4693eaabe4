"""Planned changes on their way to the provider, and what sets ownership right where it took only half of one."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership import Cipher
from gatepost.dns.plan import PlannedChange
from gatepost.dns.registry import amends, changes_for, still_due
from gatepost.providers.contract import Provider
from gatepost.runtime.logs import fields

log = logging.getLogger("gatepost.dns")


class Sender:
    """Sends changes to one provider and follows them in the inventory.

    Args:
        cipher: seals the texts of ownership records; None to write them as they are.
    """

    def __init__(self, provider: Provider, cipher: Cipher | None) -> None:
        self._provider = provider
        self._cipher = cipher
        self._owed = Changes()

    @property
    def owes(self) -> bool:
        """Whether a record and its ownership record still go separate ways."""
        return bool(self._owed)

    async def send(self, planned: Sequence[PlannedChange], holdings: Inventory) -> Mapping[EndpointKey, str]:
        """Makes changes.

        Returns: why not, for each record of which the provider refused the record or its ownership record.
        Raises: ProviderError if it is not known what was changed; everything has to be listed anew.
        """
        changes = changes_for(planned, holdings, self._cipher)
        errors = await self._apply(changes, holdings)
        # First noted, then sent: if the answer to this is lost as well, it is due again once everything is listed.
        self._owed = _joined(self._owed, amends(changes, errors, holdings))
        await self.mend(holdings)
        return _by_record(planned, errors, holdings)

    async def mend(self, holdings: Inventory) -> None:
        """Does what is owed, as far as it is still due. Raises: ProviderError; it stays owed then."""
        due = still_due(self._owed, holdings)
        errors = await self._apply(due, holdings) if due else {}
        self._owed = Changes(
            create=tuple(record for record in due.create if record.key in errors),
            delete=tuple(record for record in due.delete if record.key in errors),
        )

    async def sweep(self, left_over: Sequence[Endpoint], holdings: Inventory) -> None:
        """Deletes ownership records that speak of nothing any more. Raises: ProviderError."""
        for record in left_over:
            log.info("deleting an ownership record that is left over", extra=fields(name=record.dns_name))
        if left_over:
            await self._apply(Changes(delete=tuple(left_over)), holdings)

    async def _apply(self, changes: Changes, holdings: Inventory) -> dict[EndpointKey, str]:
        results = await self._provider.apply(changes)
        errors = {result.key: result.error for result in results if result.error}
        holdings.take(changes, errors)
        for key, error in errors.items():
            log.warning("a record was refused", extra=fields(name=key.dns_name, type=key.record_type, error=error))
        return errors


def _by_record(
    planned: Sequence[PlannedChange], errors: Mapping[EndpointKey, str], holdings: Inventory
) -> dict[EndpointKey, str]:
    found: dict[EndpointKey, str] = {}
    for key in (change.record.key for change in planned):
        if key in errors:
            found[key] = errors[key]
        elif holdings.txt is not None:
            name = holdings.txt.names.for_record(key.dns_name, key.record_type)
            error = errors.get(EndpointKey(name, "TXT", key.set_identifier))
            if error is not None:
                found[key] = f"its ownership record {name}: {error}"
    return found


def _joined(one: Changes, other: Changes) -> Changes:
    """Both, with what `other` says of a record in the place of what `one` does."""
    keys = {record.key for record in (*other.create, *other.delete)}
    return Changes(
        create=(*(record for record in one.create if record.key not in keys), *other.create),
        delete=(*(record for record in one.delete if record.key not in keys), *other.delete),
    )
