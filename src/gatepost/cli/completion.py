"""`gatepost completion`: the completion script for a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Prints the completion script for SHELL.

    \b
    Example, for the running bash:
      source <(gatepost completion bash)
    """
    completion = get_completion_class(shell)
    assert completion is not None
    root = ctx.find_root().command
    click.echo(completion(root, {}, "gatepost", "_GATEPOST_COMPLETE").source())
