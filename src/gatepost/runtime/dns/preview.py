"""What would change in DNS: the plan over an engine at rest, for people to look at. Nothing is ever sent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct, structs

from gatepost.dns.conflicts import CONFLICT
from gatepost.dns.desired import record_sets
from gatepost.dns.endpoint import Endpoint
from gatepost.dns.ownership.registry import inventory, ownership_names
from gatepost.dns.ownership.stored import Entry
from gatepost.dns.ownership.txt_format import Cipher, labels_in, ownership_text
from gatepost.dns.plan import Plan
from gatepost.dns.planner import Adjust, Planner
from gatepost.dns.records import OWNER, RESOURCE, RecordSet
from gatepost.dns.served import UnreadZone
from gatepost.dns.settings import DnsSettings
from gatepost.dns.standing import Standings
from gatepost.objects.problems import Problem
from gatepost.runtime.dns.reading import Read
from gatepost.state.engine import Engine


class NameConflict(Struct, frozen=True):
    """A name that several objects want with different targets, and what each that does not get it is told."""

    name: str
    set_identifier: str
    problems: tuple[Problem, ...]


class Preview(Struct, frozen=True):
    """A plan, and what keeps names from being served as wanted.

    Attributes:
        conflicts: one for each name, sorted by names.
        refused: everything else that is wanted and not done.
        own_count: how many records are ours now.
        unread: the zones of which nothing is known, sorted.
    """

    plan: Plan
    conflicts: tuple[NameConflict, ...]
    refused: tuple[Problem, ...]
    own_count: int
    unread: tuple[UnreadZone, ...] = ()


def preview(
    engine: Engine,
    settings: DnsSettings,
    current: Read,
    adjust: Adjust,
    *,
    allow: bool = False,
    doubtful_kinds: Collection[str] = (),
    cipher: Cipher | None = None,
    entries: Sequence[Entry] | None = None,
) -> Preview:
    """The plan from what DNS holds to what the engine wants.

    Args:
        current: what DNS holds now.
        adjust: brings wanted endpoints into the form in which the provider would list them.
        allow: lets the plan through however much it removes, and what nobody is known to own.
        doubtful_kinds: those of which an object that is not there need not be gone.
        cipher: opens the texts of ownership records.
        entries: all entries of the store of the registry, None for a registry without one.
    """
    zones = current.served.zones or ()
    endpoints = current.endpoints
    if entries is None:
        endpoints = with_ownership(endpoints, settings, zones)
    else:
        entries = with_entries(endpoints, settings, entries)
    held = inventory(settings, endpoints, zones, cipher, entries)
    is_owner_known = bool(settings.owner) or allow
    standings = Standings(engine, doubtful_kinds, is_owner_known=is_owner_known, namespace=settings.namespace)
    planner = Planner(settings, standings, adjust, current.served)
    wanted = list(record_sets(engine))
    plan = planner.plan_all(held, wanted, allow=allow)
    problems = {problem for record_set in wanted for problem in record_set.problems} | set(plan.problems)
    return Preview(
        plan,
        tuple(_conflicts(wanted)),
        tuple(sorted(problem for problem in problems if problem.reason != CONFLICT)),
        held.own_count(),
        tuple(sorted(current.served.unread.values())),
    )


def _conflicts(wanted: Iterable[RecordSet]) -> Iterator[NameConflict]:
    for record_set in wanted:
        problems = tuple(sorted(problem for problem in record_set.problems if problem.reason == CONFLICT))
        if problems:
            yield NameConflict(record_set.name, record_set.set_identifier, problems)


def with_ownership(
    endpoints: Sequence[Endpoint], settings: DnsSettings, zones: Iterable[str] = ()
) -> tuple[Endpoint, ...]:
    """The records, with an ownership record for each that says by its labels whose it is and has none.

    A list that `gatepost endpoints` made of other manifests has labels in the place of ownership records; a record
    that names its object and no owner counts as ours.
    """
    names = ownership_names(settings, zones)
    there = {(endpoint.dns_name, endpoint.set_identifier) for endpoint in endpoints if _is_ownership(endpoint)}
    made: list[Endpoint] = []
    for endpoint in endpoints:
        labels = {key: value for key, value in endpoint.labels.items() if key in (OWNER, RESOURCE)}
        name = names.for_record(endpoint.dns_name, endpoint.record_type)
        if settings.owner and labels and not _is_ownership(endpoint) and (name, endpoint.set_identifier) not in there:
            text = ownership_text({OWNER: settings.owner, **labels})
            made.append(
                Endpoint(
                    name,
                    "TXT",
                    (text,),
                    set_identifier=endpoint.set_identifier,
                    provider_specific=endpoint.provider_specific,
                )
            )
    return (*endpoints, *made)


def with_entries(endpoints: Sequence[Endpoint], settings: DnsSettings, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries, with one for each record that says by its labels whose it is and has none; see `with_ownership`."""
    there = {entry.key for entry in entries}
    made = [
        Entry(structs.replace(endpoint, labels={OWNER: settings.owner, **endpoint.labels}))
        for endpoint in endpoints
        if endpoint.labels.keys() & {OWNER, RESOURCE} and not _is_ownership(endpoint)
    ]
    return (*entries, *(entry for entry in made if entry.key not in there))


def _is_ownership(endpoint: Endpoint) -> bool:
    return endpoint.record_type == "TXT" and any(labels_in(target) is not None for target in endpoint.targets)
