"""The options for what a cluster's surroundings decide."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from gatepost.cli.dns_options import ENVIRONMENT_PREFIX
from gatepost.objects.settings import Settings

# The variables are those that `gatepost run` reads, so that a look at what it does sees the same.
_CLUSTER_DOMAIN = click.option(
    "--cluster-domain",
    default=Settings().cluster_domain,
    envvar=f"{ENVIRONMENT_PREFIX}CLUSTER_DOMAIN",
    show_default=True,
    help="DNS suffix of Services.",
)
_SYSTEM_NAMESPACE = click.option(
    "--system-namespace",
    default=Settings().system_namespace,
    envvar=f"{ENVIRONMENT_PREFIX}SYSTEM_NAMESPACE",
    show_default=True,
    help="Where Knative's settings lie.",
)


def settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command `--cluster-domain` and `--system-namespace`; it gets `settings`, a Settings."""

    @wraps(command)
    def with_settings(*args: Any, cluster_domain: str, system_namespace: str, **options: Any) -> Any:
        settings = Settings(cluster_domain=cluster_domain, system_namespace=system_namespace)
        return command(*args, settings=settings, **options)

    return _CLUSTER_DOMAIN(_SYSTEM_NAMESPACE(with_settings))
