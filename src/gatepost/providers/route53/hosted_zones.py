"""Which hosted zones are ours to write, out of all that an account has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.served import UnreadZone
from gatepost.providers.reach import is_in_reach
from gatepost.providers.route53.calls import Calls
from gatepost.providers.route53.settings import Route53Settings
from gatepost.providers.route53.spelling import name_in


class HostedZones(Struct, frozen=True):
    """Ids by names, and the names that several zones share: a record could not say which of them is meant."""

    ids: dict[str, str]
    ambiguous: dict[str, UnreadZone]


async def hosted_zones(calls: Calls, settings: Route53Settings, domains: DomainFilter) -> HostedZones:
    """The zones that the filters let pass. Raises: Refusal, AnswerLost"""
    found = [zone for zone in await calls.zones() if _is_wanted(zone, settings, domains)]
    if settings.aws_zone_tags:
        tags = await calls.tags([_id_of(zone) for zone in found])
        found = [zone for zone in found if _has_tags(tags.get(_id_of(zone), {}), settings.aws_zone_tags)]
    by_name: dict[str, list[str]] = {}
    for zone in found:
        by_name.setdefault(name_in(zone["Name"]), []).append(_id_of(zone))
    return HostedZones(
        {name: ids[0] for name, ids in sorted(by_name.items()) if len(ids) == 1},
        {name: UnreadZone(name, _ambiguity(ids)) for name, ids in sorted(by_name.items()) if len(ids) > 1},
    )


def _ambiguity(ids: Iterable[str]) -> str:
    found = ", ".join(sorted(ids))
    return f"Route 53 has several hosted zones of this name, {found}; choose by --aws-zone-type or --zone-id-filter"


def _id_of(zone: Mapping[str, Any]) -> str:
    return str(zone["Id"]).rpartition("/")[2]


def _is_wanted(zone: Mapping[str, Any], settings: Route53Settings, domains: DomainFilter) -> bool:
    is_private = bool(zone.get("Config", {}).get("PrivateZone"))
    wanted_ids = {zone_id.rpartition("/")[2] for zone_id in settings.aws_zone_id}
    return (
        (not wanted_ids or _id_of(zone) in wanted_ids)
        and settings.aws_zone_type in ("", "private" if is_private else "public")
        and is_in_reach(name_in(zone["Name"]), domains)
    )


def _has_tags(tags: Mapping[str, str], wanted: Iterable[str]) -> bool:
    pairs = (tag.partition("=") for tag in wanted)
    return all(key in tags and (not equals or tags[key] == value) for key, equals, value in pairs)
