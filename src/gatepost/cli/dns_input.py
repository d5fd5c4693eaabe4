"""What the commands of the DNS part share: the rules at rest over manifests or a cluster, and what they leave out."""

from __future__ import annotations

from collections.abc import Sequence

import click
from msgspec import Struct, structs

from gatepost.cli.cluster_input import connection_to, take_snapshot
from gatepost.cli.exit_codes import OUTSIDE_FAILED
from gatepost.cli.input_options import Input
from gatepost.cli.manifest_input import over_manifests
from gatepost.dns.choices import SOURCES
from gatepost.dns.desired import record_sets
from gatepost.dns.records import Claims
from gatepost.objects.problems import Problem, Skipped
from gatepost.objects.refs import GroupKind
from gatepost.objects.settings import Settings
from gatepost.runtime.asked_kinds import kinds_over
from gatepost.runtime.loop.kinds import kinds_in_doubt
from gatepost.runtime.wiring import Wiring
from gatepost.state.engine import Engine

DEFAULT_SOURCES = tuple(source for source in SOURCES if source not in ("gateway-listener", "knative"))
"""What commands that only look read where no --source is given. Listeners alone serve nothing, so their hostnames are
no claims unless they are asked for; the names of Knative are those of the HTTPRoutes that are made for it."""


class DnsInput(Struct, frozen=True):
    """The rules at rest.

    Attributes:
        exit_code: that which problems of the input give; they are told already.
        doubtful_kinds: those that could not be read in full, so that an object that is not there may still exist.
    """

    engine: Engine
    exit_code: int = 0
    doubtful_kinds: frozenset[str] = frozenset()


def dns_input(given: Input, wiring: Wiring, settings: Settings, *, needed: Sequence[GroupKind] = ()) -> DnsInput:
    """The rules at rest over what was given. Exits with 3 if the cluster cannot be asked.

    Args: needed: kinds that are wanted besides, and without which the rest is worth nothing.
    """
    found = _over_files(given, wiring, settings) if given.paths else _over_cluster(given, wiring, settings, needed)
    faults = found.engine.faults
    for fault in faults:
        click.echo(f"gatepost: {fault}", err=True)
    return structs.replace(found, exit_code=OUTSIDE_FAILED) if faults else found


def _over_files(given: Input, wiring: Wiring, settings: Settings) -> DnsInput:
    found = over_manifests(given.paths, wiring, (settings,))
    kinds = kinds_over(wiring.rules, wiring.indexes)
    unknown = () if found.is_complete else kinds
    return DnsInput(found.engine, found.exit_code, kinds_in_doubt(kinds, unknown, missing=()))


def _over_cluster(given: Input, wiring: Wiring, settings: Settings, needed: Sequence[GroupKind]) -> DnsInput:
    taken = take_snapshot(connection_to(given), wiring, kinds=needed, settings=settings)
    for kind in needed:
        if kind in taken.missing or kind in taken.withheld:
            why = taken.withheld.get(kind, "the cluster does not serve it")
            click.echo(f"gatepost: {kind} is needed: {why}", err=True)
            raise click.exceptions.Exit(OUTSIDE_FAILED)
    kinds = kinds_over(wiring.rules, wiring.indexes)
    return DnsInput(taken.engine, 0, kinds_in_doubt(kinds, tuple(taken.withheld), taken.missing))


def tell_skipped(engine: Engine, *, in_full: bool) -> None:
    """What gives no name, on stderr: in full, or as counts by reason with the way to see more."""
    found = _reasons(engine)
    if in_full:
        for why in found:
            click.echo(f"{why}  [{why.reason}]", err=True)
    elif found:
        counts: dict[str, int] = {}
        for why in found:
            counts[why.reason] = counts.get(why.reason, 0) + 1
        listed = ", ".join(f"{counts[reason]} {reason}" for reason in sorted(counts))
        click.echo(f"left out: {listed}; --skipped lists them", err=True)


def _reasons(engine: Engine) -> list[Problem | Skipped]:
    skipped = {
        why
        for rule in engine.rules
        for _, value in engine.values(rule)
        if isinstance(value, Claims)
        for why in value.skipped
    }
    wanted = tuple(record_sets(engine))
    skipped.update(note for settled in wanted for note in settled.notes)
    problems = {problem for settled in wanted for problem in settled.problems}
    return [*sorted(problems), *sorted(skipped)]
