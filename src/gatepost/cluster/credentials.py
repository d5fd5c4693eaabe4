"""Who gatepost is to a cluster: static tokens, files that are rotated, plugins that make tokens for a while."""

from __future__ import annotations

import asyncio
import time
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from gatepost.cluster.errors import CredentialError

Clock = Callable[[], float]

TOKEN_FILE_LIFE_SECONDS = 60.0
"""How long a token read from a file is used before the file is read again. Source: client-go, rest/token source."""


class ClientCertificate(Struct, frozen=True):
    """A certificate chain and its private key, both PEM."""

    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        return "ClientCertificate(...)"  # the key never shows in logs


class Identity(Struct, frozen=True):
    """What one request shows of us: the Authorization header and the client certificate, either may be missing."""

    authorization: str = ""
    certificate: ClientCertificate | None = None

    def __repr__(self) -> str:
        return "Identity(...)"


class Credentials(Protocol):
    """A source of identities."""

    async def identity(self) -> Identity:
        """The identity to use now. Raises: CredentialError."""
        ...

    async def renewed(self, refused: Identity) -> Identity | None:
        """Another identity after the server refused one (401), None if there is no other. Raises: CredentialError."""
        ...


class NoCredentials:
    async def identity(self) -> Identity:
        return Identity()

    async def renewed(self, refused: Identity) -> Identity | None:
        return None


class FixedCredentials:
    """A token, name and password, or certificate that never changes."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity

    async def identity(self) -> Identity:
        return self._identity

    async def renewed(self, refused: Identity) -> Identity | None:
        return None


class TokenFile:
    """A token in a file that somebody else rotates, such as that of a service account.

    The file is read again after a minute and whenever the server refuses what was read.
    """

    def __init__(self, path: Path, certificate: ClientCertificate | None = None, clock: Clock = time.monotonic) -> None:
        self._path = path
        self._certificate = certificate
        self._clock = clock
        self._current: Identity | None = None
        self._read_at = 0.0

    async def identity(self) -> Identity:
        if self._current is None or self._clock() - self._read_at >= TOKEN_FILE_LIFE_SECONDS:
            self._current = await asyncio.to_thread(self._read)
            self._read_at = self._clock()
        return self._current

    async def renewed(self, refused: Identity) -> Identity | None:
        self._current = None
        identity = await self.identity()
        return identity if identity != refused else None

    def _read(self) -> Identity:
        try:
            token = self._path.read_text().strip()
        except OSError as error:
            raise CredentialError(f"{self._path}: the token cannot be read: {error.strerror}") from error
        if not token:
            raise CredentialError(f"{self._path}: the file is empty, a token was expected")
        return bearer(token, self._certificate)


def bearer(token: str, certificate: ClientCertificate | None = None) -> Identity:
    return Identity(f"Bearer {token}", certificate)


def basic(username: str, password: str, certificate: ClientCertificate | None = None) -> Identity:
    return Identity("Basic " + b64encode(f"{username}:{password}".encode()).decode(), certificate)
