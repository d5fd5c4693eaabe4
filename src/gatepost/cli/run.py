"""`gatepost run`: the controllers, and DNS, against a cluster."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from gatepost.runtime.process import RunSettings

CONTROLLERS = ("domainmapping", "route", "gateway")

WRONG_USE = 2
OUTSIDE_FAILED = 3


@click.command("run")
@click.option("--kubeconfig", help="Kubeconfig file.  [default: $KUBECONFIG, ~/.kube/config, or the Pod's account]")
@click.option("--context", help="Context of the kubeconfig.  [default: its current one]")
@click.option(
    "--controllers",
    default="gateway",
    show_default=True,
    help="Comma-separated controllers to run: domainmapping, route, gateway; or none. The first two take the place of "
    "Knative's own: switch those off before.",
)
@click.option("--cluster-domain", default="cluster.local", show_default=True, help="DNS suffix of Services.")
@click.option("--system-namespace", default="knative-serving", show_default=True, help="Where Knative's settings lie.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@click.option("--once", is_flag=True, help="End when nothing is left to do.")
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info")
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text")
def command(
    kubeconfig: str | None,
    context: str | None,
    controllers: str,
    cluster_domain: str,
    system_namespace: str,
    dry_run: bool,
    once: bool,
    log_level: str,
    log_format: str,
) -> None:
    """Runs the controllers against a cluster until Ctrl-C or SIGTERM.

    \b
    Examples:
      gatepost run
      gatepost run --dry-run --once --context staging
    """
    from gatepost.cluster.errors import KubeconfigError
    from gatepost.runtime.logs import set_up_logs
    from gatepost.runtime.process import RunSettings

    set_up_logs(log_level, log_format)
    settings = RunSettings(
        kubeconfig=kubeconfig,
        context=context,
        controllers=_names(controllers),
        cluster_domain=cluster_domain,
        system_namespace=system_namespace,
        dry_run=dry_run,
        once=once,
    )
    try:
        failures = asyncio.run(_run(settings))
    except KubeconfigError as error:
        click.echo(f"gatepost run: {error}", err=True)
        sys.exit(WRONG_USE)
    for failure in failures:
        click.echo(f"gatepost run: {failure}", err=True)
    sys.exit(OUTSIDE_FAILED if failures else 0)


async def _run(settings: RunSettings) -> list[str]:
    from gatepost.runtime.process import run

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def end() -> None:
        stop.set()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)  # a second Ctrl-C ends the process at once

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    return await run(settings, stop)


def _names(listed: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in listed.split(",") if name.strip() not in ("", "none"))
    for name in names:
        if name not in CONTROLLERS:
            raise click.BadParameter(
                f"there is no controller {name!r}; there are {', '.join(CONTROLLERS)}", param_hint="--controllers"
            )
    return names
