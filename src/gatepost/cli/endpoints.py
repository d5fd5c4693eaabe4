"""`gatepost endpoints`: the DNS endpoints that manifests or a cluster ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import msgspec

from gatepost.cli.dns_input import DEFAULT_SOURCES, dns_input, tell_skipped
from gatepost.cli.dns_options import dns_options, dns_wiring, with_default_sources
from gatepost.cli.input_options import Input, input_options
from gatepost.cli.printing import print_objects, print_table
from gatepost.cli.settings_options import settings_options
from gatepost.dns.desired import desired_endpoints
from gatepost.dns.endpoint import Endpoint
from gatepost.dns.settings import DnsSettings
from gatepost.objects.settings import Settings


@click.command("endpoints")
@input_options
@click.option("-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table", show_default=True)
@click.option("--skipped", "show_skipped", is_flag=True, help="Also list what gives no name, and why, on stderr.")
@settings_options
@dns_options()
@click.pass_context
def command(
    ctx: click.Context,
    given: Input,
    output: str,
    show_skipped: bool,
    settings: Settings,
    dns: DnsSettings,
) -> None:
    """Prints the DNS endpoints that FILE, or the cluster, asks for: names, types and targets after all filters.

    FILE is a manifest, a folder of them, or - for stdin. Flags are those of external-dns; each may also come from an
    environment variable (GATEPOST_SOURCE for --source, a line for each entry) or from the file that --config names.
    Without a --source, all are read but gateway-listener and knative.

    \b
    Example:
      gatepost endpoints --source gateway-httproute --skipped manifests/
    """
    wiring = dns_wiring(with_default_sources(dns, DEFAULT_SOURCES))
    found = dns_input(given, wiring, settings)
    _print(desired_endpoints(found.engine), output)
    tell_skipped(found.engine, in_full=show_skipped)
    ctx.exit(found.exit_code)


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
    print_table(heading, rows, always=("NAME", "TYPE", "TARGETS"))
