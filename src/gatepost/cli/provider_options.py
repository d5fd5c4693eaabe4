"""The options of all DNS providers, made from the structs that `runtime.dns.providers` lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from gatepost.cli.dns_options import options_of_all
from gatepost.runtime.dns.providers import SETTINGS, ProviderSettings, UnknownProvider, provider_named

if TYPE_CHECKING:
    from gatepost.dns.domain_filter import DomainFilter
    from gatepost.providers.contract import Provider


def provider_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options of all providers. It gets their values as one argument, `providers`."""
    return options_of_all(SETTINGS, "providers")(command)


def chosen_provider(name: str, settings: ProviderSettings, domains: DomainFilter | None = None) -> Provider:
    """The provider that `--provider` names, to be asked about names in these domains.

    Raises: click.UsageError if there is none, or its settings are wrong.
    """
    try:
        return provider_named(name, settings, domains)
    except UnknownProvider as error:
        raise click.UsageError(str(error)) from error
