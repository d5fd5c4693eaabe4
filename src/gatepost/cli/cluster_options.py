"""How to reach a cluster: the options of all commands that do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import click


class _Url(click.ParamType[str]):
    name = "url"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme not in ("http", "https") or not parts.hostname):
            self.fail(f"found {value!r}, wanted a URL such as https://10.0.0.1:6443", param, ctx)
        return value


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command `--kubeconfig`, `--context` and `--server`."""
    server = click.option(
        "--server",
        type=_Url(),
        metavar="URL",
        default="",
        help="The API server, in place of the one in the kubeconfig or of this Pod.",
    )
    context = click.option("--context", metavar="NAME", help="Context of the kubeconfig.  [default: its current one]")
    kubeconfig = click.option(
        "--kubeconfig", metavar="FILE", help="How to reach the cluster.  [default: as kubectl finds it]"
    )
    return kubeconfig(context(server(command)))
