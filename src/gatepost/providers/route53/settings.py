"""The settings of the provider aws, most of them flags of external-dns. Described as in DnsSettings."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

MOST_CHANGES = 1000
MOST_CHARACTERS = 32000


class Route53Settings(Struct, frozen=True, kw_only=True):
    """Which hosted zones to write, and how. Keys come from where the AWS command line takes them."""

    aws_zone_id: Annotated[
        tuple[str, ...],
        Meta(description="Only the hosted zone of this id (aws); may be repeated.", extra={"flag": "zone-id-filter"}),
    ] = ()
    aws_zone_type: Annotated[str, Meta(description="Only public or only private zones; empty for both.")] = ""
    aws_zone_tags: Annotated[
        tuple[str, ...],
        Meta(description="Only zones with this tag, key or key=value; may be repeated: all are needed."),
    ] = ()
    aws_prefer_cname: Annotated[
        bool, Meta(description="Write CNAME records to load balancers of AWS too, unless an alias is asked for.")
    ] = False
    aws_evaluate_target_health: Annotated[
        bool, Meta(description="Whether aliases that say nothing of it follow the health of their target.")
    ] = True
    aws_batch_change_size: Annotated[int, Meta(description="Most changes in one call of Route 53.")] = MOST_CHANGES
    aws_batch_change_size_bytes: Annotated[
        int, Meta(description="Most characters of record values in one call of Route 53.")
    ] = MOST_CHARACTERS
    aws_batch_change_interval: Annotated[
        int, Meta(description="How long to wait between two calls that change one hosted zone, in seconds or like 1s.")
    ] = 0
    aws_zones_cache_duration: Annotated[
        int,
        Meta(description="How long a list of the hosted zones counts before the next, in seconds or like 1h."),
    ] = 0
    aws_assume_role: Annotated[
        str, Meta(description="Role (ARN) to take on, as where the zones belong to another account.")
    ] = ""
    aws_assume_role_external_id: Annotated[str, Meta(description="External id that this role asks for.")] = ""
    aws_api_retries: Annotated[
        int, Meta(description="How often a call is repeated that Route 53 did not take for its rate limit.")
    ] = 5
    aws_profile: Annotated[str, Meta(description="Profile of the AWS configuration to take keys from.")] = ""
    aws_endpoint_url: Annotated[str, Meta(description="Where Route 53 is, for tests and for AWS' other clouds.")] = ""

    def check(self) -> tuple[str, ...]:
        """What is wrong with these settings, each a line that names the flag, what was found and what was wanted."""
        wrong: list[str] = []
        if self.aws_zone_type not in ("", "public", "private"):
            wrong.append(f"--aws-zone-type: found {self.aws_zone_type!r}, wanted public, private or nothing")
        if not 1 <= self.aws_batch_change_size <= MOST_CHANGES:
            wrong.append(f"--aws-batch-change-size: found {self.aws_batch_change_size}, wanted 1 to {MOST_CHANGES}")
        if not 1 <= self.aws_batch_change_size_bytes <= MOST_CHARACTERS:
            found = self.aws_batch_change_size_bytes
            wrong.append(f"--aws-batch-change-size-bytes: found {found}, wanted 1 to {MOST_CHARACTERS}")
        for flag, seconds in (
            ("--aws-batch-change-interval", self.aws_batch_change_interval),
            ("--aws-zones-cache-duration", self.aws_zones_cache_duration),
        ):
            if seconds < 0:
                wrong.append(f"{flag}: found {seconds}, wanted 0 or more seconds")
        if self.aws_assume_role_external_id and not self.aws_assume_role:
            wrong.append("--aws-assume-role-external-id: needs --aws-assume-role")
        if self.aws_api_retries < 0:
            wrong.append(f"--aws-api-retries: found {self.aws_api_retries}, wanted 0 or more")
        wrong += [
            f"--aws-zone-tags: found {tag!r}, wanted key or key=value" for tag in self.aws_zone_tags if not _key(tag)
        ]
        return tuple(wrong)


def _key(tag: str) -> str:
    return tag.partition("=")[0]
