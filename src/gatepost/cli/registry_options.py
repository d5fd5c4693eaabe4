"""The options of the registries that keep ownership outside of DNS, and what such a registry holds for `plan`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from gatepost.cli.dns_options import options_of_all
from gatepost.cli.exit_codes import OUTSIDE_FAILED
from gatepost.dns.settings import DnsSettings
from gatepost.objects.dnsrecord import DNSRecord
from gatepost.objects.refs import GroupKind
from gatepost.registries.settings import CrdRegistrySettings
from gatepost.runtime.dns.registries import SETTINGS, RegistryNotUsable, RegistrySettings, entries_among, store_named
from gatepost.state.engine import Engine

if TYPE_CHECKING:
    from gatepost.dns.ownership.stored import Entry
    from gatepost.registries.contract import OwnershipStore


def registry_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options of all registries. It gets their values as one argument, `registries`."""
    return options_of_all(SETTINGS, "registries")(command)


def kinds_of(dns: DnsSettings) -> tuple[GroupKind, ...]:
    """The kinds whose objects hold ownership."""
    return (DNSRecord.KIND.group_kind,) if dns.registry == "crd" else ()


def held_entries(dns: DnsSettings, registries: RegistrySettings, engine: Engine) -> Sequence[Entry] | None:
    """All entries of the registry, None for one that has none. Exits with 3 if it cannot be asked.

    Args: engine: for a registry of objects: they are taken from the same cluster or files as all others.
    Raises: click.UsageError if the registry cannot be used with these settings.
    """
    from gatepost.registries.contract import RegistryError

    if dns.registry == "crd":
        settings = registries.get(CrdRegistrySettings)
        namespace = settings.crd_registry_namespace if isinstance(settings, CrdRegistrySettings) else ""
        return entries_among((obj for _, obj in engine.store.items()), namespace)
    try:
        store = store_named(dns.registry, registries)
        return asyncio.run(_entries(store)) if store is not None else None
    except RegistryNotUsable as error:
        raise click.UsageError(str(error)) from error
    except RegistryError as error:
        click.echo(f"gatepost plan: {error}", err=True)
        raise click.exceptions.Exit(OUTSIDE_FAILED) from error


async def _entries(store: OwnershipStore) -> Sequence[Entry]:
    return await store.read()
