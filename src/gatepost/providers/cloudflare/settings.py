"""The settings of the provider cloudflare, under external-dns' names where it has them. Described as in DnsSettings."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from msgspec import Meta, Struct

MOST_PER_PAGE = 5000  # what the API allows


class CloudflareSettings(Struct, frozen=True, kw_only=True):
    """How to reach the API of Cloudflare, and what records get that say nothing of it themselves."""

    cloudflare_api_token: Annotated[
        str,
        Meta(description="Token for the API of Cloudflare that may read zones and edit DNS, or file:PATH to its file."),
    ] = ""
    cloudflare_proxied: Annotated[
        bool, Meta(description="Let Cloudflare's proxy answer for records that do not say so themselves.")
    ] = False
    cloudflare_record_comment: Annotated[
        str, Meta(description="Comment on records at Cloudflare that have none of their own.")
    ] = ""
    cloudflare_dns_records_per_page: Annotated[
        int, Meta(description="How many records to ask Cloudflare for at once, at most 5000.")
    ] = 100
    cloudflare_url: Annotated[str, Meta(description="Where the API of Cloudflare is.")] = (
        "https://api.cloudflare.com/client/v4"
    )
    cloudflare_timeout: Annotated[
        int, Meta(description="How long to wait for each answer of Cloudflare, in seconds or like 30s.")
    ] = 30

    def check(self) -> tuple[str, ...]:
        """What is wrong with these settings, each a line that names the flag, what was found and what was wanted."""
        wrong: list[str] = []
        if not self.cloudflare_api_token:
            wrong.append("--cloudflare-api-token: none was given; the API of Cloudflare asks for one")
        if not 1 <= self.cloudflare_dns_records_per_page <= MOST_PER_PAGE:
            found = self.cloudflare_dns_records_per_page
            wrong.append(f"--cloudflare-dns-records-per-page: found {found}, wanted 1 to {MOST_PER_PAGE}")
        parts = urlsplit(self.cloudflare_url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            wrong.append(
                f"--cloudflare-url: found {self.cloudflare_url!r}, wanted a URL like https://api.cloudflare.com/client/v4"
            )
        if self.cloudflare_timeout < 1:
            wrong.append(f"--cloudflare-timeout: found {self.cloudflare_timeout}, wanted at least 1 second")
        return tuple(wrong)
