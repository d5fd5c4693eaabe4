"""Which names a provider serves just now: what was read, what was lost on the way, and what has come back since."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gatepost.dns.inventory import Inventory
from gatepost.dns.plan import PlannedChange
from gatepost.dns.served import Served, UnreadZone
from gatepost.providers.contract import Provider
from gatepost.runtime.dns.reading import take_in
from gatepost.runtime.dns.rereading import Rereading
from gatepost.runtime.dns.zone_log import ZoneLog


class ServedZones:
    """Follows the zones of one provider.

    Attributes: served: as of now.
    Args: monotonic: seconds that only grow.
    """

    def __init__(self, provider: Provider, monotonic: Callable[[], float], log: ZoneLog) -> None:
        self.served = Served()
        self._rereading = Rereading(provider, monotonic)
        self._monotonic = monotonic
        self._log = log

    @property
    def failures(self) -> tuple[str, ...]:
        """Which zones are unread, and why, in words."""
        return tuple(f"zone {zone.name} cannot be read: {zone.why}" for zone in self.served.unread.values())

    def wake_with(self, wake: Callable[[], None]) -> None:
        """What to call when a zone has been read in the background, and `take_reread` has something."""
        self._rereading.wake = wake

    def next_moment(self) -> float | None:
        """When `read_due` has something next, None if it has nothing."""
        return self._rereading.next()

    def read_due(self) -> None:
        """Begins to read the zones whose time has come, in the background: a server that is gone holds up nobody."""
        self._rereading.start_due()

    def stop(self) -> None:
        """Ends what goes on in the background."""
        self._rereading.stop()

    def forget(self) -> None:
        """Nothing is known of the provider any more."""
        self.served = Served()

    def note_listing(self, served: Served) -> None:
        """Takes note of a new listing of all zones."""
        self.served = served
        self._rereading.note_listing(served.unread.values())
        self._log.say_unread(served.unread.values())

    def note_sent(self, sent: Sequence[PlannedChange], lost: Iterable[UnreadZone]) -> tuple[PlannedChange, ...]:
        """Takes note of changes that were sent, and of zones where it is not known how they went.

        Returns: the changes of which it is known.
        """
        lost = tuple(lost)
        if lost:
            self.served = self.served.with_unread(lost)
            self._rereading.note_lost(lost)
            self._log.say_unread(lost)
        known = tuple(change for change in sent if self.served.serves(change.record.dns_name))
        self._rereading.note_written({self.served.zone_of(change.record.dns_name) for change in known})
        return known

    async def take_reread(self, holdings: Inventory | None) -> frozenset[str]:
        """Takes in what was read in the background. Returns: the zones whose names are to be planned anew."""
        zones: set[str] = set()
        for reread in self._rereading.take():
            if holdings is None or reread.zone not in self.served.unread:
                continue
            zones.add(reread.zone)
            if reread.error:
                unread = UnreadZone(reread.zone, reread.error)
                self.served = self.served.with_unread([unread])
                self._log.say_unread([unread])
            else:
                await take_in(holdings, reread.endpoints, self._monotonic)
                self.served = self.served.with_read(reread.zone)
        return frozenset(zones)
