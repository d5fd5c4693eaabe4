"""How to reach a cluster and as whom: what a kubeconfig or a service account comes down to."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path

from msgspec import Struct, field

from gatepost.cluster.credentials import ClientCertificate, Credentials, NoCredentials
from gatepost.cluster.errors import KubeconfigError


class Server(Struct, frozen=True):
    """The server side of a connection.

    Attributes:
        url: its URL, without a final slash.
        ca: PEM text of the authorities to trust, None for those of the system.
        ca_file: where `ca` was read, and may be replaced at any time; None if it is fixed.
        tls_server_name: the name to expect in its certificate, "" for the host of `url`.
        proxy_url: an HTTP proxy to go through, "" for none.
    """

    url: str
    ca: bytes | None = None
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    ca_file: Path | None = None


class Connection(Struct, frozen=True):
    """A cluster and an identity. `headers` carry the impersonation; `namespace` is that of the context."""

    server: Server
    credentials: Credentials = field(default_factory=NoCredentials)
    headers: tuple[tuple[str, str], ...] = ()
    namespace: str = "default"
    origin: str = ""


def tls_context(server: Server, certificate: ClientCertificate | None) -> ssl.SSLContext | None:
    """The TLS settings of a connection, None for plain http.

    Raises: KubeconfigError if a certificate or key cannot be used.
    """
    if not server.url.startswith("https:"):
        return None
    try:
        context = ssl.create_default_context(cadata=server.ca.decode() if server.ca else None)
    except (ssl.SSLError, ValueError) as error:
        raise KubeconfigError("", "certificate-authority", f"holds no usable PEM certificate ({error})") from error
    # Python 3.13 would refuse the authorities that many clusters make for themselves (no key identifier in them).
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if server.insecure_skip_tls_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if certificate is not None:
        _load_certificate(context, certificate)
    return context


def _load_certificate(context: ssl.SSLContext, certificate: ClientCertificate) -> None:
    # The ssl module reads key pairs from files only; the copy lives for the length of this call, readable by us alone.
    with tempfile.TemporaryDirectory(prefix="gatepost-") as folder:
        cert, key = Path(folder, "client.crt"), Path(folder, "client.key")
        cert.write_bytes(certificate.certificate)
        key.touch(mode=0o600)
        key.write_bytes(certificate.key)
        try:
            context.load_cert_chain(cert, key)
        except ssl.SSLError as error:
            problem = f"the client certificate and its key cannot be used together ({error.reason})"
            raise KubeconfigError("", "client-certificate", problem) from error
