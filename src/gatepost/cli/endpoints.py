"""`gatepost endpoints`: the DNS endpoints that manifests or a cluster ask for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import click
import msgspec

from gatepost.cli.cluster_input import cluster_options, take_snapshot
from gatepost.cli.dns_options import dns_options, dns_wiring
from gatepost.cli.manifest_input import InputReport, read_input
from gatepost.cli.printing import print_objects
from gatepost.dns.desired import desired_endpoints, record_sets
from gatepost.dns.endpoint import Endpoint
from gatepost.dns.records import Claims
from gatepost.dns.settings import DnsSettings
from gatepost.objects.kinds import UnreadableObject, typed
from gatepost.objects.problems import Problem, Skipped
from gatepost.runtime.wiring import Wiring
from gatepost.state.engine import Engine


@click.command("endpoints")
@click.argument("files", nargs=-1, metavar="[FILE...]")
@click.option("-f", "--filename", "more_files", multiple=True, metavar="FILE", help="Another way to name a FILE.")
@cluster_options
@click.option("-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table", show_default=True)
@click.option("--skipped", "show_skipped", is_flag=True, help="Also list what gives no name, and why, on stderr.")
@dns_options()
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    more_files: tuple[str, ...],
    kubeconfig: str | None,
    context: str | None,
    output: str,
    show_skipped: bool,
    dns: DnsSettings,
) -> None:
    """Prints the DNS endpoints that FILE, or the cluster, asks for: names, types and targets after all filters.

    FILE is a manifest, a folder of them, or - for stdin. Flags are those of external-dns; each may also come from an
    environment variable (GATEPOST_SOURCE for --source, a line for each entry) or from the file that --config names.

    \b
    Example:
      gatepost endpoints --source gateway-httproute manifests/
    """
    wiring = dns_wiring(dns)
    paths = (*files, *more_files)
    if paths:
        engine, code = _engine_over_files(paths, wiring)
    else:
        engine, code = take_snapshot(kubeconfig, context, wiring).engine, 0
    _print(desired_endpoints(engine), output)
    _tell_skipped(engine, in_full=show_skipped)
    for failure in engine.failures.values():
        click.echo(f"gatepost: fault in {failure.rule.name} for {failure.key}: {failure.error!r}", err=True)
    ctx.exit(3 if engine.failures else code)


def _engine_over_files(paths: Sequence[str], wiring: Wiring) -> tuple[Engine, int]:
    """The rules at rest over manifests. Problems of the input are told; also returns the exit code that they give."""
    manifests = read_input(paths)
    report = InputReport(manifests)
    engine = Engine(wiring.rules, wiring.indexes, datetime.now(UTC))
    for manifest in manifests.objects:
        try:
            engine.put(typed(manifest.raw), manifest.ref)
        except UnreadableObject as error:
            report.unreadable(error)
    engine.run_stale()
    return engine, report.exit_code()


def _print(endpoints: Sequence[Endpoint], output: str) -> None:
    if output == "table":
        _print_table(endpoints)
    else:
        print_objects([_in_full(endpoint) for endpoint in endpoints], output)


def _in_full(endpoint: Endpoint) -> dict[str, Any]:
    """The endpoint as external-dns prints it: labels and properties are there even when empty."""
    fields: dict[str, Any] = msgspec.to_builtins(endpoint)
    fields.setdefault("targets", [])
    return {**fields, "labels": endpoint.labels, "providerSpecific": fields.get("providerSpecific", [])}


def _print_table(endpoints: Sequence[Endpoint]) -> None:
    heading = ("NAME", "TYPE", "TTL", "TARGETS", "SET", "RESOURCE")
    rows = [
        (
            endpoint.dns_name,
            endpoint.record_type,
            str(endpoint.record_ttl or ""),
            ",".join(endpoint.targets),
            endpoint.set_identifier,
            endpoint.labels.get("resource", ""),
        )
        for endpoint in endpoints
    ]
    columns = [index for index in range(len(heading)) if index in (0, 1, 3) or any(row[index] for row in rows)]
    if not rows:
        return
    widths = [max(len(row[index]) for row in [heading, *rows]) for index in columns]
    for row in [heading, *rows]:
        cells = (row[index].ljust(width) for index, width in zip(columns, widths, strict=True))
        sys.stdout.write("  ".join(cells).rstrip() + "\n")


def _tell_skipped(engine: Engine, *, in_full: bool) -> None:
    """What gives no name, on stderr: in full, or as counts by reason with the way to see more."""
    found = _reasons(engine)
    if in_full:
        for why in found:
            click.echo(f"{why}  [{why.reason}]", err=True)
    elif found:
        counts: dict[str, int] = {}
        for why in found:
            counts[why.reason] = counts.get(why.reason, 0) + 1
        listed = ", ".join(f"{counts[reason]} {reason}" for reason in sorted(counts))
        click.echo(f"left out: {listed}; --skipped lists them", err=True)


def _reasons(engine: Engine) -> list[Problem | Skipped]:
    skipped = {
        why
        for rule in engine.rules
        for _, value in engine.values(rule)
        if isinstance(value, Claims)
        for why in value.skipped
    }
    problems = {problem for settled in record_sets(engine) for problem in settled.problems}
    return [*sorted(problems), *sorted(skipped)]
