"""What the rule runs have left about an object: the one place where values of rules are taken apart."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from gatepost.dns.records import Claims
from gatepost.dns.sources.parents import Parent
from gatepost.explain.values import Finding, Write
from gatepost.objects.problems import Problem
from gatepost.objects.refs import GroupKind, Ref
from gatepost.state.engine import Engine
from gatepost.state.rule import Rule
from gatepost.writes.outcome import Outcome

FAULT = "InternalError"


def findings_about(engine: Engine, ref: Ref) -> tuple[Finding, ...]:
    """What each rule that ran for this object says of it, in the order of the ranks."""
    rules = sorted(engine.rules, key=lambda rule: (rule.rank, rule.name))
    return tuple(finding for rule in rules for finding in _findings(engine, rule, ref))


def _findings(engine: Engine, rule: Rule[Any], ref: Ref) -> Iterator[Finding]:
    value = engine.value(rule, ref)
    failure = engine.failures.get((rule.name, ref))
    unreadable = engine.stopped.get((rule.name, ref))
    if unreadable is not None:
        yield Finding(rule=rule.name, blocked=True, problems=(unreadable,), reads=reads_of(engine, rule, ref))
    elif failure is not None:
        fault = Problem(
            FAULT, f"rule {rule.name!r} failed: {failure.error!r}", ref, hint="This is a fault of gatepost."
        )
        yield Finding(rule=rule.name, blocked=True, problems=(fault,), reads=reads_of(engine, rule, ref))
    elif value is not None:
        found = finding_in(engine, rule, value)
        if found is not None:
            yield Finding(**{**_fields(found), "reads": reads_of(engine, rule, ref)})


def finding_in(engine: Engine, rule: Rule[Any], value: Any) -> Finding | None:
    """The part of a rule's value that people want to know; None if it is of a form that tells them nothing."""
    if isinstance(value, Outcome):
        return Finding(
            rule=rule.name,
            note=value.note,
            blocked=value.blocked,
            problems=tuple(value.problems),
            skipped=tuple(value.skipped),
            writes=tuple(_writes(engine, value)),
        )
    if isinstance(value, Problem):
        return Finding(rule=rule.name, blocked=True, problems=(value,))
    if isinstance(value, Claims):
        names = tuple(claim.name for claim in value.claims)
        lag = (value.lagging,) if value.lagging is not None else ()
        return Finding(rule=rule.name, names=names, skipped=tuple(dict.fromkeys((*value.skipped, *lag))))
    if isinstance(value, Parent):
        terms = value.terms
        told = [why for why in (terms.nothing_because, terms.doubt, terms.no_targets) if why is not None]
        return Finding(rule=rule.name, skipped=(*told, *value.remarks))
    return None


def reads_of(engine: Engine, rule: Rule[Any], key: Hashable) -> tuple[str, ...]:
    """What the value of a rule rests on, each read in words."""
    return tuple(_in_words(engine, cell) for cell in engine.reads_of(rule, key))


def readers_of(engine: Engine, ref: Ref) -> tuple[str, ...]:
    """The runs for other objects that looked at this one, whether it was there or not; sorted.

    A value that stands between, such as what a Gateway offers to all Routes of a kind, is passed through: people ask
    which Routes.
    """
    readers: dict[Hashable, list[tuple[str, Hashable]]] = {}
    for rule in engine.rules:
        for key, _ in engine.values(rule):
            for cell in engine.reads_of(rule, key):
                readers.setdefault(cell, []).append((rule.name, key))
    found: set[str] = set()
    seen: set[Hashable] = {ref}
    pending: list[Hashable] = [ref]
    while pending:
        for name, key in readers.get(pending.pop(), ()):
            if isinstance(key, Ref) and key != ref:
                found.add(f"{name} of {key}")
            elif (name, key) not in seen:
                seen.add((name, key))
                pending.append((name, key))
    return tuple(sorted(found))


def _writes(engine: Engine, outcome: Outcome) -> Iterator[Write]:
    for apply in outcome.applies:
        yield Write(verb="apply", about=apply.ref, is_there=engine.store.get(apply.ref) is not None)
    for delete in outcome.deletes:
        is_there = engine.store.get(delete.ref) is not None
        yield Write(verb="delete", about=delete.ref, cause=delete.cause, is_there=is_there)


def _state_in_words(engine: Engine, ref: Ref) -> str:
    if engine.store.get(ref) is not None:
        return ""
    return " (cannot be read)" if engine.store.unreadable(ref) is not None else " (not there)"


def _in_words(engine: Engine, cell: Any) -> str:
    if isinstance(cell, Ref):
        return f"{cell}{_state_in_words(engine, cell)}"
    if isinstance(cell, GroupKind):
        return f"whether each {cell} can be read"
    name, key = cell
    return f"{name} of {_key_in_words(key)}"


def _key_in_words(key: Hashable) -> str:
    if isinstance(key, tuple):
        return " ".join(str(part) for part in key if part != "")
    return str(key)


def _fields(finding: Finding) -> dict[str, Any]:
    return {name: getattr(finding, name) for name in finding.__struct_fields__}
