"""The page of all flags, made from the commands themselves: `make docs` writes it, a test compares."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from gatepost.cli.commands import gatepost

_HEAD = """\
# Flags

All flags of all commands, in one list. Those of `gatepost run`, and those of DNS in every command, can be given as
variables of the environment too: `--txt-owner-id` as `GATEPOST_TXT_OWNER_ID`. `gatepost COMMAND --help` shows the flags
of one command. This page is written by `make docs`.

| flag | of | what it does |
| --- | --- | --- |
"""


def page() -> str:
    """The page as it should be."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name, command in sorted(_commands()):
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                written, said = _record(option, click.Context(command))
                rows.setdefault((written, said), []).append(name)
    lines = (f"| `{written}` | {', '.join(names)} | {said} |" for (written, said), names in sorted(rows.items()))
    return _HEAD + "\n".join(lines) + "\n"


def _commands() -> Iterator[tuple[str, click.Command]]:
    """The commands that a person calls, with their names."""
    context = click.Context(gatepost)
    for name in gatepost.list_commands(context):
        command = gatepost.get_command(context, name)
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", child) for inner, child in command.commands.items())
        elif command is not None:
            yield name, command


def _record(option: click.Option, context: click.Context) -> tuple[str, str]:
    """How a flag is written and what it does, as cells of a table."""
    record = option.get_help_record(context)
    assert record is not None
    written, said = record
    return written.replace("|", r"\|"), " ".join(said.split()).replace("|", r"\|")


if __name__ == "__main__":
    sys.stdout.write(page())
