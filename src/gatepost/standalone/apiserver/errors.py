"""What can go wrong when the server starts: told to the person who started it."""

from __future__ import annotations

from pathlib import Path

from gatepost.standalone.errors import StandaloneError


class ApiServerError(StandaloneError):
    """The server cannot start, or cannot go on; the message says why and what to do."""


class AddressNotLoopback(ApiServerError):
    """The server has no authentication, so it listens on loopback addresses only."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"API server: {host} is not a loopback address. The server knows no users and no TLS, "
            "so it listens only on 127.0.0.0/8, ::1 or localhost."
        )


class DataDirInUse(ApiServerError):
    """Another process has the data directory open."""

    def __init__(self, directory: Path, holder: str) -> None:
        by = f" by process {holder}" if holder else ""
        super().__init__(
            f"data directory {directory} is in use{by}. Stop that process, or give this one a directory of its own."
        )


class DataDirDamaged(ApiServerError):
    """A line in the middle of the log cannot be read or is missing, so what follows it cannot be trusted."""

    def __init__(self, path: Path, line: int, why: str) -> None:
        super().__init__(
            f"{path}, line {line}: the log is damaged, {why}. Restore the file from a backup, "
            f"or cut it off before line {line} to go on with the objects of that time."
        )


class DataDirUnusable(ApiServerError):
    """The data directory cannot be made, read or written."""

    def __init__(self, directory: Path, cause: OSError) -> None:
        super().__init__(f"data directory {directory} cannot be used: {cause}")


class InvalidDefinition(ApiServerError):
    """A file with CustomResourceDefinitions holds something else or something broken.

    `document` counts from 1; 0 is for the file or folder as a whole.
    """

    def __init__(self, file: Path, document: int, why: str) -> None:
        super().__init__(f"{file}, document {document}: {why}" if document else f"{file}: {why}")
        self.file = file
        self.document = document
