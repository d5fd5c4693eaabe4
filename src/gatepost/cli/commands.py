"""The group of commands and what all of them share: lazy loading, `--version`, exit codes."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping

import click

from gatepost import __version__
from gatepost.cli.exit_codes import INTERRUPTED

COMMANDS: Mapping[str, tuple[str, str]] = {
    "render": ("gatepost.cli.render", "Desired objects and statuses from manifests."),
    "endpoints": ("gatepost.cli.endpoints", "DNS endpoints from manifests or the cluster."),
    "plan": ("gatepost.cli.plan", "What would change in DNS, and why."),
    "explain": ("gatepost.cli.explain", "What serves a hostname, or why nothing does."),
    "run": ("gatepost.cli.run", "Runs the controllers against a cluster."),
    "webhook": ("gatepost.cli.webhook", "Serves a DNS provider to external-dns."),
    "up": ("gatepost.cli.up", "Runs all of it on this machine, with no cluster."),
    "migrate": ("gatepost.cli.migrate", "Moves what Knative made to the form that gatepost gives it."),
    "completion": ("gatepost.cli.completion", "Prints the completion script for a shell."),
}
"""Name of a command -> the module whose attribute `command` it is, and its line in `gatepost --help`.

The line stands here so that the help of the group imports no command.
"""


class LazyGroup(click.Group):
    """A group that imports the module of a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(COMMANDS[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with the nearest command in the message for a name that is none."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            ctx.fail(f"There is no command {args[0]!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """As click does it, with a way to go on for a flag that only external-dns has.

        Ctrl-C ends it with the code of the shell.
        """
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except click.NoSuchOption as error:
            from gatepost.cli.external_dns_flags import instead_of

            instead = instead_of(error.option_name)
            if instead is None:
                raise
            message = f"No such option {error.option_name!r}: {instead}."
            raise click.UsageError(message, error.ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="gatepost %(version)s")
def gatepost() -> None:
    """Keeps the hostnames of a Kubernetes cluster served, from Knative and Gateway API to the record in DNS.

    \b
    Try it with no cluster:   gatepost up
    See what would be made:   gatepost render manifests/
    Ask about one name:       gatepost explain app.example.com
    """
