"""The authorities whose certificates are trusted: fixed, or in a file that somebody else rotates."""

from __future__ import annotations

import asyncio
import ssl
import time
from pathlib import Path

from gatepost.cluster.credentials import Clock

FILE_LIFE_SECONDS = 60.0
"""How long what a file held is trusted before it is read again, as with tokens: an authority may be withdrawn, too."""


class Authorities:
    """PEM text of the authorities to trust now.

    The file is read again after a minute and whenever a certificate is not trusted by what was read. While it holds
    nothing usable (it may be in the middle of being replaced), what was read last counts.

    Args:
        known: what is trusted until the file is read again, None for the authorities of the system.
        file: None if there is nothing that could change.
    """

    def __init__(self, known: bytes | None, file: Path | None = None, clock: Clock = time.monotonic) -> None:
        self._known = known
        self._file = file
        self._clock = clock
        self._read_at = clock()

    async def current(self) -> bytes | None:
        if self._file is not None and self._clock() - self._read_at >= FILE_LIFE_SECONDS:
            await self._read_again(self._file)
        return self._known

    async def renewed(self, failed: bytes | None) -> bytes | None:
        """Other authorities than those by which a certificate was not trusted, None if there are no others."""
        if self._file is not None:
            await self._read_again(self._file)
        return self._known if self._known != failed else None

    async def _read_again(self, file: Path) -> None:
        found = await asyncio.to_thread(_usable_in, file)
        self._known = found or self._known
        self._read_at = self._clock()


def _usable_in(file: Path) -> bytes | None:
    try:
        found = file.read_bytes()
        ssl.create_default_context(cadata=found.decode())
    except (OSError, ValueError, ssl.SSLError):
        return None
    return found or None
