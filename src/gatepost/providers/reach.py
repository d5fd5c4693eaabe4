"""Which zones of a server are worth reading for the names that are asked about."""

from __future__ import annotations

from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.names import zone_of


def is_in_reach(zone: str, domains: DomainFilter) -> bool:
    """Whether the filter lets pass the zone, or anything inside it."""
    inside = any(zone_of(domain.lstrip("."), {zone}) for domain in domains.include)
    is_regex = bool(domains.regex_include)  # what it lets pass inside of a zone, nobody can tell
    return is_regex or inside or domains.matches(zone)
