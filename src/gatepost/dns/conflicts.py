"""Who gets a name that several objects claim.

Claims with equal targets agree: one record set, its settings from the oldest claim that sets them. Claims that differ
are in conflict, whatever source they come from. A, AAAA and CNAME say together where requests go and are settled as
one; every other type stands for itself, so that a mail record and a web address do not fight over a name.

| --conflict | who is published                                                                                        |
| oldest     | the oldest claim, whole                                                                                 |
| refuse     | nobody; a record that is there is held, or else any tenant could take a name down by claiming it        |
| merge      | all targets together; addresses beat names, and of several names the one of the oldest claim is taken   |
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs

from gatepost.dns.endpoint import NameKey
from gatepost.dns.records import Claim, Claimant, Record, Records, RecordSet, first_set
from gatepost.dns.targets import TRAFFIC_TYPES, agree, joined
from gatepost.objects.problems import Problem, Skipped

CONFLICT = "DNSConflict"

_TRAFFIC = "traffic"


class _Wish(Struct, frozen=True):
    """The part of a claim that is settled as one."""

    records: Records
    claimant: Claimant
    doubt: Skipped | None


class _Settled(Struct, frozen=True):
    records: Records = ()
    claimants: tuple[Claimant, ...] = ()
    problems: tuple[Problem, ...] = ()
    hold: Skipped | None = None


def settle(key: NameKey, claims: Sequence[Claim], choice: str) -> RecordSet:
    """The record set of a name that has any number of claims but one.

    Doubtful claims without records are not alive: they neither win nor agree, and hold the name only while nothing
    alive claims it.
    """
    oldest_first = sorted(claims, key=lambda claim: claim.claimant.age)
    alive = [claim for claim in oldest_first if claim.records]
    if not alive:
        doubt = next((claim.doubt for claim in oldest_first if claim.doubt is not None), None)
        return RecordSet(*key, claimants=tuple(claim.claimant for claim in oldest_first), hold=doubt)
    groups = {group: _settle_group(key[0], wishes, choice) for group, wishes in _groups(alive).items()}
    problems = _separate_names(key[0], groups, choice)
    first = next(iter(groups.values())).claimants
    return RecordSet(
        *key,
        tuple(_marked(record, settled, first) for settled in groups.values() for record in settled.records),
        first,
        tuple(sorted({problem for settled in groups.values() for problem in settled.problems} | set(problems))),
        next((settled.hold for settled in groups.values() if settled.hold is not None), None),
    )


def _groups(claims: Sequence[Claim]) -> dict[str, list[_Wish]]:
    """The parts of the claims by what is settled as one; the part that routes requests comes first."""
    groups: dict[str, list[_Wish]] = {}
    for claim in claims:
        parts: dict[str, list[Record]] = {}
        for record in claim.records:
            parts.setdefault(_TRAFFIC if record.type in TRAFFIC_TYPES else record.type, []).append(record)
        for group, records in parts.items():
            groups.setdefault(group, []).append(_Wish(tuple(records), claim.claimant, claim.doubt))
    return {group: groups[group] for group in sorted(groups, key=lambda group: (group != _TRAFFIC, group))}


def _settle_group(name: str, wishes: list[_Wish], choice: str) -> _Settled:
    first = wishes[0]
    agreeing = [wish for wish in wishes if agree(wish.records, first.records)]
    if len(agreeing) == len(wishes) or choice == "oldest":
        losers = [wish for wish in wishes if wish not in agreeing]
        return _together(agreeing, tuple(_lost(name, loser.claimant, first.claimant) for loser in losers))
    if choice == "merge":
        return _merged(name, wishes)
    message = f"{name} is wanted with different targets by {', '.join(str(wish.claimant.ref) for wish in wishes)}"
    return _Settled(
        claimants=tuple(wish.claimant for wish in wishes),
        problems=tuple(_refused(name, wish.claimant, wishes) for wish in wishes),
        hold=Skipped(CONFLICT, message, first.claimant.ref),
    )


def _together(wishes: list[_Wish], problems: tuple[Problem, ...] = ()) -> _Settled:
    """Wishes that agree, as one: targets of the oldest, TTL and each property from the oldest that sets it."""
    records = wishes[0].records
    if len(wishes) > 1:
        settings = {record.type: record for record in joined([wish.records for wish in wishes])}
        records = tuple(structs.replace(settings[record.type], targets=record.targets) for record in records)
    doubt = next((wish.doubt for wish in wishes if wish.doubt is not None), None)
    return _Settled(records, tuple(wish.claimant for wish in wishes), problems, doubt)


def _merged(name: str, wishes: list[_Wish]) -> _Settled:
    with_addresses = [wish for wish in wishes if any(record.type != "CNAME" for record in wish.records)]
    if not with_addresses:
        winners = [wish for wish in wishes if agree(wish.records, wishes[0].records)]
        losers = [wish for wish in wishes if wish not in winners]
        return _together(winners, tuple(_lost(name, loser.claimant, wishes[0].claimant) for loser in losers))
    losers = [wish for wish in wishes if wish not in with_addresses]
    return _Settled(
        tuple(
            _with_settings_of(record, with_addresses)
            for record in joined([wish.records for wish in with_addresses])
            if record.type != "CNAME"
        ),
        tuple(wish.claimant for wish in with_addresses),
        tuple(_lost(name, loser.claimant, with_addresses[0].claimant) for loser in losers),
        next((wish.doubt for wish in with_addresses if wish.doubt is not None), None),
    )


def _with_settings_of(record: Record, wishes: list[_Wish]) -> Record:
    """The record with TTL and each property from the oldest wish that sets it, even if on a record of another type."""
    settings = [
        given for wish in wishes for given in [own for own in wish.records if own.type == record.type] or wish.records
    ]
    return structs.replace(
        record,
        ttl=next((given.ttl for given in settings if given.ttl), 0),
        properties=first_set(given.properties for given in settings),
    )


def _separate_names(name: str, groups: dict[str, _Settled], choice: str) -> list[Problem]:
    """Takes the CNAME or its rivals out of `groups`: a CNAME cannot stand beside other records (RFC 1034 3.6.2)."""
    traffic = groups.get(_TRAFFIC)
    others = [group for group in groups if group != _TRAFFIC and groups[group].records]
    if traffic is None or not others or not any(record.type == "CNAME" for record in traffic.records):
        return []
    rivals = sorted((groups[group].claimants[0] for group in others), key=lambda claimant: claimant.age)
    owner = traffic.claimants[0]
    if choice == "oldest" and owner.age < rivals[0].age:
        for group in others:
            groups[group] = _Settled(problems=groups[group].problems)
        return [_lost(name, rival, owner) for rival in rivals]
    hold = None
    if choice == "refuse" and owner != rivals[0]:
        hold = Skipped(CONFLICT, f"{name} is wanted both as a CNAME and with other records", owner.ref)
        for group in others:
            groups[group] = _Settled(claimants=groups[group].claimants, problems=groups[group].problems, hold=hold)
    groups[_TRAFFIC] = _Settled(claimants=tuple(rivals[:1]), problems=traffic.problems, hold=hold)
    return [_lost(name, owner, rivals[0])]


def _marked(record: Record, settled: _Settled, first: tuple[Claimant, ...]) -> Record:
    """The record with its claimant, where that is not the one whom the record set names first."""
    claimant = settled.claimants[0]
    return record if claimant == first[0] else structs.replace(record, claimant=claimant)


def _lost(name: str, loser: Claimant, winner: Claimant) -> Problem:
    hint = f"Use another hostname here, or take it away from {winner.ref}."
    return Problem(CONFLICT, f"{name} belongs to {winner.ref}, whose claim comes first", loser.ref, hint=hint)


def _refused(name: str, claimant: Claimant, wishes: list[_Wish]) -> Problem:
    others = ", ".join(str(wish.claimant.ref) for wish in wishes if wish.claimant != claimant)
    message = f"{name} is not published: {others} wants it with other targets"
    return Problem(CONFLICT, message, claimant.ref, hint="Agree on one of them, or choose --conflict oldest or merge.")
