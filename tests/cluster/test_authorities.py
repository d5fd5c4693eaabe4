"""Authorities in a file that somebody else rotates: the certificate of a server stays trusted, an old one does not."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme
from aiohttp import web

from gatepost.cluster.authorities import Authorities
from gatepost.cluster.client import Client
from gatepost.cluster.errors import Unreachable
from gatepost.cluster.locate import find_connection


class RotatedApi:
    """A server over TLS with the folder of a Pod's service account, whose authority can be changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        self.bodies: list[str] = []
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        (folder / "token").write_text("token")

    def serve_from(self, authority: trustme.CA) -> None:
        """Shows a certificate of this authority to connections to come."""
        authority.issue_cert("127.0.0.1").configure_cert(self._context)

    def trust(self, authority: trustme.CA) -> None:
        (self.folder / "ca.crt").write_bytes(authority.cert_pem.bytes())

    def client(self) -> Client:
        environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.port)}
        return Client(find_connection(environment=environment, service_account=self.folder))

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        async def answer(request: web.Request) -> web.Response:
            self.bodies.append(await request.text())
            # The next call comes over a connection of its own, which is shown the certificate of that time.
            return web.Response(text="answered", headers={"Connection": "close"})

        app = web.Application()
        app.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=self._context).start()
        self.port = runner.addresses[0][1]
        try:
            yield
        finally:
            await runner.cleanup()


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[RotatedApi]:
    made = RotatedApi(tmp_path)
    first = trustme.CA()
    made.serve_from(first)
    made.trust(first)
    async with made.serving():
        yield made


async def test_a_rotated_authority_is_read_when_the_certificate_is_not_trusted(api: RotatedApi) -> None:
    second = trustme.CA()
    async with api.client() as client:
        assert await client.read("/version") == b"answered"
        api.trust(second)
        api.serve_from(second)
        assert await client.read("/version") == b"answered"


async def test_a_write_that_meets_a_rotated_authority_arrives_once(api: RotatedApi) -> None:
    second = trustme.CA()
    async with api.client() as client:
        api.trust(second)
        api.serve_from(second)
        assert await client.write("POST", "/api/v1/namespaces/shop/events", {}, {"a": 1}) == b"answered"
    assert api.bodies == ['{"a":1}']


async def test_a_server_of_a_strange_authority_is_refused_until_the_file_names_it(api: RotatedApi) -> None:
    second = trustme.CA()
    async with api.client() as client:
        api.serve_from(second)
        with pytest.raises(Unreachable, match="its certificate is not trusted"):
            await client.read("/version")
        api.trust(second)
        assert await client.read("/version") == b"answered"
    assert len(api.bodies) == 1


class Hand:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def pems() -> tuple[bytes, bytes]:
    return trustme.CA().cert_pem.bytes(), trustme.CA().cert_pem.bytes()


async def test_a_withdrawn_authority_is_trusted_for_a_minute_at_most(tmp_path: Path, pems: tuple[bytes, bytes]) -> None:
    old, new = pems
    file, clock = tmp_path / "ca.crt", Hand()
    authorities = Authorities(old, file, clock)
    file.write_bytes(new)
    clock.seconds = 59.0
    assert await authorities.current() == old
    clock.seconds = 60.0
    assert await authorities.current() == new


@pytest.mark.parametrize("content", [b"", b"-----BEGIN CERTIFICATE-----\nMIIB", b"\xff", None])
async def test_a_file_in_the_middle_of_a_replacement_changes_nothing(
    content: bytes | None, tmp_path: Path, pems: tuple[bytes, bytes]
) -> None:
    old, _ = pems
    file = tmp_path / "ca.crt"
    if content is not None:
        file.write_bytes(content)
    authorities = Authorities(old, file, Hand())
    assert await authorities.renewed(old) is None
    assert await authorities.current() == old


async def test_authorities_without_a_file_stay(pems: tuple[bytes, bytes]) -> None:
    authorities = Authorities(pems[0], None, Hand())
    assert (await authorities.current(), await authorities.renewed(pems[0])) == (pems[0], None)
