"""What a Gateway or ListenerSet gives to names, apart from which names its listeners take."""

from __future__ import annotations

from msgspec import Struct

from gatepost.dns.endpoint import Property
from gatepost.dns.records import Records
from gatepost.objects.problems import Skipped


class Terms(Struct, frozen=True, gc=False):
    """What names get from a parent, or why they get nothing.

    Attributes:
        records: with the TTL and properties that it gives as defaults.
        ttl, properties: these defaults, for records that Routes bring themselves.
        unreadable: why nothing is known of what it offers, though it is there.
        refused: why it offers nothing: a fact of its spec or of our settings.
        doubt: why it offers nothing for now: its status is incomplete or says no.
        no_targets: why there are no records for it; a matter of status too.
    """

    records: Records = ()
    ttl: int = 0
    properties: tuple[Property, ...] = ()
    unreadable: Skipped | None = None
    refused: Skipped | None = None
    doubt: Skipped | None = None
    no_targets: Skipped | None = None

    @property
    def nothing_because(self) -> Skipped | None:
        """Why it offers nothing at all, whatever its listeners are; None if it offers something."""
        return self.unreadable or self.refused


NO_TERMS = Terms()
