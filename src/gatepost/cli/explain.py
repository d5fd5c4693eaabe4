"""`gatepost explain`: what serves a hostname, or why nothing does."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from gatepost.cli.cluster_input import connection_to, take_snapshot, warnings_in_cluster
from gatepost.cli.dns_input import DEFAULT_SOURCES
from gatepost.cli.dns_options import dns_options, dns_wiring, with_default_sources
from gatepost.cli.exit_codes import DONE, INPUT_HAS_PROBLEMS, OUTSIDE_FAILED
from gatepost.cli.input_options import Input, input_options
from gatepost.cli.manifest_input import InputReport, read_input
from gatepost.cli.printing import print_json
from gatepost.cli.settings_options import settings_options
from gatepost.dns.settings import DnsSettings
from gatepost.explain.hostname import NotAHostname, explain_hostname
from gatepost.explain.names import host_in
from gatepost.explain.one_object import Ambiguous, UnknownKind, explain_object, find_object, kind_named
from gatepost.explain.scene import RawOf
from gatepost.explain.text import Line, hostname_lines, object_lines, plain
from gatepost.explain.told import objects_in, with_hostname_told, with_object_told
from gatepost.explain.values import Explanation, ObjectExplanation
from gatepost.objects.core import EndpointSlice, Service
from gatepost.objects.gatewayapi import GRPCRoute, HTTPRoute
from gatepost.objects.kinds import typed
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import UnreadableObject
from gatepost.objects.refs import Ref, ref_of
from gatepost.objects.settings import Settings
from gatepost.runtime.offline.settle import NotAtRest, settle
from gatepost.runtime.wiring import Wiring, reconcilers, together
from gatepost.state.engine import Engine

if TYPE_CHECKING:
    from gatepost.cluster.connection import Connection

_STYLES = {
    "title": "bold",
    "good": "bold green",
    "bad": "red",
    "doubt": "yellow",
    "object": "cyan",
    "detail": "",
}


@click.command("explain")
@click.argument("what", metavar="HOSTNAME|KIND/NAME")
@input_options
@click.option("-n", "--namespace", default="", metavar="NAMESPACE", help="Look only at objects of this namespace.")
@settings_options
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@dns_options(without=["namespace"])  # which is where to look here, as with kubectl
@click.pass_context
def command(
    ctx: click.Context,
    what: str,
    given: Input,
    namespace: str,
    settings: Settings,
    output: str,
    dns: DnsSettings,
) -> None:
    """Says what serves HOSTNAME, or why nothing does: the object, the field, what to do.

    With FILE (manifests, folders, - for stdin) no cluster is asked; without, the objects of the cluster are read once,
    and nothing is written. KIND/NAME explains one object instead: what was made of it, what it reads and what reads it.

    Only `gatepost run` knows the zones of the DNS provider and what that refuses: what it has warned of lately, in
    events of the cluster, is shown as told by it.

    \b
    Exit code: 0 served, 1 not served or not known, 2 wrong use, 3 the cluster cannot be asked.

    \b
    Example:
      gatepost explain app.example.com
      gatepost explain dm/app.example.com -n shop manifests/
    """
    wiring = together(reconcilers(), dns_wiring(with_default_sources(dns, DEFAULT_SOURCES)))
    known = _over_files(ctx, given, wiring, settings) if given.paths else _over_cluster(given, wiring, settings)
    explanation = _explain(what, namespace, known)
    if known.connection is not None:
        explanation = _with_told(explanation, known.connection, known.engine)
    if output == "json":
        print_json(explanation)
    else:
        _print_lines(_lines(explanation))
    ctx.exit(known.exit_code or (DONE if _is_good(explanation) else INPUT_HAS_PROBLEMS))


class _Known(Struct, frozen=True):
    """What an explanation is made from, and the exit code that problems of the input give.

    `gone`: objects of the input that do not stay once the controllers are at work. `connection`: the way to the
    cluster, None if no cluster was asked.
    """

    engine: Engine
    raw_of: RawOf
    refusals: Mapping[Ref, str] = {}
    gone: tuple[KubernetesObject, ...] = ()
    exit_code: int = 0
    connection: Connection | None = None


def _over_cluster(given: Input, wiring: Wiring, settings: Settings) -> _Known:
    connection = connection_to(given)
    taken = take_snapshot(
        connection,
        wiring,
        kinds=(Service.KIND.group_kind, EndpointSlice.KIND.group_kind),
        kept_raw=(HTTPRoute.KIND.group_kind, GRPCRoute.KIND.group_kind),
        settings=settings,
    )
    return _Known(taken.engine, taken.raw_of, connection=connection)


def _over_files(ctx: click.Context, given: Input, wiring: Wiring, settings: Settings) -> _Known:
    """The controllers at rest over manifests. Problems of the input are told."""
    manifests = read_input(given.paths)
    report = InputReport(manifests)
    raws = [manifest.raw for manifest in manifests.objects]
    try:
        settled = settle(raws, wiring.rules, wiring.indexes, now=datetime.now(UTC), settings=(settings,))
    except NotAtRest as error:
        click.echo(f"gatepost: {error}", err=True)
        ctx.exit(OUTSIDE_FAILED)
    for unreadable in settled.rendered.unreadable:
        report.problem(unreadable)
    by_ref = {ref_of(raw): raw for raw in settled.rendered.objects}
    gone = tuple(_readable(manifest.raw for manifest in manifests.objects if manifest.ref not in by_ref))
    return _Known(settled.engine, by_ref.get, settled.refusals, gone, report.tell())


def _readable(raws: Iterable[Mapping[str, Any]]) -> Iterator[KubernetesObject]:
    for raw in raws:
        with contextlib.suppress(UnreadableObject):  # nobody knows which names such an object had
            yield typed(raw)


def _explain(what: str, namespace: str, known: _Known) -> Explanation | ObjectExplanation:
    """Explains a hostname, the host of a URL, or KIND/NAME."""
    kind, slash, name = what.partition("/")
    try:
        if slash and "://" not in what:
            meant = find_object(known.engine, kind_named(kind), name, namespace, known.gone)
            return explain_object(known.engine, meant, known.gone)
        return explain_hostname(
            known.engine,
            _host_in(what),
            namespace=namespace,
            raw_of=known.raw_of,
            refusals=known.refusals,
            gone=known.gone,
        )
    except (NotAHostname, UnknownKind, Ambiguous) as error:
        raise click.UsageError(str(error)) from error


def _with_told(
    explanation: Explanation | ObjectExplanation, connection: Connection, engine: Engine
) -> Explanation | ObjectExplanation:
    """The explanation with what `gatepost run` has warned of: zones of its DNS provider, and what that refuses."""
    found = {ref: engine.store.get(ref) for ref in objects_in(explanation)}
    uids = {ref: obj.metadata.uid for ref, obj in found.items() if obj is not None}
    told = warnings_in_cluster(connection, uids) if uids else ()
    if isinstance(explanation, Explanation):
        return with_hostname_told(explanation, told, engine)
    return with_object_told(explanation, told)


def _host_in(what: str) -> str:
    """The host of a URL; a port is no part of a name, so it is left out of `host:port` too."""
    if "://" in what:
        return host_in(what) or what
    host, _, port = what.rpartition(":")
    return host if host and port.isdecimal() else what


def _lines(explanation: Explanation | ObjectExplanation) -> Iterable[Line]:
    return hostname_lines(explanation) if isinstance(explanation, Explanation) else object_lines(explanation)


def _is_good(explanation: Explanation | ObjectExplanation) -> bool:
    return explanation.is_served if isinstance(explanation, Explanation) else explanation.is_in_order


def _print_lines(lines: Iterable[Line]) -> None:
    """With colours on a terminal, else as plain text that stays the same whatever reads it."""
    if not sys.stdout.isatty():
        click.echo(plain(lines), nl=False)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for line in lines:
        console.print(Text("  " * line.depth + line.text, style=_STYLES[line.tone]), soft_wrap=True)
