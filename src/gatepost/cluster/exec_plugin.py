"""Credential plugins: programs that print an ExecCredential.

Source: Kubernetes client.authentication.k8s.io, v1 and v1beta1.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct, field

from gatepost.cluster.credentials import ClientCertificate, Identity
from gatepost.cluster.errors import CredentialError

VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
TIME_LIMIT_SECONDS = 60.0


class ExecSettings(Struct, frozen=True):
    """A plugin as a kubeconfig describes it. `user` names it in messages; `folder` is that of the kubeconfig."""

    user: str
    api_version: str
    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    install_hint: str = ""
    interactive_mode: str = "IfAvailable"
    cluster: dict[str, Any] | None = None


class _CredentialStatus(Struct, frozen=True, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


class _ExecCredential(Struct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _CredentialStatus = field(default_factory=_CredentialStatus)


class ExecPlugin:
    """Runs a plugin when its last answer has expired or was refused, never more than once at a time."""

    def __init__(
        self,
        settings: ExecSettings,
        fallback: ClientCertificate | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._settings = settings
        self._fallback = fallback
        self._now = now
        self._lock = asyncio.Lock()
        self._current: Identity | None = None
        self._expires: datetime | None = None

    async def identity(self) -> Identity:
        async with self._lock:
            if self._current is None or self._has_expired():
                await self._run()
            assert self._current is not None
            return self._current

    async def renewed(self, refused: Identity) -> Identity | None:
        async with self._lock:
            if self._current == refused:  # else another request has renewed it already
                await self._run()
            return self._current

    def _has_expired(self) -> bool:
        return self._expires is not None and self._now() >= self._expires

    async def _run(self) -> None:
        output = await self._output()
        status = self._status_in(output)
        certificate = self._fallback
        if status.client_certificate_data:
            certificate = ClientCertificate(status.client_certificate_data.encode(), status.client_key_data.encode())
        self._current = Identity(f"Bearer {status.token}" if status.token else "", certificate)
        self._expires = status.expiration_timestamp

    async def _output(self) -> bytes:
        settings = self._settings
        interactive = self._is_interactive()
        try:
            process = await asyncio.create_subprocess_exec(
                settings.command,
                *settings.args,
                env={
                    **os.environ,
                    **dict(settings.env),
                    "KUBERNETES_EXEC_INFO": self._exec_info(interactive=interactive),
                },
                stdin=None if interactive else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            hint = f" {settings.install_hint}" if settings.install_hint else ""
            raise self._error(f"{settings.command!r} cannot be started: {error.strerror}.{hint}") from error
        try:
            async with asyncio.timeout(TIME_LIMIT_SECONDS):
                output, complaint = await process.communicate()
        except TimeoutError as error:
            process.kill()
            await process.wait()
            raise self._error(f"{settings.command!r} gave no answer within {TIME_LIMIT_SECONDS:g} s") from error
        if process.returncode != 0:
            tail = complaint.decode(errors="replace").strip()[-500:]
            raise self._error(
                f"{settings.command!r} ended with exit code {process.returncode}: {tail or '(no output)'}"
            )
        return output

    def _status_in(self, output: bytes) -> _CredentialStatus:
        try:
            credential = msgspec.json.decode(output, type=_ExecCredential)
        except msgspec.DecodeError as error:
            # Not the output itself: it may hold a token.
            raise self._error(f"its output is no ExecCredential in JSON ({error})") from error
        wanted = self._settings.api_version
        if credential.kind != "ExecCredential" or credential.api_version != wanted:
            found = f"{credential.kind or 'no kind'} {credential.api_version or 'without apiVersion'}"
            raise self._error(f"it answered with {found}, the kubeconfig wants ExecCredential {wanted}")
        status = credential.status
        if not status.token and not status.client_certificate_data:
            raise self._error("its answer has neither status.token nor status.clientCertificateData")
        if bool(status.client_certificate_data) != bool(status.client_key_data):
            raise self._error("status.clientCertificateData and status.clientKeyData must come together")
        return status

    def _is_interactive(self) -> bool:
        mode = self._settings.interactive_mode
        has_terminal = sys.stdin is not None and sys.stdin.isatty()
        if mode == "Always" and not has_terminal:
            raise self._error("interactiveMode is Always, but standard input is no terminal")
        return has_terminal and mode != "Never"

    def _exec_info(self, *, interactive: bool) -> str:
        spec: dict[str, Any] = {"interactive": interactive}
        if self._settings.cluster is not None:
            spec["cluster"] = self._settings.cluster
        return json.dumps({"apiVersion": self._settings.api_version, "kind": "ExecCredential", "spec": spec})

    def _error(self, problem: str) -> CredentialError:
        return CredentialError(f"exec plugin of user {self._settings.user!r}: {problem}")


def cluster_info(
    server: str, ca: bytes | None, tls_server_name: str, proxy_url: str, *, insecure: bool
) -> dict[str, Any]:
    """What a plugin with `provideClusterInfo` is told of the cluster."""
    info: dict[str, Any] = {"server": server}
    if ca:
        info["certificate-authority-data"] = b64encode(ca).decode()
    if tls_server_name:
        info["tls-server-name"] = tls_server_name
    if proxy_url:
        info["proxy-url"] = proxy_url
    if insecure:
        info["insecure-skip-tls-verify"] = True
    return info
