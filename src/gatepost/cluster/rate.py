"""No more than so many in a second, with some at once."""

from __future__ import annotations


class TokenBucket:
    """Tokens that come at a rate and are taken one by one; whoever comes too early is told how long to wait.

    Args:
        per_second: how many come.
        at_once: how many may gather.
    """

    def __init__(self, per_second: float, at_once: int) -> None:
        self._per_second = per_second
        self._at_once = at_once
        self._tokens = float(at_once)
        self._at: float | None = None

    def take(self, now: float) -> float:
        """Takes a token. Returns: the seconds until it is there; later ones come after it."""
        passed = now - self._at if self._at is not None else 0.0
        self._at = now
        self._tokens = min(self._at_once, self._tokens + passed * self._per_second) - 1
        return max(0.0, -self._tokens / self._per_second)
