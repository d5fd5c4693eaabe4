"""Who leads, decided from what one replica has seen of a Lease: pure, with the time as an argument.

| the Lease                                           | this replica                                    |
| ---                                                 | ---                                             |
| is not there, or nobody holds it                    | may take it                                     |
| is held by this replica                             | may renew it                                    |
| is held by another, and changed a short while ago   | follows                                         |
| is held by another, and has not changed for as long | may take it                                     |
| as it says it lasts                                 |                                                 |
| vanished while another held it                      | follows for that long, then may make it anew    |

Nobody's clock counts but one's own, and of that only differences: a change is dated when it is seen, not by the times
in the Lease. A leader dates its own writes from before they are sent, and stops after the renew deadline, which is
shorter than what the Lease lasts; whoever waits for it to run out began to wait after that write. So terms do not
overlap.
Source: client-go, tools/leaderelection.
"""

from __future__ import annotations

import math
from datetime import datetime

from msgspec import structs

from gatepost.cluster.lease import FoundLease, Lease
from gatepost.runtime.leadership.election import LeaseTimes


class Candidate:
    """One replica in an election. Moments are seconds of one clock that only grows.

    Args: identity: told apart from that of every other process, earlier ones included.
    """

    def __init__(self, identity: str, times: LeaseTimes) -> None:
        self.identity = identity
        self._times = times
        self._seen: FoundLease | None = None
        self._held: Lease | None = None
        self._changed_at = -math.inf
        self.leads_until = -math.inf

    def is_leading(self, now: float) -> bool:
        return now < self.leads_until

    @property
    def leader(self) -> str:
        """Who held the Lease when it was last seen, "" for nobody."""
        return self._held.holder if self._held is not None else ""

    def see(self, found: FoundLease | None, now: float) -> None:
        """Takes note of the Lease as it was read; None if there is none. `now` is when the answer was there."""
        self._seen = found
        if found is None:
            return  # it may have been deleted by hand while its holder leads: what was known of it still counts
        if found.lease != self._held:
            self._held = found.lease
            self._changed_at = now
        if found.lease.holder != self.identity:
            self.leads_until = -math.inf

    def may_take(self, now: float) -> bool:
        """Whether to write `bid` over what was seen."""
        held = self._held
        if held is None or held.holder in ("", self.identity):
            return True
        return now >= self._changed_at + (held.duration_seconds or self._times.duration_seconds)

    def bid(self, now_utc: datetime) -> tuple[Lease, FoundLease | None]:
        """What to write to lead, and over what."""
        before = self._seen.lease if self._seen is not None else Lease()
        is_renewal = before.holder == self.identity
        lease = Lease(
            holder=self.identity,
            duration_seconds=math.ceil(self._times.duration_seconds),
            transitions=before.transitions + (self._seen is not None and not is_renewal),
            acquired_utc=before.acquired_utc if is_renewal else now_utc,
            renewed_utc=now_utc,
        )
        return lease, self._seen

    def won(self, written: FoundLease, sent_at: float) -> None:
        """Takes note that a bid was taken. `sent_at`: from before it was sent; others may have seen it since then."""
        self._seen = written
        self._held = written.lease
        self._changed_at = sent_at
        self.leads_until = sent_at + self._times.renew_deadline_seconds

    def resignation(self, now_utc: datetime) -> tuple[Lease, FoundLease] | None:
        """What to write so that another may lead at once, and over what; None if the Lease is not ours.

        This replica leads no more from here on: it must have stopped writing.
        """
        self.leads_until = -math.inf
        if self._seen is None or self._seen.lease.holder != self.identity:
            return None
        # A second, as client-go leaves behind: some readers take 0 for "not set".
        left = structs.replace(self._seen.lease, holder="", duration_seconds=1, renewed_utc=now_utc)
        return left, self._seen
