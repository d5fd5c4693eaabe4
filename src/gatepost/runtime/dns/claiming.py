"""Changes on their way to the provider where ownership is kept outside of DNS: a claim before, a release after.

| it stops                               | left behind               | what comes of it                              |
| while claims are made                  | claims without records    | used when the names are tried again, or swept |
| at the provider: refused, or not known | a claim, perhaps a record | see `_unsure`: the next listing tells         |
| between the provider and a release     | an entry without record   | swept                                         |
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from gatepost.dns.endpoint import EndpointKey, NameKey
from gatepost.dns.inventory import Inventory
from gatepost.dns.ownership.entries import claims_for, is_made_by_another, releases_for, without
from gatepost.dns.ownership.stored import Entry
from gatepost.dns.plan import CREATE, DELETE, PlannedChange
from gatepost.dns.served import Served
from gatepost.log_fields import fields
from gatepost.providers.contract import Provider
from gatepost.registries.contract import OwnershipStore, RegistryError
from gatepost.runtime.dns.left_overs import LeftOver
from gatepost.runtime.dns.part import DnsPart
from gatepost.runtime.dns.sending import Sender

log = logging.getLogger("gatepost.dns")


class ClaimingSender(Sender):
    """A Sender whose records are claimed in a store first."""

    def __init__(self, provider: Provider, store: OwnershipStore, may_write: Callable[[], bool] = lambda: True) -> None:
        super().__init__(provider, None, may_write)
        self._store = store
        # New claims whose creation was refused, or may have been lost, with the inventory of that time. If a record is
        # listed there later, it need not be ours: it may be the very one for which the provider refused the creation.
        self._unsure: dict[EndpointKey, tuple[Entry, Inventory]] = {}

    @property
    def owes(self) -> bool:
        return super().owes or bool(self._unsure)

    async def send(
        self, planned: Sequence[PlannedChange], holdings: Inventory, served: Served
    ) -> Mapping[EndpointKey, str]:
        """See Sender.send; a change whose claim is refused is not sent, nor are the others of its name."""
        refused, new = await self._claim(claims_for(planned, holdings), holdings)
        due = without(planned, refused)
        await self._give_back([new[change.record.key] for change in _others(planned, due, new)], holdings)
        for change in due:
            if change.action == CREATE and change.record.key in new:
                self._unsure[change.record.key] = (new[change.record.key], holdings)
        errors = await super().send(due, holdings, served)
        now_served = served.with_unread(self._lost)
        known = [change for change in due if now_served.serves(change.record.dns_name)]
        await self._settle(known, errors, holdings)
        return {**errors, **_of_names(planned, refused)}

    async def mend(self, holdings: Inventory, served: Served) -> None:
        """See Sender.mend. Also gives up claims on records that somebody else has made."""
        await super().mend(holdings, served)
        for key, (claim, then) in list(self._unsure.items()):
            if not served.serves(key.dns_name):
                continue
            is_theirs = is_made_by_another(claim, holdings)
            if is_theirs is None and holdings is then:
                continue
            if is_theirs:
                log.warning("a record is there that is not ours", extra=fields(name=key.dns_name, type=key.record_type))
                await self._release([claim], holdings)
                if holdings.own_entry(key) is not None:  # it stays for now, and must not make the record ours
                    holdings.note_entries(gone=[claim])
                    continue
            del self._unsure[key]

    async def sweep(self, found: LeftOver, holdings: Inventory, served: Served) -> None:
        """See Sender.sweep; entries of the store go as well. Raises: RegistryError besides."""
        await super().sweep(found, holdings, served)
        for entry in found.entries:
            log.info("deleting an ownership entry that is left over", extra=fields(name=entry.key.dns_name))
        if found.entries:
            await self._release(found.entries, holdings)

    async def _claim(
        self, claims: Sequence[Entry], holdings: Inventory
    ) -> tuple[dict[EndpointKey, str], dict[EndpointKey, Entry]]:
        """Makes claims. Returns: why not, for those that were refused; and those that nobody had before."""
        self._require_leading()
        results = await self._store.claim(claims) if claims else ()
        holdings.note_entries(made=[result.entry for result in results if not result.error])
        refused = {result.entry.key: result.error for result in results if result.error}
        for key, error in refused.items():
            log.warning("a claim was refused", extra=fields(name=key.dns_name, type=key.record_type, error=error))
        return refused, {result.entry.key: result.entry for result in results if result.is_new and not result.error}

    async def _settle(
        self, known: Sequence[PlannedChange], errors: Mapping[EndpointKey, str], holdings: Inventory
    ) -> None:
        """Follows in the store what the provider did. What fails here is left over, and swept later."""
        for change in known:
            if change.record.key not in errors:
                self._unsure.pop(change.record.key, None)
        try:
            written = [change.record.key for change in known if change.action != DELETE]
            await self._store.settle({key: errors.get(key, "") for key in written})
            await self._release(releases_for(known, lambda key: key not in errors, holdings), holdings)
        except RegistryError as error:
            log.warning("ownership entries are left over", extra=fields(error=error))

    async def _give_back(self, entries: Sequence[Entry], holdings: Inventory) -> None:
        """Releases new claims that are of no use without others: they would keep those others' owner from the name."""
        try:
            await self._release(entries, holdings)
        except RegistryError as error:
            log.warning("ownership entries are left over", extra=fields(error=error))

    async def _release(self, entries: Sequence[Entry], holdings: Inventory) -> None:
        self._require_leading()
        results = await self._store.release(entries) if entries else ()
        holdings.note_entries(gone=[result.entry for result in results if not result.error])
        for result in results:
            if result.error:
                said = fields(name=result.entry.key.dns_name, error=result.error)
                log.warning("an ownership entry could not be deleted", extra=said)

    def _require_leading(self) -> None:
        if not self._may_write():
            raise RegistryError("nothing was sent: this replica does not lead")


def sender_for(part: DnsPart, may_write: Callable[[], bool]) -> Sender:
    """The sender that goes with where ownership is kept."""
    if part.store is not None:
        return ClaimingSender(part.provider, part.store, may_write)
    return Sender(part.provider, part.cipher if part.settings.txt_encrypt_enabled else None, may_write)


def _others(
    planned: Iterable[PlannedChange], due: Collection[PlannedChange], new: Collection[EndpointKey]
) -> list[PlannedChange]:
    """The changes that are not sent although their claim was made just now."""
    sent = {change.record.key for change in due}
    return [change for change in planned if change.record.key in new and change.record.key not in sent]


def _of_names(planned: Iterable[PlannedChange], refused: Mapping[EndpointKey, str]) -> dict[EndpointKey, str]:
    """Why not, for each change of a name of which a claim was refused."""
    by_name: dict[NameKey, str] = {}
    for key, error in refused.items():
        by_name.setdefault(key.name_key, error)
    return {
        change.record.key: refused.get(change.record.key, by_name[change.record.name_key])
        for change in planned
        if change.record.name_key in by_name
    }
