"""What the engine says about names, for those who plan, print or explain it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from gatepost.dns.claims import RECORD_SETS
from gatepost.dns.endpoint import Endpoint, NameKey
from gatepost.dns.records import RecordSet
from gatepost.dns.wrappers.ptr import PTR_RECORD_SETS
from gatepost.state.engine import Change, Engine


def changed_names(changes: Iterable[Change]) -> tuple[NameKey, ...]:
    """The names whose record sets changed, from what `Engine.run_stale` gives; sorted."""
    names = (RECORD_SETS, PTR_RECORD_SETS)
    return tuple(sorted({cast("NameKey", change.key) for change in changes if change.rule.name in names}))


def record_set_at(engine: Engine, key: NameKey) -> RecordSet | None:
    """The record set that is wanted under a name, None if nothing claims it."""
    for rule in reversed(_rules(engine)):
        found = engine.value(engine.rule(rule), key)
        if found is not None:
            return cast("RecordSet", found)
    return None


def names_wanted(engine: Engine) -> set[NameKey]:
    """The names of all record sets that are wanted."""
    return {cast("NameKey", key) for rule in _rules(engine) for key, _ in engine.values(engine.rule(rule))}


def record_sets(engine: Engine) -> Iterator[RecordSet]:
    """All record sets that are wanted, sorted by name and set identifier."""
    found: dict[NameKey, RecordSet] = {}
    for rule in _rules(engine):
        found.update((value.key, value) for _, value in engine.values(engine.rule(rule)))
    return (found[key] for key in sorted(found))


def desired_endpoints(engine: Engine) -> tuple[Endpoint, ...]:
    """All endpoints that are wanted, sorted by name, set identifier and type."""
    return tuple(endpoint for record_set in record_sets(engine) for endpoint in record_set.endpoints)


def _rules(engine: Engine) -> tuple[str, ...]:
    """The rules that make record sets; where both speak of a name, the later one has heard the earlier."""
    there = {rule.name for rule in engine.rules}
    return tuple(name for name in (RECORD_SETS, PTR_RECORD_SETS) if name in there)
