"""Starts a program that ends with its parent: `python launch.py PARENT_PID PROGRAM ARGUMENT...`.

Run as a script of its own between the parent and the program: it asks the kernel for a SIGKILL at the parent's end and
then becomes the program. The request outlives that change; made in the parent before `exec`, it would need code that
runs between fork and exec, which is not safe beside threads. Other systems than Linux have no such request: there a
program outlives a parent that is killed, though not one that stops it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    parent, *command = arguments
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != int(parent):
            sys.exit(1)  # the parent ended before the request was made
    os.execv(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
