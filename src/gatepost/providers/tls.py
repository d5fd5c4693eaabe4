"""Settings of TLS that several providers share, and the context that follows from them."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Annotated, TypeVar

from msgspec import Meta, Struct

_T = TypeVar("_T")


class TlsSettings(Struct, frozen=True, kw_only=True):
    """Whom to believe, and who we are. Source: external-dns, which shares these flags between its providers as well."""

    tls_ca: Annotated[
        str,
        Meta(description="File with the certificates that vouch for DNS servers (pdns, rfc2136), not the system's."),
    ] = ""
    tls_client_cert: Annotated[
        str, Meta(description="File with the certificate that DNS servers (pdns, rfc2136) may ask us for.")
    ] = ""
    tls_client_cert_key: Annotated[str, Meta(description="File with the key of that certificate.")] = ""

    def check(self) -> tuple[str, ...]:
        """What is wrong with these settings, each a line that names the flag, what was found and what was wanted."""
        if bool(self.tls_client_cert) != bool(self.tls_client_cert_key):
            return ("--tls-client-cert and --tls-client-cert-key: give both or none",)
        return ()


def client_context(settings: TlsSettings, *, skip_verify: bool, ca: str = "") -> ssl.SSLContext:
    """How to talk TLS to a server.

    Args: ca: a file of certificates that comes before that of the settings.
    Raises: ValueError if one of the files cannot be used, with the flag that names it.
    """
    file, flag = (ca, "--pdns-tls-ca") if ca else (settings.tls_ca, "--tls-ca")
    context = _read(flag, file, lambda: ssl.create_default_context(cafile=file or None))
    if settings.tls_client_cert:
        files = settings.tls_client_cert, settings.tls_client_cert_key
        _read("--tls-client-cert", " and ".join(files), lambda: context.load_cert_chain(*files))
    if skip_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _read(flag: str, file: str, read: Callable[[], _T]) -> _T:
    try:
        return read()
    except OSError as error:  # ssl.SSLError is one
        reason = error.strerror or str(error)
        raise ValueError(f"{flag}: {file} cannot be used: {reason}; wanted certificates in PEM") from error
