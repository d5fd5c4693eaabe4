"""The settings of the provider octodns. Described as in DnsSettings."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class OctodnsSettings(Struct, frozen=True, kw_only=True):
    """Which target of octoDNS to use."""

    octodns_config: Annotated[str, Meta(description="File of octoDNS with its providers and zones.")] = ""
    octodns_provider: Annotated[
        str, Meta(description="Name of the provider in the file of octoDNS to read from and write to.")
    ] = ""

    def check(self) -> tuple[str, ...]:
        """What is wrong with these settings, each a line that names the flag, what was found and what was wanted."""
        wrong: list[str] = []
        if not self.octodns_config:
            wrong.append("--octodns-config: none was given; octoDNS needs a file that names its providers")
        if not self.octodns_provider:
            wrong.append("--octodns-provider: none was given; wanted a name under `providers` of the file of octoDNS")
        return tuple(wrong)
