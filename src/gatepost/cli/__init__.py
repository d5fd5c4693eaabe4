"""The command line. Each command is a file of its own, loaded only when it is called.

In: arguments, files, a kubeconfig. Out: what a person or a pipeline reads, and an exit code:
0 done, 1 the input has problems (all are listed), 2 wrong use, 3 something outside failed, of `plan` 4 changes, and
those of shells for programs that were stopped (`exit_codes.py`).
Never: a rule of its own; commands put together what the other packages do.
Read `commands.py` first.
"""

from __future__ import annotations

import contextlib
import sys


def main() -> None:
    """The entry point of the `gatepost` program."""
    # Scripts ask this often: answer before anything is imported. An output that is closed is left to `call`.
    if sys.argv[1:] == ["--version"] and sys.stdout is not None:
        from gatepost import __version__

        with contextlib.suppress(OSError):  # what cannot be written is told in the same way as by all commands
            sys.stdout.write(f"gatepost {__version__}\n")
            sys.stdout.flush()
            return
    from gatepost.cli.exit_codes import INTERRUPTED

    try:
        from gatepost.cli.commands import gatepost
        from gatepost.cli.program import call
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    call(gatepost)
