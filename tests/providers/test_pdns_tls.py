"""The provider pdns over TLS: whom it believes, and the certificate that it shows."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from authority import Authority
from msgspec.structs import replace

from gatepost.providers.contract import ProviderError
from gatepost.providers.pdns.provider import PdnsProvider
from gatepost.providers.pdns.settings import PdnsSettings
from gatepost.providers.tls import TlsSettings


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@asynccontextmanager
async def api_over_tls(authority: Authority, *, asks_clients: bool = False) -> AsyncIterator[PdnsSettings]:
    """The API of a PowerDNS without zones, whose certificate is of that authority."""

    async def zones(request: web.Request) -> web.Response:
        return web.json_response([])

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(authority.file))
    context.load_cert_chain(*authority.issue("127.0.0.1"))
    context.verify_mode = ssl.CERT_REQUIRED if asks_clients else ssl.CERT_NONE
    app = web.Application()
    app.router.add_get("/api/v1/servers/localhost/zones", zones)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    try:
        url = f"https://127.0.0.1:{runner.addresses[0][1]}"
        yield PdnsSettings(pdns_server=url, pdns_api_key="key")
    finally:
        await runner.cleanup()


async def test_the_flag_of_pdns_comes_before_the_one_that_providers_share(
    authority: Authority, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ours, strangers = str(authority.file), str(Authority(tmp_path_factory.mktemp("stranger")).file)
    async with api_over_tls(authority) as settings:
        assert await PdnsProvider(settings, tls=TlsSettings(tls_ca=ours)).zones() == []
        both = replace(settings, pdns_tls_ca=ours)
        assert await PdnsProvider(both, tls=TlsSettings(tls_ca=strangers)).zones() == []
        skipping = replace(settings, pdns_skip_tls_verify=True)
        assert await PdnsProvider(skipping, tls=TlsSettings(tls_ca=strangers)).zones() == []
        with pytest.raises(ProviderError, match=r"cannot be reached: .*its certificate is not trusted"):
            await PdnsProvider(settings, tls=TlsSettings(tls_ca=strangers)).zones()


async def test_our_certificate_is_shown_to_a_server_that_asks_for_it(authority: Authority) -> None:
    ca = TlsSettings(tls_ca=str(authority.file))
    certificate, key = map(str, authority.issue("gatepost.example.com"))
    async with api_over_tls(authority, asks_clients=True) as settings:
        ours = replace(ca, tls_client_cert=certificate, tls_client_cert_key=key)
        assert await PdnsProvider(settings, tls=ours).zones() == []
        with pytest.raises(ProviderError, match="cannot be reached"):
            await PdnsProvider(settings, tls=ca).zones()


def test_a_file_that_cannot_be_used_is_told_with_its_flag() -> None:
    settings = PdnsSettings(pdns_api_key="key", pdns_tls_ca="/nowhere")
    with pytest.raises(ValueError, match="--pdns-tls-ca: /nowhere cannot be used: No such file"):
        PdnsProvider(settings)
