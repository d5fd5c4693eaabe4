"""DNS providers by the names that `--provider` takes, each with the struct whose fields are its flags.

A new provider is one entry in `_KINDS`; its flags then appear on every command that has a provider.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated

from msgspec import Meta, Struct

from gatepost.dns.domain_filter import DomainFilter
from gatepost.providers.cloudflare.settings import CloudflareSettings
from gatepost.providers.contract import Provider
from gatepost.providers.octodns.settings import OctodnsSettings
from gatepost.providers.pdns.settings import PdnsSettings
from gatepost.providers.rfc2136.settings import Rfc2136Settings
from gatepost.providers.route53.settings import Route53Settings
from gatepost.providers.tls import TlsSettings
from gatepost.providers.webhook.settings import WebhookSettings


class UnknownProvider(ValueError):
    """There is no provider of that name, or it lacks a setting; the text says what was found and wanted."""


class InMemorySettings(Struct, frozen=True, kw_only=True):
    """The flags of the provider in memory."""

    inmemory_zone: Annotated[tuple[str, ...], Meta(description="Zone of the provider inmemory; may be repeated.")] = ()


def _inmemory(settings: InMemorySettings) -> Provider:
    from gatepost.providers.embedded import EmbeddedProvider

    if not settings.inmemory_zone:
        raise ValueError("--inmemory-zone: none was given; the provider inmemory needs to know its zones")
    return EmbeddedProvider(settings.inmemory_zone)


def _webhook(settings: WebhookSettings) -> Provider:
    from gatepost.providers.webhook.client import WebhookProvider

    return WebhookProvider(settings)


def _rfc2136(settings: Rfc2136Settings, tls: TlsSettings) -> Provider:
    from gatepost.providers.rfc2136.provider import Rfc2136Provider

    return Rfc2136Provider(settings, tls)


def _pdns(settings: PdnsSettings, domains: DomainFilter | None, tls: TlsSettings) -> Provider:
    from gatepost.providers.pdns.provider import PdnsProvider

    return PdnsProvider(settings, domains, tls)


def _cloudflare(settings: CloudflareSettings, domains: DomainFilter | None) -> Provider:
    from gatepost.providers.cloudflare.provider import CloudflareProvider

    return CloudflareProvider(settings, domains)


def _aws(settings: Route53Settings, domains: DomainFilter | None) -> Provider:
    from gatepost.providers.route53.provider import Route53Provider

    return Route53Provider(settings, domains)


def _octodns(settings: OctodnsSettings, domains: DomainFilter | None) -> Provider:
    from gatepost.providers.octodns.provider import OctodnsProvider

    return OctodnsProvider(settings, domains)


class _Kind(Struct, frozen=True):
    """A kind of provider. `make` imports what it needs itself, and raises ValueError for settings that are wrong.

    `takes_domains`: it also takes the domain filter, so as to read no more zones than needed. `takes_tls`: and the
    settings of TLS that providers share.
    """

    settings: type[Struct]
    make: Callable[..., Provider]
    takes_domains: bool = False
    takes_tls: bool = False


_KINDS: Mapping[str, _Kind] = {
    # Two names for one thing: external-dns says inmemory, `gatepost up` serves the same zones embedded in its process.
    "inmemory": _Kind(InMemorySettings, _inmemory),
    "embedded": _Kind(InMemorySettings, _inmemory),
    "rfc2136": _Kind(Rfc2136Settings, _rfc2136, takes_tls=True),
    "pdns": _Kind(PdnsSettings, _pdns, takes_domains=True, takes_tls=True),
    "aws": _Kind(Route53Settings, _aws, takes_domains=True),
    "webhook": _Kind(WebhookSettings, _webhook),
    "cloudflare": _Kind(CloudflareSettings, _cloudflare, takes_domains=True),
    "octodns": _Kind(OctodnsSettings, _octodns, takes_domains=True),
}

NAMES = tuple(_KINDS)
SETTINGS: tuple[type[Struct], ...] = (*dict.fromkeys(kind.settings for kind in _KINDS.values()), TlsSettings)
"""The structs whose fields are the flags of the providers."""

ProviderSettings = Mapping[type[Struct], Struct]
"""The settings of all providers, by their types; those of a type that is missing are its defaults."""


def provider_named(name: str, settings: ProviderSettings, domains: DomainFilter | None = None) -> Provider:
    """The provider of a name. `domains`: the names that it will be asked about. Raises: UnknownProvider."""
    kind = _KINDS.get(name)
    if kind is None:
        hint = (
            "webhook reaches every provider that is served over the webhook protocol of external-dns, "
            "octodns every target of octoDNS"
        )
        found = f"found {name!r}" if name else "none was given"
        raise UnknownProvider(f"--provider: {found}, wanted one of {', '.join(NAMES)}; {hint}")
    try:
        return kind.make(
            settings.get(kind.settings) or kind.settings(),
            *((domains,) if kind.takes_domains else ()),
            *((settings.get(TlsSettings) or TlsSettings(),) if kind.takes_tls else ()),
        )
    except ValueError as error:
        raise UnknownProvider(str(error)) from error
