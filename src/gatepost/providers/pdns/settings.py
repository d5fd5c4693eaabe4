"""The settings of the provider pdns: the flags of external-dns under their names. Described as in DnsSettings."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from msgspec import Meta, Struct


class PdnsSettings(Struct, frozen=True, kw_only=True):
    """How to reach the API of a PowerDNS server."""

    pdns_server: Annotated[str, Meta(description="Where the API of PowerDNS is; a path before /api/v1 is kept.")] = (
        "http://localhost:8081"
    )
    pdns_server_id: Annotated[str, Meta(description="Name of the server in the API of PowerDNS.")] = "localhost"
    pdns_api_key: Annotated[str, Meta(description="Key for the API of PowerDNS.")] = ""
    pdns_skip_tls_verify: Annotated[bool, Meta(description="Believe any certificate of the API of PowerDNS.")] = False
    pdns_tls_ca: Annotated[
        str, Meta(description="File with the certificates that vouch for the API of PowerDNS, instead of the system's.")
    ] = ""
    pdns_timeout: Annotated[
        int, Meta(description="How long to wait for each answer of PowerDNS, in seconds or like 30s.")
    ] = 30

    def check(self) -> tuple[str, ...]:
        """What is wrong with these settings, each a line that names the flag, what was found and what was wanted."""
        wrong: list[str] = []
        if not self.pdns_api_key:
            wrong.append("--pdns-api-key: none was given; the API of PowerDNS asks for one")
        parts = urlsplit(self.pdns_server)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            wrong.append(f"--pdns-server: found {self.pdns_server!r}, wanted a URL like http://localhost:8081")
        if not self.pdns_server_id:
            wrong.append("--pdns-server-id: found nothing, wanted the name of a server, mostly localhost")
        if self.pdns_timeout < 1:
            wrong.append(f"--pdns-timeout: found {self.pdns_timeout}, wanted at least 1 second")
        return tuple(wrong)
