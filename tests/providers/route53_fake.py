"""A client of Route 53 in memory that refuses what Route 53 refuses, where moto takes everything.

Changes are made whole or not at all; a deletion has to fit what is there to the letter, a creation wants nothing there.
Source: API reference of ChangeResourceRecordSets.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

exceptions: Any = pytest.importorskip(
    "botocore.exceptions", reason="boto3 is not installed: pip install 'gatepost[aws]'"
)


def failure(code: str, message: str = "said by the fake", status: int = 400) -> Exception:
    error: Exception = exceptions.ClientError(
        {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}},
        "AnyCall",
    )
    return error


def plain(name: str, type_: str, *values: str, ttl: int = 300, **others: Any) -> dict[str, Any]:
    """A record set with values, as Route 53 lists it."""
    return {"Name": name, "Type": type_, "TTL": ttl, "ResourceRecords": [{"Value": v} for v in values], **others}


class FakeRoute53:
    """Zones by id; each call of a method is noted in `called` after `failing` had its say."""

    def __init__(self, zones: dict[str, str], page_size: int = 100) -> None:
        self.named = zones
        self.private: set[str] = set()
        self.tags: dict[str, dict[str, str]] = {}
        self.sets: dict[str, list[dict[str, Any]]] = {zone_id: [] for zone_id in zones}
        self.page_size = page_size
        self.called: list[str] = []
        self.batches: list[list[dict[str, Any]]] = []
        self.failing: Callable[[str, dict[str, Any]], Exception | None] = lambda method, arguments: None
        self.lost: list[Exception] = []  # told after the next changes were made

    def _note(self, method: str, arguments: dict[str, Any]) -> None:
        self.called.append(method)
        error = self.failing(method, arguments)
        if error is not None:
            raise error

    def list_hosted_zones(self, **arguments: Any) -> dict[str, Any]:
        self._note("list_hosted_zones", arguments)
        ids = sorted(self.named)
        start = ids.index(arguments["Marker"]) if "Marker" in arguments else 0
        page = ids[start : start + self.page_size]
        zones = [
            {"Id": f"/hostedzone/{i}", "Name": f"{self.named[i]}.", "Config": {"PrivateZone": i in self.private}}
            for i in page
        ]
        rest = ids[start + self.page_size :]
        return {"HostedZones": zones, "IsTruncated": bool(rest), **({"NextMarker": rest[0]} if rest else {})}

    def list_tags_for_resources(self, **arguments: Any) -> dict[str, Any]:
        self._note("list_tags_for_resources", arguments)
        assert len(arguments["ResourceIds"]) <= 10
        return {
            "ResourceTagSets": [
                {"ResourceId": i, "Tags": [{"Key": k, "Value": v} for k, v in self.tags.get(i, {}).items()]}
                for i in arguments["ResourceIds"]
            ]
        }

    def list_resource_record_sets(self, **arguments: Any) -> dict[str, Any]:
        self._note("list_resource_record_sets", arguments)
        every = sorted(self.sets[arguments["HostedZoneId"]], key=_key)
        start = tuple(arguments.get(f"StartRecord{part}", "") for part in ("Name", "Type", "Identifier"))
        after = [record_set for record_set in every if _key(record_set) >= start]
        page, rest = after[: self.page_size], after[self.page_size :]
        following: dict[str, str] = {}
        if rest:
            following = {"NextRecordName": rest[0]["Name"], "NextRecordType": rest[0]["Type"]}
            if "SetIdentifier" in rest[0]:
                following["NextRecordIdentifier"] = rest[0]["SetIdentifier"]
        return {"ResourceRecordSets": copy.deepcopy(page), "IsTruncated": bool(rest), **following}

    def change_resource_record_sets(self, **arguments: Any) -> dict[str, Any]:
        self._note("change_resource_record_sets", arguments)
        changes = arguments["ChangeBatch"]["Changes"]
        self.batches.append(copy.deepcopy(changes))
        there = {_key(record_set): record_set for record_set in self.sets[arguments["HostedZoneId"]]}
        problems: list[str] = []
        for change in changes:
            record_set = {**change["ResourceRecordSet"]}
            record_set["Name"] = record_set["Name"].replace("*", "\\052")
            key = _key(record_set)
            if change["Action"] == "DELETE":
                if key not in there:
                    problems.append(f"Tried to delete {key} but it was not found")
                elif there.pop(key) != record_set:
                    problems.append(f"Tried to delete {key} but the values provided do not match the current values")
            elif key in there:
                problems.append(f"Tried to create {key} but it already exists")
            else:
                there[key] = record_set
        problems += [f"{value}: bad" for change in changes for value in _values(change) if value == "192.0.2.66"]
        if problems:
            raise failure("InvalidChangeBatch", f"[{', '.join(problems)}]")
        self.sets[arguments["HostedZoneId"]] = list(there.values())
        if self.lost:
            raise self.lost.pop()
        return {"ChangeInfo": {"Id": "/change/C1", "Status": "PENDING"}}


def _key(record_set: dict[str, Any]) -> tuple[str, str, str]:
    return record_set["Name"], record_set["Type"], record_set.get("SetIdentifier", "")


def _values(change: dict[str, Any]) -> list[str]:
    return [record["Value"] for record in change["ResourceRecordSet"].get("ResourceRecords", ())]
