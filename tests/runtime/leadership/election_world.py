"""A Lease that several candidates see late, write late, and whose answers get lost; every clock is moved by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gatepost.cluster.lease import FoundLease, Lease
from gatepost.runtime.leadership.candidate import Candidate
from gatepost.runtime.leadership.election import LeaseTimes

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class Server:
    """Where the Lease is: it takes a write only over the revision that it has."""

    def __init__(self) -> None:
        self.found: FoundLease | None = None
        self._writes = 0

    def write(self, lease: Lease, over: FoundLease | None) -> FoundLease | None:
        if (over.revision if over else "") != (self.found.revision if self.found else ""):
            return None
        self._writes += 1
        self.found = FoundLease(lease, str(self._writes))
        return self.found


class Replica:
    """A candidate, its clock, which is another than everybody else's, and what it has on its way.

    It asks, sees the answer, sends its bid, which arrives, and hears how that went: each a `step`, between which others
    step and time passes.
    """

    def __init__(self, name: str, offset_seconds: float, server: Server, times: LeaseTimes) -> None:
        self.candidate = Candidate(name, times)
        self._offset = offset_seconds
        self._server = server
        self._position = 0
        self._answer: FoundLease | None = None
        self._bid: tuple[Lease, FoundLease | None, float] | None = None
        self._won: tuple[FoundLease, float] | None = None

    def is_leading(self, true_seconds: float) -> bool:
        return self.candidate.is_leading(true_seconds + self._offset)

    def step(self, true_seconds: float) -> None:
        steps = (self._ask, self._see, self._send, self._arrive, self._hear)
        steps[self._position](true_seconds + self._offset)
        self._position = (self._position + 1) % len(steps)

    def give_up(self, true_seconds: float) -> None:
        """The answer takes too long, or is lost: what was sent may still arrive, or has."""
        self._won = None
        self._position = 0

    def restart(self, true_seconds: float) -> None:
        """Stops cleanly, and begins again."""
        left = self.candidate.resignation(EPOCH)
        if left is not None:
            self._server.write(*left)
        self._position, self._bid, self._won = 0, None, None

    def _ask(self, now: float) -> None:
        self._answer = self._server.found

    def _see(self, now: float) -> None:
        self.candidate.see(self._answer, now)

    def _send(self, now: float) -> None:
        if self.candidate.may_take(now):
            # Its time of day is as wrong as its clock: nothing may rest on it.
            self._bid = (*self.candidate.bid(EPOCH + timedelta(seconds=now)), now)

    def _arrive(self, now: float) -> None:
        if self._bid is not None:
            lease, over, sent_at = self._bid
            self._bid = None
            written = self._server.write(lease, over)
            self._won = (written, sent_at) if written is not None else None

    def _hear(self, now: float) -> None:
        if self._won is not None:
            self.candidate.won(*self._won)
            self._won = None
