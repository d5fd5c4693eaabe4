"""Which names a DNS provider serves: its zones, those that it could not read, and what it can hold in them.

A name in a zone that could not be read is left alone: whether its record is there, and whose it is, is not known. It
never falls to the zone above, which does not answer for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct, structs

from gatepost.dns.capabilities import Capabilities, Misfit
from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.names import zone_of

ZONE_UNREADABLE = "ZoneUnreadable"
NO_ZONE = "NoZone"

_ZONES_NAMED = 10


class UnreadZone(Struct, frozen=True, order=True):
    """A zone whose records are not known. `why` names the server, what it answered, and what can be done."""

    name: str
    why: str


class Served(Struct, frozen=True):
    """What a provider serves. Without anything said, every name is taken for served.

    Attributes:
        zones: all of its zones, read or not, in canonical form; None if they are not known, and `domains` alone count.
        unread: those of them that could not be read, by name.
        domains: the names that the provider says it serves; empty for all.
        capabilities: what it can hold.
        tells_strangers: a name outside of all zones is a problem of who asks for it. False where there may be zones
            of which nothing is said.
    """

    zones: frozenset[str] | None = None
    unread: Mapping[str, UnreadZone] = MappingProxyType({})
    domains: DomainFilter = DomainFilter()
    capabilities: Capabilities = Capabilities()
    tells_strangers: bool = True

    def zone_of(self, name: str) -> str:
        """The longest zone that a canonical name is in, read or not; "" if there is none, or none is known."""
        return zone_of(name, self.zones or ()) or ""

    def serves(self, name: str) -> bool:
        """Whether what is there under a canonical name is known, and can be changed."""
        if self.domains and not self.domains.matches(name):
            return False
        if self.zones is None:
            return True
        zone = self.zone_of(name)
        return bool(zone) and zone not in self.unread

    def refusal(self, name: str) -> Misfit | None:
        """Why a canonical name is not served, for those who ask for it; None if it is, or it is nobody's fault."""
        if self.serves(name):
            return None
        unread = self.unread.get(self.zone_of(name))
        if unread is not None:
            # Without the name: an object with many names in the zone is told once.
            message = f"zone {unread.name} cannot be read, and its names are left as they are: {unread.why}"
            return Misfit(ZONE_UNREADABLE, message, "It is tried again, later and later.")
        if not self.tells_strangers:
            return None
        return Misfit(NO_ZONE, self._outside(name), "Choose a name in one of its zones, or give it that zone.")

    def _outside(self, name: str) -> str:
        provider = self.capabilities.provider
        if self.zones is not None and self.zone_of(name) == "":
            return f"{name} is in no zone of {provider}, which has {_named(sorted(self.zones))}"
        told = f", which are {_named(self.domains.include)}" if self.domains.include else ""
        return f"{name} is outside of the domains that {provider} says it serves{told}"

    def with_unread(self, unread: Iterable[UnreadZone]) -> Served:
        """The same, but nothing is known of these zones."""
        return structs.replace(self, unread={**self.unread, **{zone.name: zone for zone in unread}})

    def with_read(self, name: str) -> Served:
        """The same, with a zone that could be read by now."""
        return structs.replace(self, unread={key: zone for key, zone in self.unread.items() if key != name})


def _named(zones: Sequence[str]) -> str:
    if not zones:
        return "none"
    more = f" and {len(zones) - _ZONES_NAMED} more" if len(zones) > _ZONES_NAMED else ""
    return f"{', '.join(zones[:_ZONES_NAMED])}{more}"
