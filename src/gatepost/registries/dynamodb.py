"""Ownership in a table of DynamoDB, item by item as external-dns keeps it.

| attribute | holds                                                        |
| `k`       | name, type and set identifier, as in `app.example.com#A#`    |
| `o`       | the owner                                                    |
| `l`       | the other labels, a map of strings                           |

Every writing statement names the owner whom it expects, so an item that changed hands meanwhile stays as it is.
Source: external-dns, the registry dynamodb.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from gatepost.dns.endpoint import Endpoint, EndpointKey
from gatepost.dns.ownership.stored import Entry
from gatepost.dns.records import OWNER
from gatepost.log_fields import fields
from gatepost.registries.contract import EntryResult, RegistryError
from gatepost.registries.dynamodb_calls import Statement, TableCalls

log = logging.getLogger("gatepost.dns")

Item = Mapping[str, Mapping[str, Any]]

_KEY, _OWNER, _LABELS = "k", "o", "l"
_DUPLICATE, _CONDITION = "DuplicateItem", "ConditionalCheckFailed"
_PASSES = 3


class DynamoDbStore:
    """An OwnershipStore (see contract.py) in one table."""

    def __init__(self, calls: TableCalls) -> None:
        self._calls = calls

    async def read(self) -> Sequence[Entry]:
        _require_layout(self._calls.table, await self._calls.description())
        found: list[Entry] = []
        for item in await self._calls.items():
            entry = _entry_of(item)
            if entry is not None:
                found.append(entry)
            else:
                log.warning("an item of the table speaks of no record", extra=fields(item=item.get(_KEY)))
        return found

    async def claim(self, entries: Sequence[Entry]) -> Sequence[EntryResult]:
        results: dict[int, EntryResult] = {}
        # Whether an item is there was read a while ago: what turns out otherwise is tried the other way round.
        due = {number: bool(entry.id) for number, entry in enumerate(entries)}
        for _ in range(_PASSES):
            statements = [
                self._update(entries[n]) if is_there else self._insert(entries[n]) for n, is_there in due.items()
            ]
            again: dict[int, bool] = {}
            for (number, is_there), error in zip(due.items(), await self._calls.execute(statements), strict=True):
                entry = structs.replace(entries[number], id=_id_of(entries[number]))
                results[number] = EntryResult(entry, _why(error, entry), is_new=not is_there and error is None)
                if error is not None and _is_otherwise(error, is_there=is_there):
                    again[number] = not is_there
            due = again
            if not due:
                break
        return [results[number] for number in range(len(entries))]

    async def release(self, entries: Sequence[Entry]) -> Sequence[EntryResult]:
        errors = await self._calls.execute([self._delete(entry) for entry in entries])
        return [EntryResult(entry, _why(error, entry)) for entry, error in zip(entries, errors, strict=True)]

    async def settle(self, outcomes: Mapping[EndpointKey, str]) -> None:
        """An item does not say whether its record is there."""

    def _insert(self, entry: Entry) -> Statement:
        text = f"INSERT INTO \"{self._calls.table}\" VALUE {{'{_KEY}':?, '{_OWNER}':?, '{_LABELS}':?}}"
        return Statement(text, ({"S": _id_of(entry)}, {"S": entry.owner}, _labels_of(entry)))

    def _update(self, entry: Entry) -> Statement:
        text = f'UPDATE "{self._calls.table}" SET "{_LABELS}"=? WHERE "{_KEY}"=? AND "{_OWNER}"=?'
        return Statement(text, (_labels_of(entry), {"S": _id_of(entry)}, {"S": entry.owner}))

    def _delete(self, entry: Entry) -> Statement:
        text = f'DELETE FROM "{self._calls.table}" WHERE "{_KEY}"=? AND "{_OWNER}"=?'
        return Statement(text, ({"S": _id_of(entry)}, {"S": entry.owner}))


def _require_layout(table: str, description: Mapping[str, Any]) -> None:
    """Raises: RegistryError for a table that other programs would not read as we write it."""
    keys = [(key["AttributeName"], key["KeyType"]) for key in description["KeySchema"]]
    types = {entry["AttributeName"]: entry["AttributeType"] for entry in description["AttributeDefinitions"]}
    found = ", ".join(f"{name} ({types.get(name, '?')}, {kind})" for name, kind in keys)
    if keys != [(_KEY, "HASH")] or types.get(_KEY) != "S":
        raise RegistryError(
            f"--dynamodb-table: table {table} has the key {found}, wanted the hash key {_KEY} of type S alone; "
            "make a new table, keys cannot be changed"
        )


def _entry_of(item: Item) -> Entry | None:
    """What an item says; None if it has not the form of one that a registry writes."""
    try:
        id_, owner = str(item[_KEY]["S"]), str(item[_OWNER]["S"])
        name, type_, set_identifier = id_.split("#", 2)
        labels = {key: str(value["S"]) for key, value in item.get(_LABELS, {}).get("M", {}).items()}
    except (KeyError, ValueError, TypeError):
        return None
    record = Endpoint(name, type_, set_identifier=set_identifier, labels={**labels, OWNER: owner})
    return Entry(record, id_)


def _id_of(entry: Entry) -> str:
    key = entry.key
    return entry.id or f"{key.dns_name}#{key.record_type}#{key.set_identifier}"


def _labels_of(entry: Entry) -> dict[str, Any]:
    return {"M": {key: {"S": value} for key, value in sorted(entry.record.labels.items()) if key != OWNER}}


def _is_otherwise(error: Mapping[str, Any], *, is_there: bool) -> bool:
    """Whether an item is there although we thought it was not, or the reverse."""
    if not is_there:
        return bool(error["Code"] == _DUPLICATE)
    return error["Code"] == _CONDITION and not error.get("Item")


def _why(error: Mapping[str, Any] | None, entry: Entry) -> str:
    if error is None:
        return ""
    if error["Code"] in (_DUPLICATE, _CONDITION):
        owner = error.get("Item", {}).get(_OWNER, {}).get("S") or "another owner"
        return f"its item {_id_of(entry)} in the table belongs to {owner}"
    return f"its item {_id_of(entry)}: DynamoDB: {error['Code']}: {error.get('Message', 'no reason given')}"
