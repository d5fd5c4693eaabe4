"""What the commands that read a cluster share: their options, and taking a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click
from msgspec import structs

from gatepost.dns.names import is_address
from gatepost.objects.refs import GroupKind
from gatepost.objects.settings import Settings
from gatepost.runtime.wiring import Wiring

if TYPE_CHECKING:
    from gatepost.runtime.snapshot import Snapshot


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command `--kubeconfig` and `--context`."""
    context = click.option("--context", metavar="NAME", help="Context of the kubeconfig.  [default: its current one]")
    kubeconfig = click.option(
        "--kubeconfig", metavar="FILE", help="How to reach the cluster.  [default: as kubectl finds it]"
    )
    return kubeconfig(context(command))


def take_snapshot(
    kubeconfig: str | None,
    context: str | None,
    wiring: Wiring,
    *,
    kinds: Iterable[GroupKind] = (),
    kept_raw: Iterable[GroupKind] = (),
    settings: Settings | None = None,
) -> Snapshot:
    """All objects that the rules need, read once. What could not be read is told on stderr.

    Exits with 3 if the cluster cannot be asked.
    """
    import asyncio

    from gatepost.cluster.errors import ClusterError
    from gatepost.cluster.locate import find_connection
    from gatepost.runtime.snapshot import snapshot  # loads an HTTP client, which no run over files needs

    try:
        connection = find_connection(kubeconfig, context)
        surroundings = _seen_from(connection.server.url, settings or Settings())
        taken = asyncio.run(snapshot(connection, wiring, kinds=kinds, kept_raw=kept_raw, settings=(surroundings,)))
    except ClusterError as error:
        click.echo(f"gatepost: {error}", err=True)
        raise click.exceptions.Exit(3) from error
    for problem in taken.unreadable:
        click.echo(str(problem), err=True)
    for group_kind, why in sorted(taken.withheld.items()):
        click.echo(f"gatepost: {group_kind} cannot be read and counts as absent: {why}", err=True)
    return taken


def _seen_from(server: str, settings: Settings) -> Settings:
    """The settings; an API server on loopback may be that of `gatepost up`, whose gateways are on loopback too."""
    host = urlsplit(server).hostname or ""
    is_here = host == "localhost" or (is_address(host) and ip_address(host).is_loopback)
    return structs.replace(settings, loopback_gateways=True) if is_here else settings
