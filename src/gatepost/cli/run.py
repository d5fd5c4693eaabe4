"""`gatepost run`: the controllers, and DNS, against a cluster."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import TYPE_CHECKING

import click

from gatepost.cli.address import Address, OptionalAddressType
from gatepost.cli.cluster_options import cluster_options
from gatepost.cli.controller_names import controllers_in
from gatepost.cli.dns_options import dns_options, options_of, refuse_wrong
from gatepost.cli.exit_codes import OUTSIDE_FAILED, WRONG_USE
from gatepost.cli.external_dns_flags import unread_variables
from gatepost.cli.provider_options import chosen_provider, provider_options
from gatepost.cli.registry_options import registry_options
from gatepost.cli.settings_options import settings_options
from gatepost.cluster.settings import ApiSettings
from gatepost.dns.settings import DnsSettings
from gatepost.runtime.dns.pace import Pace
from gatepost.runtime.leadership.election import Election

if TYPE_CHECKING:
    from gatepost.objects.settings import Settings
    from gatepost.providers.contract import Provider
    from gatepost.runtime.dns.providers import ProviderSettings
    from gatepost.runtime.dns.registries import RegistrySettings
    from gatepost.runtime.process import RunSettings


@click.command("run", context_settings={"auto_envvar_prefix": "GATEPOST"})
@cluster_options
@click.option(
    "--controllers",
    default="gateway",
    show_default=True,
    help="Comma-separated controllers to run: domainmapping, route, gateway; or none. The first two take the place of "
    "Knative's own: switch those off before.",
)
@settings_options
@click.option(
    "--probe",
    is_flag=True,
    help="Report a KIngress Ready only once requests get through each address of its gateway, and move traffic to a "
    "new Service only once the gateway knows it. Needs a way to those addresses, and backends that answer Knative's "
    "probes.",
)
@click.option("--allow/--no-allow", help="Let DNS plans through however much they remove.")
@click.option("--dry-run/--no-dry-run", help="Say what would be written, and write nothing.")
@click.option("--once/--no-once", help="End when nothing is left to do.")
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info")
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text")
@click.option(
    "--metrics-address",
    type=OptionalAddressType(),
    metavar="HOST:PORT",
    default=":7979",
    show_default=True,
    help="Where to serve /metrics, /healthz and /readyz; 0 for nowhere. With --once they are not served.",
)
@options_of(Pace, "pace")
@options_of(Election, "election")
@options_of(ApiSettings, "api")
@provider_options
@registry_options
@dns_options()
def command(
    kubeconfig: str | None,
    context: str | None,
    server: str,
    controllers: str,
    settings: Settings,
    probe: bool,
    allow: bool,
    dry_run: bool,
    once: bool,
    log_level: str,
    log_format: str,
    metrics_address: Address | None,
    pace: Pace,
    election: Election,
    api: ApiSettings,
    dns: DnsSettings,
    providers: ProviderSettings,
    registries: RegistrySettings,
) -> None:
    """Runs the controllers against a cluster until Ctrl-C or SIGTERM; DNS is written if a --source is given.

    \b
    Examples:
      gatepost run
      gatepost run --dry-run --once --context staging
      gatepost run --controllers none --source gateway-httproute --provider inmemory --inmemory-zone example.com
    """
    from gatepost.runtime.logs import set_up_logs
    from gatepost.runtime.process import RunSettings

    wrong = (*pace.check(), *election.check(), *api.check())
    if wrong:
        raise click.UsageError("\n".join(wrong))
    for line in unread_variables(os.environ):
        click.echo(f"gatepost run: {line}", err=True)
    provider = _provider(dns, providers)
    run_settings = RunSettings(
        kubeconfig=kubeconfig,
        context=context,
        server=server,
        controllers=() if controllers == "none" else controllers_in([controllers]),
        cluster_domain=settings.cluster_domain,
        system_namespace=settings.system_namespace,
        dns=dns if provider is not None else None,
        registries=registries,
        pace=pace,
        allow=allow,
        probe=probe,
        dry_run=dry_run,
        once=once,
        api=api,
        election=election,
        status_address=metrics_address,
    )
    set_up_logs(log_level, log_format)
    sys.exit(_exit_code_of(run_settings, provider))


def _exit_code_of(settings: RunSettings, provider: Provider | None) -> int:
    """Runs until the end, and tells what did not succeed."""
    from gatepost.cluster.errors import KubeconfigError
    from gatepost.dns.rules import BadSettings
    from gatepost.runtime.listening import CannotListen

    try:
        failures = asyncio.run(_run(settings, provider))
    except (KubeconfigError, BadSettings) as error:
        click.echo(f"gatepost run: {error}", err=True)
        return WRONG_USE
    except CannotListen as error:
        click.echo(f"gatepost run: {error}", err=True)
        return OUTSIDE_FAILED
    for failure in failures:
        click.echo(f"gatepost run: {failure}", err=True)
    return OUTSIDE_FAILED if failures else 0


async def _run(settings: RunSettings, provider: Provider | None) -> list[str]:
    from gatepost.runtime.process import run

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def end() -> None:
        stop.set()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)  # a second Ctrl-C ends the process at once

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    return await run(settings, stop, provider)


def _provider(dns: DnsSettings, providers: ProviderSettings) -> Provider | None:
    """The provider to write DNS to, None if no source was given. Raises: click.UsageError for wrong settings."""
    if not dns.sources:
        if dns.provider:
            raise click.UsageError("--provider: there is nothing to publish without a --source")
        return None
    return chosen_provider(refuse_wrong(dns).provider, providers, dns.domains)
