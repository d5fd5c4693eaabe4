"""Planned changes on their way to the provider, and what sets ownership right where it took only half of one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey
from gatepost.dns.inventory import Inventory
from gatepost.dns.names import record_name
from gatepost.dns.ownership.changes import amends, changes_for, still_due
from gatepost.dns.ownership.txt_format import OWNED_RECORD, Cipher
from gatepost.dns.plan import PlannedChange
from gatepost.dns.served import Served, UnreadZone
from gatepost.log_fields import fields
from gatepost.providers.contract import Provider, ProviderError, RecordResult, ZonesUnknown
from gatepost.runtime.dns.left_overs import LeftOver

log = logging.getLogger("gatepost.dns")


class Sender:
    """Sends changes to one provider and follows them in the inventory.

    Args:
        cipher: seals the texts of ownership records; None to write them as they are.
        may_write: asked before each call; see `leading`.
    """

    def __init__(self, provider: Provider, cipher: Cipher | None, may_write: Callable[[], bool] = lambda: True) -> None:
        self._provider = provider
        self._may_write = may_write
        self._cipher = cipher
        self._owed = Changes()
        self._contradicted: Inventory | None = None
        self._lost: list[UnreadZone] = []

    @property
    def owes(self) -> bool:
        """Whether a record and its ownership record still go separate ways."""
        return bool(self._owed)

    def is_contradicted(self, holdings: Inventory) -> bool:
        """Whether an ownership record was refused that these holdings do not have: someone else may have written it.

        Whose the record is that was made beside it, only a new listing tells.
        """
        return holdings is self._contradicted

    def take_lost(self) -> list[UnreadZone]:
        """The zones of which it is not known what was changed in them since it was last asked.

        What the inventory held of them is forgotten; they have to be read again.
        """
        lost, self._lost = self._lost, []
        return lost

    async def send(
        self, planned: Sequence[PlannedChange], holdings: Inventory, served: Served
    ) -> Mapping[EndpointKey, str]:
        """Makes changes.

        Returns: why not, for each record of which the provider refused the record or its ownership record; see
            `take_lost` for those of which that is not known.
        Raises: ProviderError if it is not known what was changed; everything has to be listed anew.
        """
        changes = changes_for(planned, holdings, self._cipher)
        errors = await self._apply(changes, holdings, served) if changes else {}
        # First noted, then sent: if the answer to this is lost as well, it is due again once everything is listed.
        mend = amends(changes, errors, holdings)
        self._owed = _joined(self._owed, mend)
        if mend.delete:
            self._contradicted = holdings
        await self.mend(holdings, served)
        return _by_record(planned, errors, holdings)

    async def mend(self, holdings: Inventory, served: Served) -> None:
        """Does what is owed, as far as it is still due. Raises: ProviderError; it stays owed then.

        What is owed in a zone of which nothing is known waits until that has been read, and deletions wait for holdings
        that are not contradicted.
        """
        served = served.with_unread(self._lost)
        owed, waiting = _split(self._owed, lambda record: served.serves(_about(record)))
        if self.is_contradicted(holdings):
            waiting = _joined(waiting, Changes(delete=owed.delete))
            owed = Changes(create=owed.create)
        due = still_due(owed, holdings)
        errors = await self._apply(due, holdings, served) if due else {}
        served = served.with_unread(self._lost)
        failed, _ = _split(due, lambda record: record.key in errors or not served.serves(_about(record)))
        self._owed = _joined(waiting, failed)

    async def sweep(self, found: LeftOver, holdings: Inventory, served: Served) -> None:
        """Deletes ownership that speaks of nothing any more. Raises: ProviderError"""
        for record in found.records:
            log.info("deleting an ownership record that is left over", extra=fields(name=record.dns_name))
        if found.records:
            await self._apply(Changes(delete=found.records), holdings, served)

    async def _apply(self, changes: Changes, holdings: Inventory, served: Served) -> dict[EndpointKey, str]:
        if not self._may_write():
            raise ProviderError("nothing was sent: this replica does not lead")
        try:
            results = await self._provider.apply(changes)
        except ZonesUnknown as error:
            results = error.results
            self._lost += error.zones
            lost = served.with_unread(error.zones)
            holdings.forget(lambda name: not lost.serves(name))
            changes = _with_results(changes, results)
        errors = {result.key: result.error for result in results if result.error}
        holdings.take(changes, errors)
        for key, error_ in errors.items():
            log.warning("a record was refused", extra=fields(name=key.dns_name, type=key.record_type, error=error_))
        return errors


def _about(record: Endpoint) -> str:
    """The name that a record speaks of."""
    return record_name(record.labels.get(OWNED_RECORD) or record.dns_name)


def _split(changes: Changes, is_first: Callable[[Endpoint], bool]) -> tuple[Changes, Changes]:
    """Creations and deletions in two."""
    return (
        Changes(create=tuple(filter(is_first, changes.create)), delete=tuple(filter(is_first, changes.delete))),
        Changes(
            create=tuple(record for record in changes.create if not is_first(record)),
            delete=tuple(record for record in changes.delete if not is_first(record)),
        ),
    )


def _with_results(changes: Changes, results: Sequence[RecordResult]) -> Changes:
    """The changes of which it is known how they went."""
    known = {result.key for result in results}
    pairs = [pair for pair in zip(changes.update_old, changes.update_new, strict=True) if pair[1].key in known]
    return Changes(
        tuple(record for record in changes.create if record.key in known),
        tuple(old for old, _ in pairs),
        tuple(new for _, new in pairs),
        tuple(record for record in changes.delete if record.key in known),
    )


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
