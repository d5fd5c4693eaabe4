"""`gatepost webhook`: a DNS provider of gatepost, served to external-dns."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import TYPE_CHECKING

import click
import msgspec

from gatepost.cli.address import Address, AddressType, OptionalAddressType
from gatepost.cli.config_file import config_option
from gatepost.cli.dns_options import options_of
from gatepost.cli.exit_codes import OUTSIDE_FAILED
from gatepost.cli.provider_options import chosen_provider, provider_options
from gatepost.dns.settings import DnsSettings

if TYPE_CHECKING:
    from gatepost.providers.webhook.server import WebhookServer
    from gatepost.runtime.dns.providers import ProviderSettings

_FILTERS = ("domain_filter", "exclude_domains", "regex_domain_filter", "regex_domain_exclusion")


@click.command("webhook")
@click.option(
    "--provider", required=True, envvar="GATEPOST_PROVIDER", help="The DNS provider to serve, such as rfc2136."
)
@click.option(
    "--listen",
    type=AddressType(),
    default="127.0.0.1:8888",
    show_default=True,
    help="Where to serve. Whoever reaches this address can write DNS.",
)
@click.option(
    "--metrics-address",
    type=OptionalAddressType(),
    metavar="HOST:PORT",
    default="127.0.0.1:8080",
    show_default=True,
    envvar="GATEPOST_METRICS_ADDRESS",
    help="Where to serve /metrics and /healthz; :8080 for probes from outside, 0 for nowhere.",
)
@click.option(
    "--max-body-size", type=click.IntRange(min=0), default=33554432, show_default=True, help="Bytes; 0 for any."
)
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info")
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text")
@provider_options
@options_of(DnsSettings, "filters", without=[name for name in DnsSettings.__struct_fields__ if name not in _FILTERS])
@config_option
def command(
    provider: str,
    listen: Address,
    metrics_address: Address | None,
    max_body_size: int,
    log_level: str,
    log_format: str,
    filters: DnsSettings,
    providers: ProviderSettings,
) -> None:
    """Serves a DNS provider to external-dns over its webhook protocol, until Ctrl-C or SIGTERM.

    external-dns then runs with --provider=webhook. Without filters, the zones of the provider are served.

    \b
    Examples:
      gatepost webhook --provider inmemory --inmemory-zone example.com
      gatepost webhook --provider rfc2136 --rfc2136-host ns1.example.com --rfc2136-zone example.com
    """
    from gatepost.providers.webhook.server import WebhookServer
    from gatepost.runtime.listening import CannotListen
    from gatepost.runtime.logs import set_up_logs

    wrong = msgspec.structs.replace(filters, sources=("crd",)).check()
    if wrong:
        raise click.UsageError("\n".join(wrong))
    server = WebhookServer(chosen_provider(provider, providers), filters.domains or None, max_body_bytes=max_body_size)
    set_up_logs(log_level, log_format)
    try:
        asyncio.run(_serve(server, listen, metrics_address))
    except CannotListen as error:
        click.echo(f"gatepost webhook: {error}", err=True)
        raise click.exceptions.Exit(OUTSIDE_FAILED) from error


async def _serve(server: WebhookServer, listen: Address, metrics_address: Address | None) -> None:
    from gatepost.runtime.listening import in_url, listening
    from gatepost.runtime.metrics import metrics_of_webhook
    from gatepost.runtime.status_pages import status_pages

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with contextlib.AsyncExitStack() as stack:
        at = await stack.enter_async_context(listening(server.app(), "--listen", *listen))
        said = [f"listening on http://{in_url(listen[0])}:{at}"]
        if metrics_address is not None:
            pages = status_pages(metrics_of_webhook(server))
            at = await stack.enter_async_context(listening(pages, "--metrics-address", *metrics_address))
            said.append(f"metrics and health on http://{in_url(metrics_address[0])}:{at}")
        click.echo("\n".join(said), err=True)  # once all of it is true
        await stop.wait()
