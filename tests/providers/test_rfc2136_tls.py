"""The provider rfc2136 over TLS, against BIND with certificates of an authority of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from authority import Authority
from dns_servers import KEY_NAME, KEY_SECRET, DnsServer, TlsFiles, needs, running
from msgspec.structs import replace

from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.providers.contract import ProviderError
from gatepost.providers.rfc2136.provider import Rfc2136Provider
from gatepost.providers.rfc2136.settings import Rfc2136Settings
from gatepost.providers.tls import TlsSettings

APP = Endpoint("app.example.com", "A", ("192.0.2.1",))
NS1 = "ns1.example.com. 300 A 127.0.0.1"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def server(authority: Authority) -> Iterator[DnsServer]:
    needs("bind")
    with running("bind", tls=TlsFiles(*authority.issue("127.0.0.1"))) as started:
        yield started


def settings(server: DnsServer, **others: Any) -> Rfc2136Settings:
    return Rfc2136Settings(
        rfc2136_host=("127.0.0.1",),
        rfc2136_port=server.tls_port,
        rfc2136_zone=("example.com",),
        rfc2136_tsig_keyname=KEY_NAME,
        rfc2136_tsig_secret=KEY_SECRET,
        rfc2136_use_tls=True,
        **others,
    )


async def test_transfers_and_updates_go_over_tls(server: DnsServer, authority: Authority) -> None:
    provider = Rfc2136Provider(settings(server), TlsSettings(tls_ca=str(authority.file)))
    assert await provider.zones() == ["example.com"]
    assert [result.error for result in await provider.apply(Changes(create=(APP,)))] == [""]
    assert server.records() == {NS1, "app.example.com. 300 A 192.0.2.1"}
    assert replace(APP, record_ttl=300) in await provider.records()


async def test_a_certificate_of_a_stranger_is_not_believed_unless_told_so(
    server: DnsServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    stranger = Authority(tmp_path_factory.mktemp("stranger"))
    tls = TlsSettings(tls_ca=str(stranger.file))
    with pytest.raises(ProviderError, match=f"server 127.0.0.1:{server.tls_port} cannot be reached: .*CERTIFICATE"):
        await Rfc2136Provider(settings(server), tls).zones()
    assert await Rfc2136Provider(settings(server, rfc2136_skip_tls_verify=True), tls).zones() == ["example.com"]


async def test_a_server_that_speaks_no_tls_is_told_as_that(server: DnsServer, authority: Authority) -> None:
    plain = replace(settings(server), rfc2136_port=server.port, rfc2136_timeout=1)
    with pytest.raises(ProviderError, match=f"server 127.0.0.1:{server.port} "):
        await Rfc2136Provider(plain, TlsSettings(tls_ca=str(authority.file))).zones()


async def test_a_server_that_asks_for_our_certificate_gets_it(authority: Authority) -> None:
    needs("bind")
    with running("bind", tls=TlsFiles(*authority.issue("127.0.0.1"), clients=authority.file)) as server:
        ca = TlsSettings(tls_ca=str(authority.file))
        with pytest.raises(ProviderError, match=r"ended TLS|cannot be reached|ended the connection"):
            await Rfc2136Provider(settings(server), ca).zones()
        certificate, key = map(str, authority.issue("gatepost.example.com"))
        ours = replace(ca, tls_client_cert=certificate, tls_client_cert_key=key)
        assert await Rfc2136Provider(settings(server), ours).zones() == ["example.com"]


def test_files_that_cannot_be_used_are_told_with_their_flags(authority: Authority, tmp_path: Path) -> None:
    server = DnsServer("bind", 53, tmp_path, ("example.com",), tls_port=853)
    with pytest.raises(ValueError, match=r"--tls-ca: /nowhere cannot be used: No such file"):
        Rfc2136Provider(settings(server), TlsSettings(tls_ca="/nowhere"))
    file = str(authority.file)
    with pytest.raises(ValueError, match=r"--tls-client-cert: .* cannot be used: "):
        Rfc2136Provider(settings(server), TlsSettings(tls_client_cert=file, tls_client_cert_key=file))
    with pytest.raises(ValueError, match="give both or none"):
        Rfc2136Provider(settings(server), TlsSettings(tls_client_cert="a.pem"))
    alone = replace(settings(server, rfc2136_skip_tls_verify=True), rfc2136_use_tls=False)
    assert alone.check() == ("--rfc2136-skip-tls-verify: needs --rfc2136-use-tls",)
