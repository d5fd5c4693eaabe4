"""The exit codes of all commands. Pipelines decide by them, so each means the same in every command."""

from __future__ import annotations

DONE = 0
"""Of `explain`: the name is served."""

INPUT_HAS_PROBLEMS = 1
"""All of them are told, not the first alone. Of `explain`: the name is not served."""

WRONG_USE = 2
"""As click gives for a wrong option."""

OUTSIDE_FAILED = 3
"""The cluster, a DNS provider, a store of ownership or a port."""

CHANGES = 4
"""Of `plan`: DNS would change."""

READER_GONE = 141
"""Who read the output has closed it, as `head` does. Source: shells, 128 and the number of SIGPIPE."""

INTERRUPTED = 130
"""Ctrl-C before a command had taken it as the sign to end. Source: shells, 128 and the number of the signal."""
