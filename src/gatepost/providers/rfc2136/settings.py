"""The settings of the provider rfc2136: the flags of external-dns under their names."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct

from gatepost.providers.spelling import canonical_name

DISABLED, ROUND_ROBIN, RANDOM = "disabled", "round-robin", "random"
STRATEGIES = (DISABLED, ROUND_ROBIN, RANDOM)
ALGORITHMS = ("hmac-sha1", "hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512")
_LARGEST_PORT = 65535


class Rfc2136Settings(Struct, frozen=True, kw_only=True):
    """Name, type, default and help of each flag; see DnsSettings."""

    rfc2136_host: Annotated[
        tuple[str, ...],
        Meta(description="Name or address of a DNS server; may be repeated, the next is asked when one fails."),
    ] = ()
    rfc2136_port: Annotated[int, Meta(description="Port of the DNS servers.")] = 53
    rfc2136_zone: Annotated[tuple[str, ...], Meta(description="A zone to write to; may be repeated.")] = ()
    rfc2136_tsig_keyname: Annotated[str, Meta(description="Name of the TSIG key.")] = ""
    rfc2136_tsig_secret: Annotated[str, Meta(description="Secret of the TSIG key, in base64.")] = ""
    rfc2136_tsig_secret_alg: Annotated[
        str, Meta(description=f"Algorithm of the TSIG key: {', '.join(ALGORITHMS)}.")
    ] = "hmac-sha256"
    rfc2136_insecure: Annotated[bool, Meta(description="Sign nothing; the server has to trust our address.")] = False
    rfc2136_axfr: Annotated[
        bool,
        Meta(
            description="Read the zones by transfer. Without, what is there is not known, and records are only created."
        ),
    ] = True
    rfc2136_min_ttl: Annotated[int, Meta(description="The lowest TTL that is written, in seconds or like 5m.")] = 0
    rfc2136_batch_change_size: Annotated[int, Meta(description="How many changes of records go into one message.")] = 50
    rfc2136_load_balancing_strategy: Annotated[
        str,
        Meta(
            description="Which server an update goes to: disabled (the one that answered last), round-robin or random; "
            "a zone is always read from the one that answered last."
        ),
    ] = DISABLED
    rfc2136_use_tls: Annotated[bool, Meta(description="Talk to the DNS servers over TLS, mostly on port 853.")] = False
    rfc2136_skip_tls_verify: Annotated[bool, Meta(description="Believe any certificate of the DNS servers.")] = False
    rfc2136_timeout: Annotated[
        int, Meta(description="How long to wait for each answer of a server, in seconds or like 10s.")
    ] = 10

    def check(self) -> tuple[str, ...]:
        """What is wrong with these settings, each a line that names the flag, what was found and what was wanted."""
        return (*self._check_servers(), *self._check_key(), *self._check_numbers(), *self._check_connections())

    def _check_servers(self) -> Iterator[str]:
        if not self.rfc2136_host:
            yield "--rfc2136-host: none was given, wanted the name or address of a DNS server"
        if not self.rfc2136_zone:
            yield "--rfc2136-zone: none was given, wanted the zones that are ours to write to"
        if not 0 < self.rfc2136_port <= _LARGEST_PORT:
            yield f"--rfc2136-port: found {self.rfc2136_port}, wanted 1 to {_LARGEST_PORT}"

    def _check_key(self) -> Iterator[str]:
        if self.rfc2136_insecure:
            if self.rfc2136_tsig_keyname or self.rfc2136_tsig_secret:
                yield "--rfc2136-insecure: signs nothing, but a TSIG key was given; leave out one of them"
            return
        if not self.rfc2136_tsig_keyname or not self.rfc2136_tsig_secret:
            yield "--rfc2136-tsig-keyname and --rfc2136-tsig-secret: give both, or --rfc2136-insecure to sign nothing"
        elif not _is_base64(self.rfc2136_tsig_secret):
            yield "--rfc2136-tsig-secret: found a text that is no base64"
        if self.rfc2136_tsig_keyname and (wrong := _why_no_name(self.rfc2136_tsig_keyname)):
            yield f"--rfc2136-tsig-keyname: {wrong}"
        if self.rfc2136_tsig_secret_alg.rstrip(".").lower() not in ALGORITHMS:
            found, wanted = self.rfc2136_tsig_secret_alg, ", ".join(ALGORITHMS)
            yield f"--rfc2136-tsig-secret-alg: found {found!r}, wanted one of {wanted}"

    def _check_numbers(self) -> Iterator[str]:
        if self.rfc2136_min_ttl < 0:
            yield f"--rfc2136-min-ttl: found {self.rfc2136_min_ttl}, wanted 0 or more seconds"
        if self.rfc2136_batch_change_size < 1:
            yield f"--rfc2136-batch-change-size: found {self.rfc2136_batch_change_size}, wanted 1 or more"
        if self.rfc2136_timeout <= 0:
            yield f"--rfc2136-timeout: found {self.rfc2136_timeout}, wanted more than 0 seconds"

    def _check_connections(self) -> Iterator[str]:
        if self.rfc2136_load_balancing_strategy not in STRATEGIES:
            found, wanted = self.rfc2136_load_balancing_strategy, ", ".join(STRATEGIES)
            yield f"--rfc2136-load-balancing-strategy: found {found!r}, wanted one of {wanted}"
        if self.rfc2136_skip_tls_verify and not self.rfc2136_use_tls:
            yield "--rfc2136-skip-tls-verify: needs --rfc2136-use-tls"


def _why_no_name(text: str) -> str:
    try:
        canonical_name(text)
    except ValueError as error:
        return str(error)
    return ""


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return False
