"""A Lease that several candidates see late, write late, and whose answers get lost; every clock is moved by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gatepost.cluster.lease import FoundLease, Lease
from gatepost.runtime.candidate import Candidate
from gatepost.runtime.election import LeaseTimes

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
    """A candidate, its clock, which is another than everybody else's, and what it has on its way."""

    def __init__(self, name: str, offset_seconds: float, server: Server, times: LeaseTimes) -> None:
        self.candidate = Candidate(name, times)
        self._offset = offset_seconds
        self._server = server
        self._answer: FoundLease | None = None
        self._bid: tuple[Lease, FoundLease | None, float] | None = None
        self._won: tuple[FoundLease, float] | None = None

    def now(self, true_seconds: float) -> float:
        return true_seconds + self._offset

    def is_leading(self, true_seconds: float) -> bool:
        return self.candidate.is_leading(self.now(true_seconds))

    def ask(self, true_seconds: float) -> None:
        self._answer = self._server.found

    def see(self, true_seconds: float) -> None:
        self.candidate.see(self._answer, self.now(true_seconds))

    def send(self, true_seconds: float) -> None:
        now = self.now(true_seconds)
        if self._bid is None and self.candidate.may_take(now):
            # Its time of day is as wrong as its clock: nothing may rest on it.
            self._bid = (*self.candidate.bid(EPOCH + timedelta(seconds=now)), now)

    def arrive(self, true_seconds: float) -> None:
        if self._bid is not None:
            lease, over, sent_at = self._bid
            self._bid = None
            written = self._server.write(lease, over)
            self._won = (written, sent_at) if written is not None else None

    def hear(self, true_seconds: float) -> None:
        if self._won is not None:
            self.candidate.won(*self._won)
            self._won = None

    def hear_nothing(self, true_seconds: float) -> None:
        self._won = None

    def resign(self, true_seconds: float) -> None:
        left = self.candidate.resignation(EPOCH)
        if left is not None:
            self._server.write(*left)

    def campaign(self, true_seconds: float) -> None:
        """One try as it goes when nothing is in the way."""
        for step in (self.ask, self.see, self.send, self.arrive, self.hear):
            step(true_seconds)


STEPS = ("ask", "see", "send", "arrive", "hear", "hear_nothing", "resign", "campaign")
