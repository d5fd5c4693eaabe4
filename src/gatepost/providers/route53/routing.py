"""Routing policies and health checks: between the `aws/` properties of endpoints and the fields of Route 53.

| property                                      | field of a record set                       |
| aws/weight, aws/region, aws/failover          | Weight, Region, Failover                    |
| aws/multi-value-answer                        | MultiValueAnswer                            |
| aws/geolocation-{continent,country,subdivision}-code | GeoLocation                          |
| aws/geoproximity-{region,local-zone-group,coordinates,bias} | GeoProximityLocation          |
| aws/health-check-id                           | HealthCheckId                               |

Source: external-dns, whose property names these are; Route 53 API, ResourceRecordSet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatepost.providers.contract import RefusedError

HEALTH_CHECK = "aws/health-check-id"
_WEIGHT = "aws/weight"
_REGION = "aws/region"
_FAILOVER = "aws/failover"
_MULTI = "aws/multi-value-answer"
_GEO = {
    "aws/geolocation-continent-code": "ContinentCode",
    "aws/geolocation-country-code": "CountryCode",
    "aws/geolocation-subdivision-code": "SubdivisionCode",
}
_NEAR = "aws/geoproximity-"
_NEAR_TEXTS = {f"{_NEAR}region": "AWSRegion", f"{_NEAR}local-zone-group": "LocalZoneGroup"}
_COORDINATES = f"{_NEAR}coordinates"
_BIAS = f"{_NEAR}bias"
_UPPER = (_FAILOVER, *_GEO)
_POLICY = (_WEIGHT, _REGION, _FAILOVER, _MULTI, *_GEO, *_NEAR_TEXTS, _COORDINATES, _BIAS)
_MOST_WEIGHT = 255


def listed_routing(given: Mapping[str, str], *, in_set: bool) -> dict[str, str]:
    """The properties as they will be listed; without a set identifier Route 53 keeps no policy, only a health check."""
    listed = {HEALTH_CHECK: given[HEALTH_CHECK]} if given.get(HEALTH_CHECK) else {}
    for name in _POLICY if in_set else ():
        if name in given:
            listed[name] = _listed(name, given[name].strip())
    if listed.get(_MULTI) == "false":
        del listed[_MULTI]
    return listed


def _listed(name: str, value: str) -> str:
    if name == _MULTI:
        # external-dns looks only at whether the property is there, and lists it without a value.
        return "false" if value.lower() == "false" else "true"
    if name in (_WEIGHT, _BIAS):
        return str(int(value)) if _is_whole(value) else value
    return value.upper() if name in _UPPER else value


def properties_in(record_set: Mapping[str, Any]) -> dict[str, str]:
    """The properties of a record set that Route 53 lists."""
    found: dict[str, str] = {}
    plain = {_WEIGHT: "Weight", _REGION: "Region", _FAILOVER: "Failover", HEALTH_CHECK: "HealthCheckId"}
    found |= {name: str(record_set[field]) for name, field in plain.items() if field in record_set}
    if record_set.get("MultiValueAnswer"):
        found[_MULTI] = "true"
    location = record_set.get("GeoLocation") or {}
    found |= {name: location[field] for name, field in _GEO.items() if field in location}
    near = record_set.get("GeoProximityLocation") or {}
    found |= {name: near[field] for name, field in _NEAR_TEXTS.items() if field in near}
    if "Coordinates" in near:
        found[_COORDINATES] = f"{near['Coordinates']['Latitude']},{near['Coordinates']['Longitude']}"
    if "Bias" in near:
        found[_BIAS] = str(near["Bias"])
    return found


def fields_for(given: Mapping[str, str], set_identifier: str) -> dict[str, Any]:
    """The fields to send. Raises: RefusedError if they are none that Route 53 can take, with the property at fault."""
    listed = listed_routing(given, in_set=bool(set_identifier))
    fields: dict[str, Any] = {"HealthCheckId": listed[HEALTH_CHECK]} if HEALTH_CHECK in listed else {}
    if not set_identifier:
        return fields
    policies = _policies(listed)
    if len(policies) != 1:
        found = ", ".join(name for name in listed if name != HEALTH_CHECK) or "none"
        raise RefusedError(
            f"set identifier {set_identifier!r} wants one routing policy, like aws/weight or aws/region; found {found}"
        )
    return {**fields, "SetIdentifier": set_identifier, **policies}


def _policies(listed: Mapping[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if _WEIGHT in listed:
        fields["Weight"] = _number(_WEIGHT, listed[_WEIGHT], 0, _MOST_WEIGHT)
    if _REGION in listed:
        fields["Region"] = listed[_REGION]
    if _FAILOVER in listed:
        if listed[_FAILOVER] not in ("PRIMARY", "SECONDARY"):
            raise RefusedError(f"{_FAILOVER}: found {listed[_FAILOVER]!r}, wanted PRIMARY or SECONDARY")
        fields["Failover"] = listed[_FAILOVER]
    if _MULTI in listed:
        fields["MultiValueAnswer"] = True
    location = {field: listed[name] for name, field in _GEO.items() if name in listed}
    near = _nearness(listed)
    return {
        **fields,
        **({"GeoLocation": location} if location else {}),
        **({"GeoProximityLocation": near} if near else {}),
    }


def _nearness(listed: Mapping[str, str]) -> dict[str, Any]:
    near: dict[str, Any] = {field: listed[name] for name, field in _NEAR_TEXTS.items() if name in listed}
    if _COORDINATES in listed:
        latitude, comma, longitude = listed[_COORDINATES].partition(",")
        if not comma:
            raise RefusedError(f"{_COORDINATES}: found {listed[_COORDINATES]!r}, wanted a pair like 49.22,-74.01")
        near["Coordinates"] = {"Latitude": latitude.strip(), "Longitude": longitude.strip()}
    if _BIAS in listed:
        near["Bias"] = _number(_BIAS, listed[_BIAS], -99, 99)
    return near


def _number(name: str, value: str, least: int, most: int) -> int:
    if not _is_whole(value) or not least <= int(value) <= most:
        raise RefusedError(f"{name}: found {value!r}, wanted a whole number from {least} to {most}")
    return int(value)


def _is_whole(value: str) -> bool:
    digits = value.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= 9
