"""How to reach a cluster: the options of all commands that do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command `--kubeconfig` and `--context`."""
    context = click.option("--context", metavar="NAME", help="Context of the kubeconfig.  [default: its current one]")
    kubeconfig = click.option(
        "--kubeconfig", metavar="FILE", help="How to reach the cluster.  [default: as kubectl finds it]"
    )
    return kubeconfig(context(command))
