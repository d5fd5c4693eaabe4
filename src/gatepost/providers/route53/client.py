"""A client of boto3 for Route 53, with the keys, or the role, of the settings."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from gatepost.providers.route53.settings import Route53Settings

_TIMEOUT_SECONDS = 30
_REGION = "us-east-1"  # Route 53 has no regions, but the library asks for one
_SESSION_NAME = "gatepost"


def new_client(settings: Route53Settings) -> Any:
    """A client for Route 53. Nothing is called yet: keys are looked for, and a role taken on, at the first call."""
    boto3 = importlib.import_module("boto3")
    config = importlib.import_module("botocore.config").Config(
        connect_timeout=_TIMEOUT_SECONDS,
        read_timeout=_TIMEOUT_SECONDS,
        # A repeated change whose answer was lost would be refused as one that does not fit, so we repeat ourselves.
        retries={"total_max_attempts": 1, "mode": "standard"},
        user_agent_extra="gatepost",
    )
    session = boto3.Session(profile_name=settings.aws_profile or None)
    if settings.aws_assume_role:
        session = _session_of_role(session, settings)
    return session.client(
        "route53",
        region_name=session.region_name or _REGION,
        endpoint_url=settings.aws_endpoint_url or None,
        config=config,
    )


def _session_of_role(session: Any, settings: Route53Settings) -> Any:
    """A session whose keys are those of the role, fetched anew before they run out."""
    boto3, credentials = importlib.import_module("boto3"), importlib.import_module("botocore.credentials")
    core = importlib.import_module("botocore.session").Session(profile=settings.aws_profile or None)
    fetcher = credentials.AssumeRoleCredentialFetcher(
        client_creator=functools.partial(core.create_client, region_name=session.region_name or _REGION),
        source_credentials=session.get_credentials(),
        role_arn=settings.aws_assume_role,
        extra_args={
            "RoleSessionName": _SESSION_NAME,
            **({"ExternalId": settings.aws_assume_role_external_id} if settings.aws_assume_role_external_id else {}),
        },
    )
    # Where the library itself puts what it has found; there is no other way to give it keys that renew themselves.
    core._credentials = credentials.DeferredRefreshableCredentials(
        method="assume-role", refresh_using=fetcher.fetch_credentials
    )
    return boto3.Session(botocore_session=core)
