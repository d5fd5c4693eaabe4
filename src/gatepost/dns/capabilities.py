"""What a DNS provider can hold, declared by itself, so that nothing is sent that it could only refuse.

The plan asks here before anything leaves the process: an endpoint that does not fit becomes a problem on its object.
"""

from __future__ import annotations

from msgspec import Struct, structs

from gatepost.dns.choices import RECORD_TYPES
from gatepost.dns.endpoint import Endpoint, Property


class Rate(Struct, frozen=True):
    """How many calls a provider takes within some seconds, and how many of them may come at once."""

    calls: int
    seconds: float
    burst: int


class Misfit(Struct, frozen=True):
    """Why an endpoint cannot be held as it is wanted: what a Problem says of it, but for the object."""

    reason: str
    message: str
    hint: str = ""


class Capabilities(Struct, frozen=True, kw_only=True):
    """What one provider can. The defaults are those of a provider that says nothing: everything is sent to it.

    Attributes:
        provider: its name in messages.
        types: the record types that it holds.
        lists_records: its listing holds all records of these types; False where it was told to read nothing.
        set_identifiers: it keeps several record sets of one name and type apart, with weights and the like.
        apex_cname: it holds a CNAME at the apex of a zone, as an alias.
        ttls: the lowest and the highest TTL in seconds that it takes; None if every TTL of DNS will do.
        properties: names of the properties that its listing gives back, those that end with `/` as prefixes; None for
            all. Only these are compared: one that never comes back would be an update for ever.
        without_effect: ends of the names of properties that are meant for it, and that it does not do.
        rate: how fast it may be called; None if there is no such limit, only a bound on calls at one time.
    """

    provider: str = "the DNS provider"
    types: frozenset[str] = frozenset(RECORD_TYPES)
    lists_records: bool = True
    set_identifiers: bool = True
    apex_cname: bool = True
    ttls: tuple[int, int] | None = None
    properties: tuple[str, ...] | None = None
    without_effect: tuple[str, ...] = ()
    rate: Rate | None = None

    def misfit(self, endpoint: Endpoint, zone: str) -> Misfit | None:
        """Why an endpoint cannot be in a zone at all, None if it can.

        Args: endpoint: in the form in which the provider would list it. `zone`: "" if it is not known.
        """
        type_, name = endpoint.record_type, endpoint.dns_name
        where = f"in zone {zone}" if zone else "in its zones"
        if type_ not in self.types:
            held = ", ".join(known for known in RECORD_TYPES if known in self.types)
            return Misfit("TypeNotSupported", f"{type_} {name}: {self.provider} holds no {type_} {where}, only {held}")
        if endpoint.set_identifier and not self.set_identifiers:
            message = (
                f"{type_} {name}: {self.provider} keeps no record sets apart {where}; "
                f"found set identifier {endpoint.set_identifier!r}, wanted none"
            )
            return Misfit("SetIdentifierNotSupported", message, "Leave out the annotation set-identifier.")
        if type_ == "CNAME" and name == zone and not self.apex_cname:
            message = (
                f"CNAME {name}: it is the apex of zone {zone}, whose SOA and NS records allow no CNAME beside them, "
                f"and {self.provider} has no alias for it"
            )
            return Misfit("ApexNotSupported", message, "Point it to addresses.")
        return None

    def fitted(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint with what the provider keeps of it: its properties, and the nearest TTL that it takes."""
        kept, ttl = tuple(filter(self._keeps, endpoint.provider_specific)), self._nearest_ttl(endpoint.record_ttl)
        if kept == endpoint.provider_specific and ttl == endpoint.record_ttl:
            return endpoint
        return structs.replace(endpoint, record_ttl=ttl, provider_specific=kept)

    def remarks(self, wanted: Endpoint, adjusted: Endpoint) -> tuple[Misfit, ...]:
        """What does not count of an endpoint that is held all the same.

        Args: wanted: as its object asks for it. `adjusted`: in the form of the provider, not yet `fitted`.
        """
        named = f"{wanted.record_type} {wanted.dns_name}"
        found = [
            Misfit("PropertyWithoutEffect", f"{named}: {given.name} has no effect, {self.provider} does not do it here")
            for given in wanted.provider_specific
            if given.name.rpartition("/")[2] in self.without_effect
        ]
        ttl = self._nearest_ttl(adjusted.record_ttl)
        if self.ttls is not None and ttl != adjusted.record_ttl:
            message = (
                f"{named}: found a TTL of {adjusted.record_ttl}, {self.provider} takes {self.ttls[0]} to "
                f"{self.ttls[1]} seconds; it is published with {ttl}"
            )
            found.append(Misfit("TtlOutOfRange", message))
        return tuple(found)

    def _nearest_ttl(self, ttl: int) -> int:
        return ttl if not ttl or self.ttls is None else min(max(ttl, self.ttls[0]), self.ttls[1])

    def _keeps(self, property_: Property) -> bool:
        if self.properties is None:
            return True
        return any(
            property_.name.startswith(known) if known.endswith("/") else property_.name == known
            for known in self.properties
        )
