"""The flags of the webhook provider, under the names of external-dns. Described as the fields of `DnsSettings` are."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class WebhookSettings(Struct, frozen=True, kw_only=True):
    """How to reach a webhook provider, and how long and how much to take from it."""

    webhook_provider_url: Annotated[str, Meta(description="Where the webhook provider listens.")] = (
        "http://localhost:8888"
    )
    webhook_provider_read_timeout: Annotated[
        int, Meta(description="How long to wait for the webhook provider's answer, in seconds or like 5s.")
    ] = 5
    webhook_provider_write_timeout: Annotated[
        int, Meta(description="How much longer if a request has to be written first, in seconds or like 10s.")
    ] = 10
    webhook_provider_max_body_size: Annotated[
        int, Meta(description="The largest answer of a webhook provider that is read, in bytes; 0 for any.")
    ] = 33554432

    @property
    def timeout_seconds(self) -> float:
        """For one call as a whole, as external-dns counts it."""
        return float(self.webhook_provider_read_timeout + self.webhook_provider_write_timeout)
