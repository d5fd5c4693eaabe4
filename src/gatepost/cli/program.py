"""The program as the shell sees it: where its output goes, and how it ends when that or a person stops it."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import NoReturn

import click

from gatepost.cli.exit_codes import INTERRUPTED, OUTSIDE_FAILED, READER_GONE

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}


def call(command: click.Command) -> NoReturn:
    """Calls the command with the arguments of the process, and ends the process with its exit code.

    Output that was closed before (`>&-`) goes nowhere, as the caller wants. Output whose reader has gone ends it
    without a word, output that cannot be written with one line and exit code 3.
    """
    for name in ("stdout", "stderr"):
        output = getattr(sys, name)
        if output is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(output, io.TextIOWrapper):
            # Manifests are UTF-8 wherever they go, and what a locale cannot show is no reason to fail.
            output.reconfigure(encoding="utf-8", errors="backslashreplace")
    standard_output = sys.stdout  # click puts another in its place once its reader has gone
    try:
        try:
            command(prog_name="gatepost")
        finally:
            sys.stdout.flush()  # while a failure can still be told
    except BrokenPipeError:
        _write_nothing_more()
        sys.exit(READER_GONE)
    except SystemExit as ended:
        if ended.code and sys.stdout is not standard_output:  # click's own 1 would say that the input has problems
            sys.exit(READER_GONE)
        raise
    except KeyboardInterrupt:  # while no command was at work yet
        sys.exit(INTERRUPTED)
    except OSError as error:
        if error.errno not in _NO_ROOM or error.filename is not None:
            raise
        _write_nothing_more()
        click.echo(f"Error: the output cannot be written: {error.strerror}", err=True)
        sys.exit(OUTSIDE_FAILED)
    sys.exit()


def _write_nothing_more() -> None:
    """What is left in the buffer would fail once more when the interpreter ends."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
