"""`gatepost webhook`: a DNS provider of gatepost, served to external-dns."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import TYPE_CHECKING

import click
import msgspec

from gatepost.cli.config_file import config_option
from gatepost.cli.dns_options import options_of
from gatepost.cli.provider_options import chosen_provider, provider_options
from gatepost.dns.settings import DnsSettings

if TYPE_CHECKING:
    from gatepost.providers.webhook.server import WebhookServer
    from gatepost.runtime.dnsproviders import ProviderSettings

OUTSIDE_FAILED = 3
_FILTERS = ("domain_filter", "exclude_domains", "regex_domain_filter", "regex_domain_exclusion")
_LARGEST_PORT = 65535


class _Address(click.ParamType[tuple[str, int]]):
    """HOST:PORT; an IPv6 address stands in brackets."""

    name = "host:port"

    def convert(
        self, value: str | tuple[str, int], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        host, colon, port = value.rpartition(":")
        if not colon or not port.isdecimal() or int(port) > _LARGEST_PORT:
            self.fail(f"found {value!r}, wanted HOST:PORT like 127.0.0.1:8888", param, ctx)
        return host.strip("[]"), int(port)


@click.command("webhook")
@click.option(
    "--provider", required=True, envvar="GATEPOST_PROVIDER", help="The DNS provider to serve, such as rfc2136."
)
@click.option(
    "--listen",
    type=_Address(),
    default="127.0.0.1:8888",
    show_default=True,
    help="Where to serve. Whoever reaches this address can write DNS.",
)
@click.option(
    "--health-listen",
    type=_Address(),
    metavar="HOST:PORT",
    help="Where to serve /healthz alone, for probes from outside, such as 0.0.0.0:8080.  [default: nowhere]",
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
    listen: tuple[str, int],
    health_listen: tuple[str, int] | None,
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
    from gatepost.runtime.logs import set_up_logs

    wrong = msgspec.structs.replace(filters, sources=("crd",)).check()
    if wrong:
        raise click.UsageError("\n".join(wrong))
    server = WebhookServer(chosen_provider(provider, providers), filters.domains or None, max_body_bytes=max_body_size)
    set_up_logs(log_level, log_format)
    try:
        asyncio.run(_serve(server, listen, health_listen))
    except OSError as error:
        click.echo(f"gatepost webhook: {error.strerror or error}", err=True)
        raise click.exceptions.Exit(OUTSIDE_FAILED) from error


async def _serve(server: WebhookServer, listen: tuple[str, int], health_listen: tuple[str, int] | None) -> None:
    from gatepost.providers.webhook.server import health_app, listening

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with contextlib.AsyncExitStack() as stack:
        port = await stack.enter_async_context(listening(server.app(), *listen))
        if health_listen is not None:
            await stack.enter_async_context(listening(health_app(), *health_listen))
        click.echo(f"listening on http://{_in_url(listen[0])}:{port}", err=True)
        await stop.wait()


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
