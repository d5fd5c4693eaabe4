"""Who in a batch is refused, where a provider only says that the batch failed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence

from msgspec import Struct

from gatepost.dns.endpoint import Changes, Endpoint, EndpointKey
from gatepost.dns.names import record_name
from gatepost.dns.ownership.txt_format import OWNED_RECORD
from gatepost.dns.targets import same_targets
from gatepost.providers.contract import RecordResult

MOST_CALLS = 100
"""Halving ten thousand names to one culprit takes 27 calls; if it takes more than this, the fault is not a record's."""

Send = Callable[[Changes], Awaitable[str]]
"""Sends changes. Returns: "" if they were made, else what was said."""

List = Callable[[], Awaitable[Sequence[Endpoint]]]


class _Unit(Struct, frozen=True):
    """The changes of one name, ownership included: they make sense only together."""

    create: tuple[Endpoint, ...] = ()
    update: tuple[tuple[Endpoint, Endpoint], ...] = ()
    delete: tuple[Endpoint, ...] = ()

    @property
    def records(self) -> tuple[Endpoint, ...]:
        return (*self.create, *(new for _, new in self.update), *self.delete)


async def apply_in_halves(changes: Changes, send: Send, list_records: List) -> list[RecordResult]:
    """Sends changes; while a batch fails, what of it was made after all is left out and the rest is sent in halves.

    Returns: one result for each record, in the order of create, update, delete; names that could not be told apart
        within `MOST_CALLS` share the words of their batch.
    Raises: whatever `send` and `list_records` raise; then it is not known what was made.
    """
    errors: dict[EndpointKey, str] = {}
    pending = [_units(changes)]
    calls = 0
    while pending:
        batch = pending.pop()
        said = await send(_joined(batch) if calls else changes)
        calls += 1
        if not said:
            continue
        left = _not_made(batch, await list_records())
        if len(left) > 1 and calls + len(pending) < MOST_CALLS:
            middle = len(left) // 2
            pending += [left[middle:], left[:middle]]
        elif len(left) == 1 and len(batch) > 1:
            pending.append(left)  # it is not yet known whether it was this one
        else:
            errors.update((record.key, said) for unit in left for record in unit.records)
    every = (*changes.create, *changes.update_new, *changes.delete)
    return [RecordResult(record.key, errors.get(record.key, "")) for record in every]


def _units(changes: Changes) -> list[_Unit]:
    by_name: dict[tuple[str, str], tuple[list[Endpoint], list[tuple[Endpoint, Endpoint]], list[Endpoint]]] = {}

    def of(record: Endpoint) -> tuple[list[Endpoint], list[tuple[Endpoint, Endpoint]], list[Endpoint]]:
        name = record_name(record.labels.get(OWNED_RECORD) or record.dns_name)
        return by_name.setdefault((name, record.set_identifier), ([], [], []))

    for record in changes.create:
        of(record)[0].append(record)
    for old, new in zip(changes.update_old, changes.update_new, strict=True):
        of(new)[1].append((old, new))
    for record in changes.delete:
        of(record)[2].append(record)
    return [_Unit(tuple(create), tuple(update), tuple(delete)) for create, update, delete in by_name.values()]


def _joined(units: Iterable[_Unit]) -> Changes:
    found = list(units)
    return Changes(
        tuple(record for unit in found for record in unit.create),
        tuple(old for unit in found for old, _ in unit.update),
        tuple(new for unit in found for _, new in unit.update),
        tuple(record for unit in found for record in unit.delete),
    )


def _not_made(units: Iterable[_Unit], listed: Iterable[Endpoint]) -> list[_Unit]:
    """The units without what the provider holds already, and without those that are done."""
    there = {_key(record): record for record in listed}
    left = (
        _Unit(
            tuple(record for record in unit.create if not _holds(there, record)),
            tuple((old, new) for old, new in unit.update if not _holds(there, new)),
            tuple(record for record in unit.delete if _key(record) in there),
        )
        for unit in units
    )
    return [unit for unit in left if unit.records]


def _holds(there: dict[EndpointKey, Endpoint], wanted: Endpoint) -> bool:
    found = there.get(_key(wanted))
    return (
        found is not None
        and same_targets(tuple(map(_unquoted, found.targets)), tuple(map(_unquoted, wanted.targets)))
        and (not wanted.record_ttl or found.record_ttl == wanted.record_ttl)
        and sorted(found.provider_specific) == sorted(wanted.provider_specific)
    )


def _unquoted(target: str) -> str:
    return target.strip('"')


def _key(record: Endpoint) -> EndpointKey:
    return EndpointKey(record_name(record.dns_name), record.record_type, record.set_identifier)
