"""`gatepost up`: all of gatepost on this machine, with no cluster."""

from __future__ import annotations

import asyncio
import functools
import pathlib
import signal
import sys
from typing import TYPE_CHECKING

import click
import msgspec

from gatepost.cli.exit_codes import DONE, OUTSIDE_FAILED

if TYPE_CHECKING:
    from gatepost.standalone.apiserver.server import ApiServer
    from gatepost.standalone.errors import StandaloneError
    from gatepost.standalone.up import Addresses, UpSettings

DEFAULT_KUBECONFIG = pathlib.Path("gatepost.kubeconfig")


@click.command("up")
@click.option(
    "--http-port", type=click.IntRange(0, 65535), default=0, help="Port of the gateway.  [default: a free one]"
)
@click.option("--https-port", type=click.IntRange(0, 65535), default=0, help="Port of the gateway for TLS.")
@click.option(
    "--local-port", type=click.IntRange(0, 65535), default=0, help="Port of the gateway for cluster-local names."
)
@click.option("--dns-port", type=click.IntRange(0, 65535), default=0, help="Port of the DNS server, UDP and TCP.")
@click.option("--api-port", type=click.IntRange(0, 65535), default=0, help="Port of the Kubernetes API.")
@click.option(
    "--data",
    "data_dir",
    type=click.Path(path_type=pathlib.Path, file_okay=False),
    help="Folder in which objects outlive the process.  [default: in memory]",
)
@click.option(
    "--crds",
    "crds_dir",
    type=click.Path(path_type=pathlib.Path, file_okay=False, exists=True),
    help="Folder with published CustomResourceDefinitions to use instead of the compact ones.",
)
@click.option("--zone", "zones", multiple=True, help="A DNS zone to serve; may be repeated.")
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=pathlib.Path, dir_okay=False),
    help=f"Where to write the kubeconfig for kubectl.  [default: {DEFAULT_KUBECONFIG}]",
)
@click.option(
    "--ready-file",
    type=click.Path(path_type=pathlib.Path, dir_okay=False),
    help="Written with the addresses as JSON when everything answers, for scripts.",
)
@click.option(
    "--probe/--no-probe",
    default=True,
    show_default=True,
    help="Report a KIngress Ready only once requests get through, and move traffic only to what the gateway knows.",
)
@click.option("-q", "--quiet", is_flag=True, help="Do not print the addresses, and log errors only.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    show_default=True,
    help="What the controllers tell on stderr.",
)
@click.pass_context
def command(
    ctx: click.Context,
    http_port: int,
    https_port: int,
    local_port: int,
    dns_port: int,
    api_port: int,
    data_dir: pathlib.Path | None,
    crds_dir: pathlib.Path | None,
    zones: tuple[str, ...],
    kubeconfig: pathlib.Path | None,
    ready_file: pathlib.Path | None,
    probe: bool,
    quiet: bool,
    log_level: str,
) -> None:
    """Runs a Kubernetes API, Traefik, a DNS server and gatepost's controllers on loopback until Ctrl-C.

    \b
    Example:
      gatepost up --http-port 8080 --dns-port 5353
      kubectl --kubeconfig gatepost.kubeconfig get gateways -A
    """
    from gatepost.runtime.logs import set_up_logs
    from gatepost.standalone.errors import StandaloneError
    from gatepost.standalone.up import DEFAULT_ZONES, UpSettings

    set_up_logs("error" if quiet else log_level, "text")
    settings = UpSettings(
        api_port=api_port,
        http_port=http_port,
        https_port=https_port,
        local_port=local_port,
        dns_port=dns_port,
        data_dir=data_dir,
        crds_dir=crds_dir,
        zones=zones or DEFAULT_ZONES,
    )
    if wrong := settings.check():
        raise click.UsageError(wrong)
    _refuse_to_overwrite(kubeconfig or DEFAULT_KUBECONFIG)
    try:
        asyncio.run(_run(settings, kubeconfig or _free_kubeconfig(), ready_file, probe=probe, quiet=quiet))
    except StandaloneError as error:
        click.echo(f"gatepost up: {_flag_of(error, settings)}{error}", err=True)
        ctx.exit(OUTSIDE_FAILED)
    except KeyboardInterrupt:
        ctx.exit(DONE)  # it came before there was anything to stop


def _refuse_to_overwrite(kubeconfig: pathlib.Path) -> None:
    """Raises: click.UsageError if something else is in the file: it may be the only way into somebody's cluster."""
    from gatepost.standalone.apiserver.kubeconfig import holds_something_else

    if holds_something_else(kubeconfig):
        raise click.UsageError(
            f"--kubeconfig: {kubeconfig} holds something that is not from gatepost up, and would be lost; "
            "wanted a file of its own"
        )


def _flag_of(error: StandaloneError, settings: UpSettings) -> str:
    """The flag that sets the port which cannot be used, "" if the error is about none that was given."""
    from gatepost.standalone.errors import AddressUnusableError, PortTakenError

    if not isinstance(error, AddressUnusableError | PortTakenError) or not error.port:
        return ""
    flags = {
        settings.api_port: "--api-port: ",
        settings.http_port: "--http-port: ",
        settings.https_port: "--https-port: ",
        settings.local_port: "--local-port: ",
        settings.dns_port: "--dns-port: ",
    }
    return flags.get(error.port, "")


def _free_kubeconfig() -> pathlib.Path:
    """The default kubeconfig, unless the server that it names still answers: that one would lose its users.

    Raises: StandaloneError if another `gatepost up` uses it.
    """
    from gatepost.standalone.apiserver.kubeconfig import server_in
    from gatepost.standalone.errors import StandaloneError
    from gatepost.standalone.ports import is_listened_on

    server = server_in(DEFAULT_KUBECONFIG)
    if server is not None and is_listened_on(server):
        raise StandaloneError(
            f"{DEFAULT_KUBECONFIG} belongs to another one that runs at {server}. "
            "Stop that one, or name another file with --kubeconfig."
        )
    return DEFAULT_KUBECONFIG


async def _run(
    settings: UpSettings, kubeconfig: pathlib.Path, ready_file: pathlib.Path | None, *, probe: bool, quiet: bool
) -> None:
    """Runs until SIGINT or SIGTERM, which stop every child in an orderly way."""
    from gatepost.standalone.controllers import run_controllers
    from gatepost.standalone.up import Standalone

    async def tell(addresses: Addresses, api: ApiServer) -> None:
        if api.recovered:
            click.echo(f"gatepost up: {api.recovered}", err=True)
        api.write_kubeconfig(kubeconfig)
        if ready_file is not None:
            _write_whole(ready_file, {**msgspec.to_builtins(addresses), "kubeconfig": str(kubeconfig)})
        if not quiet:
            _print_addresses(addresses, kubeconfig)

    controllers = functools.partial(run_controllers, probe=probe)
    task = asyncio.create_task(Standalone(settings, controllers).run(tell))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    await asyncio.wait([task])
    if not task.cancelled():
        task.result()
    if not quiet:
        click.echo("gatepost up: stopped", err=True)


def _write_whole(path: pathlib.Path, value: object) -> None:
    """Writes a file so that whoever waits for it never sees half of it."""
    half = path.with_name(path.name + ".part")
    half.write_bytes(msgspec.json.encode(value))
    half.replace(path)


def _print_addresses(addresses: Addresses, kubeconfig: pathlib.Path) -> None:
    dns_host, dns_port = addresses.dns.rsplit(":", 1)
    lines = {
        "Kubernetes API": f"{addresses.api}   kubectl --kubeconfig {kubeconfig} get gateways -A",
        "gateway": f"{addresses.http}   curl -H 'Host: app.example.com' {addresses.http}",
        "with TLS": addresses.https,
        "local gateway": addresses.local,
        "DNS": f"{addresses.dns}   dig @{dns_host} -p {dns_port} app.example.com",
    }
    for name, text in lines.items():
        click.echo(f"{name:>15}  {text}")
    click.echo("Ctrl-C stops everything.", err=True)
    sys.stdout.flush()
