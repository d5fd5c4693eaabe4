"""`gatepost render`: what the controllers would make of manifests."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from gatepost.cli.manifest_input import InputReport, read_input
from gatepost.cli.printing import print_objects
from gatepost.runtime.offline import NotAtRest, Rendered, render
from gatepost.runtime.wiring import CONTROLLERS, reconcilers


def controller_names(ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """The controllers named by a repeatable, comma-separated option; all of them if it is not given."""
    names = tuple(name.strip() for text in value for name in text.split(",") if name.strip())
    for name in names:
        if name not in CONTROLLERS:
            raise click.BadParameter(f"there is no controller {name!r}; there are: {', '.join(CONTROLLERS)}")
    return names or tuple(CONTROLLERS)


@click.command("render")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("-f", "--filename", "more_files", multiple=True, metavar="FILE", help="Another way to name a FILE.")
@click.option(
    "--controllers",
    multiple=True,
    callback=controller_names,
    help=f"Only these, separated by commas: {', '.join(CONTROLLERS)}.  [default: all]",
)
@click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True)
@click.pass_context
def command(
    ctx: click.Context, files: tuple[str, ...], more_files: tuple[str, ...], controllers: tuple[str, ...], output: str
) -> None:
    """Prints the objects in FILE with their new status, and those that the controllers create.

    FILE is a manifest, a folder of them, or - for stdin. No cluster is asked: the API server is modelled, and the
    controllers run until nothing changes. An object that cannot be reconciled is told in its status and in events.

    \b
    Example:
      gatepost render --controllers domainmapping,gateway manifests/
    """
    paths = (*files, *more_files)
    if not paths:
        raise click.UsageError("Name at least one FILE, a folder, or - for stdin.")
    manifests = read_input(paths)
    report = InputReport(manifests)
    wiring = reconcilers(controllers)
    try:
        rendered = render(
            [manifest.raw for manifest in manifests.objects], wiring.rules, wiring.indexes, now=datetime.now(UTC)
        )
    except NotAtRest as error:
        click.echo(f"gatepost: {error}", err=True)
        ctx.exit(3)
    print_objects(rendered.objects, output)
    ctx.exit(_told(rendered, report))


def _told(rendered: Rendered, report: InputReport) -> int:
    for unreadable in rendered.unreadable:
        report.unreadable(unreadable)
    for problem in rendered.problems:
        report.problem(problem)
    for failure in rendered.failures:
        click.echo(f"gatepost: {failure}", err=True)
    code = report.exit_code()
    return 3 if rendered.failures else code
