"""What the commands that read a cluster share: the way to it, a snapshot, and telling what could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

import click
from msgspec import structs

from gatepost.cli.exit_codes import OUTSIDE_FAILED, WRONG_USE
from gatepost.cli.input_options import Input
from gatepost.dns.names import is_address
from gatepost.objects.refs import GroupKind, Ref
from gatepost.objects.settings import Settings
from gatepost.runtime.wiring import Wiring

if TYPE_CHECKING:
    from gatepost.cluster.connection import Connection
    from gatepost.cluster.errors import ClusterError
    from gatepost.explain.values import Told
    from gatepost.runtime.snapshot import Snapshot


def connection_to(given: Input) -> Connection:
    """The way to the cluster that the flags or the surroundings name. Exits with 2 if it is not described there."""
    from gatepost.cluster.errors import ClusterError
    from gatepost.cluster.locate import find_connection

    try:
        return find_connection(given.kubeconfig, given.context, server=given.server)
    except ClusterError as error:
        _give_up(error)


def take_snapshot(
    connection: Connection,
    wiring: Wiring,
    *,
    kinds: Iterable[GroupKind] = (),
    kept_raw: Iterable[GroupKind] = (),
    settings: Settings | None = None,
) -> Snapshot:
    """All objects that the rules need, read once. What could not be read is told on stderr.

    Exits with 3 if the cluster cannot be asked, with 2 if a certificate or key of the connection cannot be used.
    """
    import asyncio

    from gatepost.cluster.errors import ClusterError
    from gatepost.runtime.snapshot import snapshot  # loads an HTTP client, which no run over files needs

    surroundings = _seen_from(connection.server.url, settings or Settings())
    try:
        taken = asyncio.run(snapshot(connection, wiring, kinds=kinds, kept_raw=kept_raw, settings=(surroundings,)))
    except ClusterError as error:
        _give_up(error)
    for problem in taken.unreadable:
        click.echo(str(problem), err=True)
    for group_kind, why in sorted(taken.withheld.items()):
        click.echo(f"gatepost: {group_kind} cannot be read and counts as absent: {why}", err=True)
    return taken


def warnings_in_cluster(connection: Connection, uids: Mapping[Ref, str]) -> tuple[Told, ...]:
    """What `gatepost run` has warned of lately about these objects, each given with its UID.

    Where events cannot be read, nothing; why is told on stderr.
    """
    import asyncio

    from gatepost.cluster.errors import ClusterError
    from gatepost.runtime.warning_events import warnings_told

    try:
        return asyncio.run(warnings_told(connection, uids, datetime.now(UTC)))
    except ClusterError as error:
        click.echo(f"gatepost: events cannot be read, so warnings of gatepost run are not known: {error}", err=True)
        return ()


def _give_up(error: ClusterError) -> NoReturn:
    """Tells on stderr what keeps us from the cluster, and ends the command."""
    from gatepost.cluster.errors import KubeconfigError

    click.echo(f"gatepost: {error}", err=True)
    raise click.exceptions.Exit(WRONG_USE if isinstance(error, KubeconfigError) else OUTSIDE_FAILED) from error


def _seen_from(server: str, settings: Settings) -> Settings:
    """The settings; an API server on loopback may be that of `gatepost up`, whose gateways are on loopback too."""
    host = urlsplit(server).hostname or ""
    is_here = host == "localhost" or (is_address(host) and ip_address(host).is_loopback)
    return structs.replace(settings, loopback_gateways=True) if is_here else settings
