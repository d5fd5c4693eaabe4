"""What can go wrong around the standalone mode, told to the person at the terminal."""

from __future__ import annotations

from collections.abc import Sequence


class StandaloneError(Exception):
    """Something outside gatepost keeps the standalone mode from running; the text says what, and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class PortTakenError(StandaloneError):
    """Another process listens where one of our servers should."""

    def __init__(self, purpose: str, host: str, port: int, protocol: str = "TCP") -> None:
        super().__init__(
            f"{purpose}: {protocol} port {port} on {host} is already taken by another process. "
            "Stop that process, or choose another port (0 chooses a free one)."
        )
        self.port = port


class AddressUnusableError(StandaloneError):
    """The address is none of this machine's, or may not be bound by this user."""

    def __init__(self, purpose: str, host: str, port: int, cause: OSError) -> None:
        super().__init__(
            f"{purpose}: cannot listen on {host} port {port}: {cause.strerror or cause}. "
            "Choose an address of this machine and a port above 1023."
        )
        self.port = port


class MissingBinaryError(StandaloneError):
    """A program that the standalone mode starts is not installed where it is looked for."""

    def __init__(self, program: str, looked_at: Sequence[str], remedy: str) -> None:
        super().__init__(f"{program} was not found; looked at {', '.join(looked_at)}. {remedy}")


class ChildExitedError(StandaloneError):
    """A child process ended although nobody asked it to. `last_lines` are the end of its log."""

    def __init__(self, program: str, exit_code: int, last_lines: Sequence[str]) -> None:
        how = f"exit code {exit_code}" if exit_code >= 0 else f"signal {-exit_code}"
        log = "".join(f"\n  {line}" for line in last_lines) or " (nothing)"
        super().__init__(f"{program} ended with {how}. The last lines of its log:{log}")
        self.exit_code = exit_code
        self.last_lines = tuple(last_lines)


class NotReadyError(StandaloneError):
    """A child process runs but did not get ready in time. `last_lines` are the end of its log."""

    def __init__(self, program: str, timeout_seconds: float, last_lines: Sequence[str]) -> None:
        log = "".join(f"\n  {line}" for line in last_lines) or " (nothing)"
        super().__init__(f"{program} was not ready after {timeout_seconds:g} s. The last lines of its log:{log}")
        self.last_lines = tuple(last_lines)
