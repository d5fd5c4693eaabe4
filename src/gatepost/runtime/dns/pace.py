"""How often DNS is written, and how often the provider is asked what it holds: flags of the loop of external-dns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct

_SHORTEST_INTERVAL_SECONDS = 1.0


class Pace(Struct, frozen=True, kw_only=True):
    """The flags, described as the fields of `DnsSettings` are. Times are in seconds.

    external-dns asks the provider in every round, unless a cache answers in its place. gatepost asks once in each
    interval and follows its own changes in between, so a cache is an interval that is at least so long.
    """

    interval: Annotated[
        float,
        Meta(
            description="How often DNS is compared with what the provider holds; what changes in the cluster is "
            "written at once."
        ),
    ] = 300.0
    min_event_sync_interval: Annotated[
        float, Meta(description="The shortest time between two writes; changes that come meanwhile go out together.")
    ] = 0.1
    txt_cache_interval: Annotated[
        float, Meta(description="List the provider's records no more often than this, even if --interval is shorter.")
    ] = 0.0
    provider_cache_time: Annotated[
        float, Meta(description="List the provider's records no more often than this, even if --interval is shorter.")
    ] = 0.0
    events: Annotated[
        bool, Meta(description="Taken for the sake of external-dns; changes in the cluster are written at once anyway.")
    ] = True

    @property
    def comparison_seconds(self) -> float:
        """How often the provider is asked for all that it holds."""
        return max(self.interval, self.txt_cache_interval, self.provider_cache_time)

    def check(self) -> tuple[str, ...]:
        """What is wrong with these settings, a line for each."""
        return tuple(self._wrong())

    def _wrong(self) -> Iterator[str]:
        if self.interval < _SHORTEST_INTERVAL_SECONDS:
            yield f"--interval: found {self.interval:g}s, wanted at least 1 second, or like 5m"
        for flag, seconds in (
            ("--min-event-sync-interval", self.min_event_sync_interval),
            ("--txt-cache-interval", self.txt_cache_interval),
            ("--provider-cache-time", self.provider_cache_time),
        ):
            if seconds < 0:
                yield f"{flag}: found {seconds:g}s, wanted 0 or more"
