"""DNS over TLS, for updates (RFC 7858) and for transfers (RFC 9103)."""

from __future__ import annotations

import asyncio
import ssl

from gatepost.providers.tls import TlsSettings, client_context

_ALPN = "dot"


def dot_context(settings: TlsSettings, *, skip_verify: bool) -> ssl.SSLContext:
    """How to talk DNS over TLS: 1.3 at least, by its ALPN name. Raises: ValueError for files that cannot be used."""
    context = client_context(settings, skip_verify=skip_verify)
    context.minimum_version = ssl.TLSVersion.TLSv1_3  # RFC 9103 5
    context.set_alpn_protocols([_ALPN])
    return context


def require_dot(writer: asyncio.StreamWriter, server: object) -> None:
    """Raises: OSError if the other side of a TLS connection has agreed to some other protocol than DNS."""
    connection: ssl.SSLObject | None = writer.get_extra_info("ssl_object")
    agreed = connection.selected_alpn_protocol() if connection is not None else None
    if agreed not in (None, _ALPN):  # none at all is common: not every server has heard of ALPN
        raise OSError(f"speaks {agreed} there, wanted {_ALPN}")
