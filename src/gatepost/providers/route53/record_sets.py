"""Between endpoints and the record sets of Route 53: escapes, quotes, TTLs, aliases, routing policies.

| Route 53                       | endpoint                                                              |
| A or AAAA with an alias target | the same type, its target a name, `alias`=`true`, no TTL              |
| any other                      | its values as targets                                                 |

| wanted                                                     | written                                   |
| CNAME to a name of AWS, or with `alias`=`true`             | aliases A and AAAA                        |
| A or AAAA with `alias`=`true`                              | an alias of that type                     |
| either, where the hosted zone of the target is not known   | CNAME                                     |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gatepost.dns.choices import RECORD_TYPES
from gatepost.dns.endpoint import Endpoint, EndpointKey, Property
from gatepost.dns.names import is_address, zone_of
from gatepost.providers.contract import RefusedError
from gatepost.providers.route53.alias_targets import aws_zone_id
from gatepost.providers.route53.routing import fields_for, listed_routing, properties_in
from gatepost.providers.route53.spelling import name_for, name_in, text_for, text_in
from gatepost.providers.spelling import canonical_name, listed_form, rdata_of, without_final_dot

DEFAULT_TTL_SECONDS = 300

_ALIAS = "alias"
_TARGET_ZONE = "aws/target-hosted-zone"
_TARGET_HEALTH = "aws/evaluate-target-health"

RouteSet = Mapping[str, Any]
"""A ResourceRecordSet of the API of Route 53."""


class AliasRules(Struct, frozen=True):
    """What decides on aliases: the zones that can be written (name to id), and the settings."""

    zone_ids: Mapping[str, str]
    prefer_cname: bool = False
    evaluate_target_health: bool = True

    def implied_zone_id(self, name: str, target: str) -> str | None:
        """The hosted zone that an alias to this target points into, if nobody says which: one of AWS, or its own."""
        own = zone_of(name, self.zone_ids)
        is_neighbour = own is not None and zone_of(target, self.zone_ids) == own
        return aws_zone_id(target) or (self.zone_ids[own] if own is not None and is_neighbour else None)


# Reading


def endpoint_of(record_set: RouteSet, rules: AliasRules) -> Endpoint | None:
    """The endpoint that a record set stands for, None for types that gatepost does not know.

    Raises: ValueError if Route 53 lists something that is no DNS record.
    """
    type_ = record_set["Type"]
    if type_ not in RECORD_TYPES:
        return None
    name = name_in(record_set["Name"])
    properties = properties_in(record_set)
    alias = record_set.get("AliasTarget")
    if alias is not None:
        targets: tuple[str, ...] = (name_in(alias["DNSName"]),)
        follows = alias["EvaluateTargetHealth"]
        properties |= _alias_properties(alias["HostedZoneId"], name, targets[0], rules, follows=follows)
    else:
        targets = tuple(sorted(_target(type_, record["Value"]) for record in record_set.get("ResourceRecords", ())))
    return Endpoint(
        name,
        type_,
        targets,
        record_set.get("TTL", 0),
        record_set.get("SetIdentifier", ""),
        provider_specific=_sorted(properties),
    )


def _target(type_: str, value: str) -> str:
    try:
        return text_in(value) if type_ == "TXT" else without_final_dot(type_, str(rdata_of(type_, value).to_text()))
    except RefusedError:
        return value  # Route 53 took it from somebody; one odd record is no reason to read nothing of its zone


def _alias_properties(zone_id: str, name: str, target: str, rules: AliasRules, *, follows: bool) -> dict[str, str]:
    found = {_ALIAS: "true", _TARGET_HEALTH: "true" if follows else "false"}
    return found if zone_id == rules.implied_zone_id(name, target) else {**found, _TARGET_ZONE: zone_id}


# What is wanted, as it would be read


def adjusted(endpoint: Endpoint, rules: AliasRules) -> Iterator[Endpoint]:
    """The endpoint as it will be listed: one, or two where a CNAME becomes aliases."""
    given = _given(endpoint)
    routing = listed_routing(given, in_set=bool(endpoint.set_identifier))
    zone_id = _alias_zone_id(endpoint, rules)
    if zone_id is None:
        # A and AAAA records to a name are aliases or nothing; without a known zone only CNAME is left.
        is_name = endpoint.record_type in ("A", "AAAA") and any(not is_address(target) for target in endpoint.targets)
        plain = replace(endpoint, record_type="CNAME") if is_name else endpoint
        yield replace(listed_form(plain), provider_specific=_sorted(routing))
        return
    name, target = canonical_name(endpoint.dns_name), canonical_name(endpoint.targets[0])
    default = "true" if rules.evaluate_target_health else "false"
    follows = given.get(_TARGET_HEALTH, default).lower() == "true"
    properties = routing | _alias_properties(zone_id, name, target, rules, follows=follows)
    for type_ in ("A", "AAAA") if endpoint.record_type == "CNAME" else (endpoint.record_type,):
        yield replace(
            endpoint,
            dns_name=name,
            record_type=type_,
            targets=(target,),
            record_ttl=0,  # an alias has the TTL of its target
            provider_specific=_sorted(properties),
        )


def _alias_zone_id(endpoint: Endpoint, rules: AliasRules) -> str | None:
    """The zone that the endpoint's alias points into; None if it is to be no alias, or cannot be one."""
    if endpoint.record_type not in ("A", "AAAA", "CNAME") or len(endpoint.targets) != 1:
        return None
    given = _given(endpoint)
    try:
        name, target = canonical_name(endpoint.dns_name), canonical_name(endpoint.targets[0])
    except ValueError:
        return None
    if is_address(endpoint.targets[0]):
        return None
    is_asked_for = given.get(_ALIAS) == "true"
    is_aws_name = not rules.prefer_cname and _ALIAS not in given and aws_zone_id(target) is not None
    if not is_asked_for and not (endpoint.record_type == "CNAME" and is_aws_name):
        return None
    return given.get(_TARGET_ZONE) or rules.implied_zone_id(name, target)


# Writing


def record_set_for(endpoint: Endpoint, rules: AliasRules, ttl_before: int = 0) -> RouteSet:
    """What to send for an endpoint that was adjusted, or an ownership record.

    Args: ttl_before: the TTL of the record set that it replaces, kept if the endpoint has none.
    Raises: RefusedError if Route 53 has no such record; the text says why.
    """
    try:
        return _record_set_for(endpoint, rules, ttl_before)
    except ValueError as error:
        raise RefusedError(f"{endpoint.record_type} {endpoint.dns_name}: {error}") from error


def _record_set_for(endpoint: Endpoint, rules: AliasRules, ttl_before: int) -> RouteSet:
    type_, given = endpoint.record_type, _given(endpoint)
    if not endpoint.targets:
        raise RefusedError("it has no target")
    fields = {"Name": name_for(endpoint.dns_name), "Type": type_, **fields_for(given, endpoint.set_identifier)}
    zone_id = _alias_zone_id(endpoint, rules) if type_ in ("A", "AAAA") else None
    if zone_id is not None:
        follows = given.get(_TARGET_HEALTH) == "true"
        target = {"HostedZoneId": zone_id, "DNSName": name_for(endpoint.targets[0]), "EvaluateTargetHealth": follows}
        return {**fields, "AliasTarget": target}
    if type_ == "CNAME" and len(endpoint.targets) > 1:
        raise RefusedError(f"a CNAME has one target, this has {len(endpoint.targets)}")
    values = sorted(_value(type_, target) for target in endpoint.targets)
    ttl = endpoint.record_ttl or ttl_before or DEFAULT_TTL_SECONDS
    return {**fields, "TTL": ttl, "ResourceRecords": [{"Value": value} for value in values]}


def _value(type_: str, target: str) -> str:
    return text_for(target) if type_ == "TXT" else str(rdata_of(type_, target).to_text())


def says_the_same(one: RouteSet, other: RouteSet) -> bool:
    """Whether two record sets of one key are equal, however their names are escaped and their values ordered."""
    return _comparable(one) == _comparable(other)


def _comparable(record_set: RouteSet) -> dict[str, Any]:
    values = sorted(record["Value"] for record in record_set.get("ResourceRecords", ()))
    return {**record_set, "Name": "", "ResourceRecords": values}


def key_of(endpoint: Endpoint) -> EndpointKey:
    """The key under which a listing has the endpoint. Raises: ValueError if its name is none."""
    return EndpointKey(canonical_name(endpoint.dns_name), endpoint.record_type, endpoint.set_identifier)


def _given(endpoint: Endpoint) -> dict[str, str]:
    return {property_.name: property_.value for property_ in endpoint.provider_specific}


def _sorted(properties: Mapping[str, str]) -> tuple[Property, ...]:
    return tuple(Property(name, properties[name]) for name in sorted(properties))
