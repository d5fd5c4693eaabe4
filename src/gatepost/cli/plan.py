"""`gatepost plan`: what would change in DNS, each change with its cause. Nothing is written."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gatepost.cli.dns_input import dns_input, tell_skipped
from gatepost.cli.dns_options import dns_options, dns_wiring
from gatepost.cli.exit_codes import CHANGES, INPUT_HAS_PROBLEMS, OUTSIDE_FAILED
from gatepost.cli.input_options import Input, input_options
from gatepost.cli.plan_text import OUTPUTS, print_preview
from gatepost.cli.provider_options import chosen_provider, provider_options
from gatepost.cli.registry_options import held_entries, kinds_of, registry_options
from gatepost.cli.settings_options import settings_options
from gatepost.dns.desired import record_sets
from gatepost.dns.endpoint import Endpoint
from gatepost.dns.names import record_name
from gatepost.dns.served import Served
from gatepost.dns.settings import DnsSettings
from gatepost.objects.settings import Settings
from gatepost.providers.listing import BadListing, listing_in
from gatepost.runtime.dns.adjusting import adjuster
from gatepost.runtime.dns.preview import Preview, preview
from gatepost.runtime.dns.reading import Read, read_provider
from gatepost.state.engine import Engine

if TYPE_CHECKING:
    from gatepost.dns.ownership.txt_format import Cipher
    from gatepost.dns.planner import Adjust
    from gatepost.providers.contract import Provider
    from gatepost.runtime.dns.providers import ProviderSettings
    from gatepost.runtime.dns.registries import RegistrySettings


@click.command("plan")
@input_options
@click.option(
    "--current",
    "listings",
    multiple=True,
    metavar="RECORDS",
    help="What DNS holds now: a file with a list of endpoints (from `gatepost endpoints -o json`), a zone file or the "
    "output of dig AXFR; - for stdin; may be repeated.  [default: what the --provider lists]",
)
@click.option("-o", "--output", type=click.Choice(OUTPUTS), default="table", show_default=True)
@click.option("--skipped", "show_skipped", is_flag=True, help="Also list what gives no name, and why, on stderr.")
@click.option("--allow", is_flag=True, help="Let the plan through however much it removes.")
@settings_options
@provider_options
@registry_options
@dns_options()
@click.pass_context
def command(
    ctx: click.Context,
    given: Input,
    listings: tuple[str, ...],
    output: str,
    show_skipped: bool,
    allow: bool,
    settings: Settings,
    dns: DnsSettings,
    providers: ProviderSettings,
    registries: RegistrySettings,
) -> None:
    """Prints what would change in DNS so that it holds what FILE, or the cluster, asks for; each change with its cause.

    FILE is a manifest, a folder of them, or - for stdin. What DNS holds now is listed by the --provider or read from
    --current. Nothing is ever written. Records whose objects are gone from FILE count as gone, so give all the objects
    that our records come from. If any of the input cannot be read, nothing counts as gone.
    With --registry crd, DNSRecords among FILE or in the cluster say whose a record is; with dynamodb, the table does.

    \b
    Exit code: 0 no change, 1 the input has problems, 2 wrong use, 3 something outside failed, a single zone too,
      4 changes.

    \b
    Examples:
      gatepost plan --source gateway-httproute --current zone.txt manifests/
      gatepost plan --source gateway-httproute --current before.json -o markdown manifests/
      gatepost plan --source gateway-httproute --provider webhook
    """
    wiring = dns_wiring(dns)
    _refuse_unclear(given, listings, dns)
    provider = None if listings else chosen_provider(dns.provider, providers, dns.domains)
    cipher = _cipher(dns)
    found = dns_input(given, wiring, settings, needed=kinds_of(dns))
    preview_of = partial(
        preview,
        found.engine,
        dns,
        allow=allow,
        doubtful_kinds=found.doubtful_kinds,
        cipher=cipher,
        entries=held_entries(dns, registries, found.engine),
    )
    if provider is not None:
        planned = _over_provider(preview_of, found.engine, provider)
    else:
        planned = preview_of(_read_listings(listings), _as_they_are)
    print_preview(planned, output)
    _tell_what_keeps_it_back(planned)
    tell_skipped(found.engine, in_full=show_skipped)
    ctx.exit(found.exit_code or _exit_code(planned))


def _refuse_unclear(given: Input, listings: Sequence[str], dns: DnsSettings) -> None:
    """Raises: click.UsageError if it is not clear what DNS holds now."""
    if "-" in given.paths and "-" in listings:
        raise click.UsageError("FILE and --current: both are -, and stdin can only be read once")
    if not listings and not dns.provider:
        raise click.UsageError("--provider or --current: none was given, wanted one to know what DNS holds now")


def _tell_what_keeps_it_back(planned: Preview) -> None:
    """Says on stderr why the plan would not be carried out, or only for some zones."""
    if planned.plan.stopped is not None:
        click.echo(f"gatepost plan: stopped: {planned.plan.stopped}", err=True)
    for zone in planned.unread:
        click.echo(f"gatepost plan: zone {zone.name} cannot be read: {zone.why}", err=True)


def _exit_code(planned: Preview) -> int:
    if planned.unread:
        return OUTSIDE_FAILED
    return CHANGES if planned.plan.changes else 0


def _cipher(dns: DnsSettings) -> Cipher | None:
    """What opens ownership records. Raises: click.UsageError if the library for it is missing."""
    from gatepost.runtime.dns.txt_encryption import EncryptionNotInstalled, cipher_for

    try:
        return cipher_for(dns)
    except EncryptionNotInstalled as error:
        raise click.UsageError(str(error)) from error


def _over_provider(preview_of: Callable[[Read, Adjust], Preview], engine: Engine, provider: Provider) -> Preview:
    """The plan against what the provider lists. Exits with 3 if it cannot be asked."""
    from gatepost.providers.contract import ProviderError

    async def planned() -> Preview:
        current = await read_provider(provider)
        return preview_of(current, await adjuster(provider, record_sets(engine)))

    try:
        return asyncio.run(planned())
    except ProviderError as error:
        click.echo(f"gatepost plan: {error}", err=True)
        raise click.exceptions.Exit(OUTSIDE_FAILED) from error


def _as_they_are(endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
    return endpoints


def _read_listings(paths: Sequence[str]) -> Read:
    """All records of these files. Exits with 1 if one of them cannot be read: half a listing is none."""
    endpoints: list[Endpoint] = []
    zones: list[str] = []
    is_all_in_zones = True
    for path in paths:
        try:
            listing = listing_in(_text_of(path))
        except BadListing as error:
            click.echo(f"--current {path}: {error}", err=True)
            raise click.exceptions.Exit(INPUT_HAS_PROBLEMS) from error
        endpoints += listing.endpoints
        zones += listing.zones
        is_all_in_zones = is_all_in_zones and bool(listing.zones)
    # A list of endpoints does not say where it ends, and a zone file not which other zones there are.
    known = frozenset(map(record_name, zones))
    return Read(tuple(endpoints), Served(known if is_all_in_zones else None, tells_strangers=False))


def _text_of(path: str) -> str:
    if path == "-":
        return sys.stdin.read()
    try:
        return Path(path).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise BadListing(f"found something that is no text, wanted records: {error}") from error
    except OSError as error:
        raise click.UsageError(f"--current {path}: {error.strerror}") from error
