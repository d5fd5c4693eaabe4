"""`gatepost render`: what the controllers would make of manifests."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import click

from gatepost.cli.cluster_input import connection_to, take_snapshot
from gatepost.cli.controller_names import controllers_in
from gatepost.cli.exit_codes import OUTSIDE_FAILED
from gatepost.cli.input_options import Input, input_options
from gatepost.cli.manifest_input import InputReport, read_input
from gatepost.cli.printing import print_objects
from gatepost.cli.settings_options import settings_options
from gatepost.manifests import Manifests
from gatepost.objects.core import Secret
from gatepost.objects.kinds import TYPES
from gatepost.objects.settings import Settings
from gatepost.runtime.offline.settle import NotAtRest, Rendered, render
from gatepost.runtime.wiring import CONTROLLERS, Wiring, reconcilers


def controller_names(ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """The controllers named by a repeatable, comma-separated option; all of them if it is not given."""
    return controllers_in(value) or tuple(CONTROLLERS)


@click.command("render")
@input_options
@click.option(
    "--controllers",
    multiple=True,
    callback=controller_names,
    help=f"Only these, separated by commas: {', '.join(CONTROLLERS)}.  [default: all]",
)
@settings_options
@click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True)
@click.pass_context
def command(
    ctx: click.Context,
    given: Input,
    controllers: tuple[str, ...],
    settings: Settings,
    output: str,
) -> None:
    """Prints the objects in FILE with their new status, and those that the controllers create.

    FILE is a manifest, a folder of them, or - for stdin; without FILE the cluster is read, and not written to. The API
    server is modelled, and the controllers run until nothing changes. An object that cannot be reconciled is told in
    its status and in events.

    \b
    Example:
      gatepost render --controllers domainmapping,gateway manifests/
    """
    wiring = reconcilers(controllers)
    manifests = read_input(given.paths) if given.paths else Manifests()
    objects = [manifest.raw for manifest in manifests.objects] if given.paths else _in_cluster(given, wiring, settings)
    report = InputReport(manifests)
    try:
        rendered = render(objects, wiring.rules, wiring.indexes, now=datetime.now(UTC), settings=(settings,))
    except NotAtRest as error:
        click.echo(f"gatepost: {error}", err=True)
        ctx.exit(OUTSIDE_FAILED)
    print_objects(rendered.objects, output)
    ctx.exit(_told(rendered, report))


def _in_cluster(given: Input, wiring: Wiring, settings: Settings) -> list[Mapping[str, Any]]:
    """The raw objects of all kinds that controllers may read, as a cluster holds them now.

    All of them, since a controller asks for some only once it has written others. Secrets stay where they are.
    """
    kinds = [type_.KIND.group_kind for type_ in TYPES if type_ is not Secret]
    taken = take_snapshot(connection_to(given), wiring, kinds=kinds, kept_raw=kinds, settings=settings)
    found = (taken.raw_of(ref) for ref, _ in taken.engine.store.items())
    return [raw for raw in found if raw is not None]


def _told(rendered: Rendered, report: InputReport) -> int:
    for unreadable in rendered.unreadable:
        report.problem(unreadable)
    for problem in rendered.problems:
        report.problem(problem)
    for failure in rendered.failures:
        click.echo(f"gatepost: {failure}", err=True)
    code = report.tell()
    return OUTSIDE_FAILED if rendered.failures else code
