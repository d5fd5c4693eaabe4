"""Where the objects of a command come from: the options for it, and the one value that they make."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click
from msgspec import Struct

from gatepost.cli.cluster_options import cluster_options


class Input(Struct, frozen=True):
    """Files, folders and `-` for stdin; without any, the cluster that these options lead to."""

    paths: tuple[str, ...] = ()
    kubeconfig: str | None = None
    context: str | None = None
    server: str = ""


def input_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command `[FILE...]`, `--filename` and the ways to a cluster; it gets them as `given`, an Input."""

    @wraps(command)
    def with_input(
        *args: Any,
        files: tuple[str, ...],
        more_files: tuple[str, ...],
        kubeconfig: str | None,
        context: str | None,
        server: str,
        **options: Any,
    ) -> Any:
        return command(*args, given=Input((*files, *more_files), kubeconfig, context, server), **options)

    name = click.option(
        "-f", "--filename", "more_files", multiple=True, metavar="FILE", help="Another way to name a FILE."
    )
    files = click.argument("files", nargs=-1, metavar="[FILE...]")
    return files(name(cluster_options(with_input)))
