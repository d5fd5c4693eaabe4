"""TLS for real: trusted authorities, the name in a certificate, client certificates, and what is said when it fails."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from gatepost.cluster.client import Client
from gatepost.cluster.connection import Connection, Server
from gatepost.cluster.credentials import ClientCertificate, FixedCredentials, Identity
from gatepost.cluster.errors import KubeconfigError, Unreachable

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")


class Keys:
    """A certificate for "api.internal" that signs itself, and one for the client "jane"."""

    def __init__(self, folder: Path) -> None:
        self.server = self._made(folder, "api.internal")
        self.client = self._made(folder, "jane")

    @staticmethod
    def _made(folder: Path, name: str) -> tuple[Path, Path]:
        certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
        command += ["-keyout", str(key), "-out", str(certificate)]
        subprocess.run(command, check=True, capture_output=True)
        return certificate, key

    @property
    def ca(self) -> bytes:
        return self.server[0].read_bytes()

    @property
    def jane(self) -> ClientCertificate:
        return ClientCertificate(self.client[0].read_bytes(), self.client[1].read_bytes())


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path)


@asynccontextmanager
async def tls_server(keys: Keys) -> AsyncIterator[str]:
    """A server that answers with the name of the client's certificate, "" if it showed none. Gives its URL."""

    async def who(request: web.Request) -> web.Response:
        assert request.transport is not None
        shown: Any = request.transport.get_extra_info("peercert")
        return web.Response(text=dict(field[0] for field in shown["subject"])["commonName"] if shown else "")

    app = web.Application()
    app.router.add_get("/who", who)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(keys.client[0]))
    context.load_cert_chain(*keys.server)
    context.verify_mode = ssl.CERT_OPTIONAL
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    try:
        yield f"https://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def who_is_seen(server: Server, certificate: ClientCertificate | None = None) -> str:
    credentials = FixedCredentials(Identity(certificate=certificate))
    async with Client(Connection(server, credentials)) as client:
        return (await client.read("/who")).decode()


async def test_a_server_of_a_trusted_authority_is_known_by_its_tls_server_name(keys: Keys) -> None:
    async with tls_server(keys) as url:
        assert await who_is_seen(Server(url, keys.ca, tls_server_name="api.internal")) == ""


async def test_a_server_of_another_name_is_refused(keys: Keys) -> None:
    async with tls_server(keys) as url:
        with pytest.raises(Unreachable, match=r"its certificate is not trusted .* tls-server-name"):
            await who_is_seen(Server(url, keys.ca))


async def test_a_server_of_an_unknown_authority_is_refused(keys: Keys) -> None:
    async with tls_server(keys) as url:
        with pytest.raises(Unreachable, match=r"its certificate is not trusted .* certificate-authority"):
            await who_is_seen(Server(url, keys.client[0].read_bytes(), tls_server_name="api.internal"))


async def test_without_verification_any_server_will_do(keys: Keys) -> None:
    async with tls_server(keys) as url:
        assert await who_is_seen(Server(url, insecure_skip_tls_verify=True)) == ""


async def test_a_client_certificate_is_shown(keys: Keys) -> None:
    async with tls_server(keys) as url:
        server = Server(url, keys.ca, tls_server_name="api.internal")
        assert await who_is_seen(server, keys.jane) == "jane"


async def test_a_key_that_does_not_fit_its_certificate_is_named(keys: Keys) -> None:
    mixed = ClientCertificate(keys.client[0].read_bytes(), keys.server[1].read_bytes())
    with pytest.raises(KubeconfigError, match=r"client-certificate: .* cannot be used together"):
        await who_is_seen(Server("https://127.0.0.1:1", keys.ca), mixed)


async def test_an_authority_that_is_no_certificate_is_named() -> None:
    with pytest.raises(KubeconfigError, match=r"certificate-authority: holds no usable PEM certificate"):
        await who_is_seen(Server("https://127.0.0.1:1", b"no certificate"))
