"""DNS providers by the names that `--provider` takes."""

from __future__ import annotations

from collections.abc import Sequence

from gatepost.providers.contract import Provider
from gatepost.providers.embedded import EmbeddedProvider

NAMES = ("inmemory", "embedded")
"""Two names for one thing: external-dns says inmemory, `gatepost up` serves the same zones embedded in its process."""


class UnknownProvider(ValueError):
    """There is no provider of that name, or it lacks a setting; the text says what was found and wanted."""


def provider_named(name: str, zones: Sequence[str]) -> Provider:
    """The provider of a name.

    Args: zones: the zones of one that has none of its own (`inmemory`).
    Raises: UnknownProvider.
    """
    if name not in NAMES:
        raise UnknownProvider(f"--provider: found {name!r}, wanted one of {', '.join(NAMES)}")
    if not zones:
        raise UnknownProvider(f"--inmemory-zone: none was given; the provider {name} needs to know its zones")
    return EmbeddedProvider(zones)
