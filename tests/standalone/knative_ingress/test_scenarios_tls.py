"""Scenarios of TLS, with certificates that the client checks."""

from __future__ import annotations

import ssl
from urllib.parse import urlsplit

import pytest
import trustme

from knative_ingress.backends import Runtime
from knative_ingress.clients import Gateway
from knative_ingress.cluster import NAMESPACE, Cluster, path_to, public, split

scenario = pytest.mark.scenario


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    """What a client trusts that knows just this authority."""
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


async def with_tls(cluster: Cluster, authority: trustme.CA, name: str, option: str) -> str:
    """A KIngress with a certificate for its host, once it is Ready. Returns: the host."""
    host = f"{name}.example.com"
    secret = await cluster.secret(name, authority.issue_cert(host))
    service = await cluster.service(name, Runtime())
    tls = [{"hosts": [host], "secretName": secret, "secretNamespace": NAMESPACE}]
    await cluster.ready_kingress(name, public(host, path_to(split(service))), tls=tls, httpOption=option)
    return host


@scenario("tls")
async def test_https_has_the_certificate_of_the_secret(
    cluster: Cluster, gateway: Gateway, tls_gateway: Gateway, authority: trustme.CA
) -> None:
    host = await with_tls(cluster, authority, "tls", "Enabled")
    assert (await tls_gateway.get_with_tls(host, trusting(authority))).seen["host"] == host
    assert (await gateway.get(host)).seen["host"] == host
    with pytest.raises(ssl.SSLCertVerificationError):
        await tls_gateway.get_with_tls(host, trusting(trustme.CA()))


@scenario("httpoption")
@pytest.mark.parametrize(("option", "plain"), [("Enabled", 200), ("Redirected", 301)])
async def test_plain_requests_get_what_the_option_says(
    cluster: Cluster, gateway: Gateway, tls_gateway: Gateway, authority: trustme.CA, option: str, plain: int
) -> None:
    host = await with_tls(cluster, authority, f"option-{option.lower()}", option)
    answer = await gateway.get(host)
    assert answer.status == plain
    if plain == 301:
        assert answer.headers["Location"] == f"https://{host}:{urlsplit(tls_gateway.url).port}/"
    assert (await tls_gateway.get_with_tls(host, trusting(authority))).seen["host"] == host
