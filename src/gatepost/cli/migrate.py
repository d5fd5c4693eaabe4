"""`gatepost migrate services`: the Services of Routes off ExternalName, and back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gatepost.cli.cluster_input import connection_to, take_snapshot
from gatepost.cli.exit_codes import INPUT_HAS_PROBLEMS, OUTSIDE_FAILED
from gatepost.cli.input_options import Input, input_options
from gatepost.cli.manifest_input import over_manifests
from gatepost.cli.migration_text import print_migrations
from gatepost.cli.settings_options import settings_options
from gatepost.migration.rules import BACK, FORWARD, INDEXES, RULES, guarded
from gatepost.migration.values import Migration, Step
from gatepost.objects.refs import Ref
from gatepost.objects.serving import ROUTE_LABEL
from gatepost.objects.settings import Settings
from gatepost.runtime.wiring import Wiring
from gatepost.state.engine import Engine

if TYPE_CHECKING:
    from gatepost.cluster.connection import Connection
    from gatepost.runtime.migrating import Carried


@click.group("migrate")
def command() -> None:
    """Moves what Knative made to the form that gatepost gives it, without losing traffic."""


@command.command("services")
@input_options
@click.option("-n", "--namespace", default="", metavar="NAMESPACE", help="Only Services of this namespace.")
@click.option("--back", is_flag=True, help="The way back, to what Knative's Route controller writes.")
@click.option("--apply", "is_applied", is_flag=True, help="Do it. Without this nothing is written.")
@click.option("--handed-over", is_flag=True, help="Knative's Route controller is off: all Routes are gatepost's.")
@click.option(
    "--pause",
    "pause_seconds",
    type=click.FloatRange(min=0),
    default=2.0,
    show_default=True,
    help="Seconds that DNS servers get to see the slices before Services turn to them.",
)
@settings_options
@click.option("-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table", show_default=True)
@click.pass_context
def services(
    ctx: click.Context,
    given: Input,
    namespace: str,
    back: bool,
    is_applied: bool,
    handed_over: bool,
    pause_seconds: float,
    settings: Settings,
    output: str,
) -> None:
    """Moves the Services of Routes off ExternalName: slices first, then one update. No Service is ever deleted.

    Shows what stands there, the steps, and why not; --apply does them, each checked before the next. With FILE
    (manifests, folders, - for stdin) no cluster is asked; without, the cluster is read once.

    \b
    Exit code: 0 done or shown, 1 some Services of Routes may not be moved, 2 wrong use, 3 some stopped on the way.

    \b
    Examples:
      gatepost migrate services
      gatepost migrate services -n shop --handed-over --apply
      gatepost migrate services --back
    """
    _refuse_wrong_use(given.paths, is_applied=is_applied, back=back, handed_over=handed_over)
    wiring = Wiring(RULES, INDEXES)
    code, connection = 0, None
    if given.paths:
        found = over_manifests(given.paths, wiring, (settings,))
        engine, code = found.engine, found.exit_code
    else:
        connection = connection_to(given)  # once: the steps must go to the cluster that was read
        engine = take_snapshot(connection, wiring, settings=settings).engine
        _look_up_names(engine)
    migrations = _migrations(engine, namespace, back=back, handed_over=handed_over)
    if not migrations:
        where = f"in namespace {namespace}" if namespace else "here"
        click.echo(f"gatepost migrate: no Service {where} is of a Route: none has the label {ROUTE_LABEL}", err=True)
    carried = _carry_out(connection, migrations, pause_seconds) if is_applied and connection is not None else None
    print_migrations(migrations, carried, output)
    ctx.exit(code or (_exit_code(migrations, carried) if carried is not None else 0))


def _refuse_wrong_use(paths: Sequence[str], *, is_applied: bool, back: bool, handed_over: bool) -> None:
    if paths and is_applied:
        raise click.UsageError("--apply works on a cluster; FILE only shows what would be done.")
    if back and handed_over:
        raise click.UsageError("--handed-over says that the Routes are gatepost's; --back gives them to Knative again.")


def _look_up_names(engine: Engine) -> None:
    from gatepost.runtime.lookups import DnsResolver, look_up_once, names_asked

    if names_asked(engine):
        for why in asyncio.run(look_up_once(engine, DnsResolver())).values():
            click.echo(f"gatepost migrate: {why}", err=True)


def _migrations(engine: Engine, namespace: str, *, back: bool, handed_over: bool) -> list[Migration]:
    for failure in engine.faults:
        click.echo(f"gatepost: {failure}", err=True)
    found = [migration for _, migration in engine.values(BACK if back else FORWARD) if migration is not None]
    chosen = [migration for migration in found if namespace in ("", migration.service.namespace)]
    chosen.sort(key=lambda migration: migration.service)
    return [guarded(migration, back=back, all_handed_over=handed_over) for migration in chosen]


def _carry_out(connection: Connection, migrations: Sequence[Migration], pause_seconds: float) -> list[Carried]:
    """Does the steps; each is told on stderr as soon as it is done."""
    from gatepost.cluster.calls import Calls
    from gatepost.cluster.client import Client
    from gatepost.cluster.discovery import Discovery
    from gatepost.runtime.migrating import Migrator

    def tell(service: Ref, step: Step) -> None:
        click.echo(f"{service.namespace}/{service.name}: done: {step}", err=True)

    async def move() -> list[Carried]:
        async with Client(connection) as client:
            calls = Calls(client, Discovery(client))
            return await Migrator(calls, tell, pause_seconds).carry_out(migrations)

    return asyncio.run(move())


def _exit_code(migrations: Sequence[Migration], carried: Sequence[Carried]) -> int:
    if any(one.stopped is not None for one in carried):
        return OUTSIDE_FAILED
    # What no Route controls is rightly left alone.
    kept_back = any(migration.refused and migration.found.is_controlled for migration in migrations)
    return INPUT_HAS_PROBLEMS if kept_back else 0
