"""The webhook server, asked byte by byte as external-dns asks; answers are compared as bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from scripted_webhook import TYPE

from gatepost.dns.capabilities import Capabilities
from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.endpoint import Changes, Endpoint, Property
from gatepost.dns.served import UnreadZone
from gatepost.providers.contract import Provider, ProviderError, RecordResult, ZonesUnknown
from gatepost.providers.embedded import EmbeddedProvider
from gatepost.providers.webhook.server import WebhookServer
from gatepost.runtime.listening import listening


class Answer:
    def __init__(self, raw: bytes) -> None:
        head, _, self.body = raw.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        self.status = int(first.split(" ")[1])
        self.headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}


async def ask(port: int, method: str, path: str, body: bytes | None = None, *headers: str) -> Answer:
    """One request as Go's HTTP client writes it, on a connection of its own."""
    length = [f"Content-Length: {len(body)}", f"Content-Type: {TYPE}"] if body is not None else []
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost:8888", "User-Agent: Go-http-client/1.1", *length]
    lines += [f"Accept: {TYPE}", "Connection: close", *headers, "", ""]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write("\r\n".join(lines).encode() + (body or b""))
    raw = await reader.read()
    writer.close()
    await writer.wait_closed()
    return Answer(raw)


@asynccontextmanager
async def server(provider: Provider | None = None, domains: DomainFilter | None = None) -> AsyncIterator[int]:
    served = WebhookServer(provider or EmbeddedProvider(["example.com"]), domains)
    async with listening(served.app(), "--listen", "127.0.0.1", 0) as port:
        yield port


class Failing(EmbeddedProvider):
    """Zones that cannot be reached."""

    async def records(self) -> Sequence[Endpoint]:
        raise ProviderError("no route to the name server")

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        raise ProviderError("no route to the name server")


async def test_negotiation_tells_the_zones_under_exactly_the_media_type() -> None:
    async with server(EmbeddedProvider(["example.org", "example.com"])) as port:
        found = await ask(port, "GET", "/")
    assert (found.status, found.headers["content-type"]) == (200, TYPE)
    assert found.body == b'{"include":["example.com","example.org"]}'


@pytest.mark.parametrize(
    ("domains", "body"),
    [
        (DomainFilter(("a.example",), ("b.a.example",)), b'{"include":["a.example"],"exclude":["b.a.example"]}'),
        (DomainFilter(regex_exclude="^x"), b'{"regexExclude":"^x"}'),
    ],
)
async def test_a_filter_takes_the_place_of_the_zones(domains: DomainFilter, body: bytes) -> None:
    async with server(domains=domains) as port:
        assert (await ask(port, "GET", "/")).body == body


async def test_an_unknown_path_answers_like_the_root() -> None:
    async with server() as port:
        assert (await ask(port, "GET", "/no/such/path")).body == b'{"include":["example.com"]}'


async def test_records_leave_out_what_is_empty_and_are_never_null() -> None:
    provider = EmbeddedProvider(["example.com"])
    async with server(provider) as port:
        assert (await ask(port, "GET", "/records")).body == b"[]"
        weight = Property("aws/weight", "10")
        full = Endpoint("b.example.com", "A", ("192.0.2.1",), 60, "blue", provider_specific=(weight,))
        await provider.apply(Changes(create=(full, Endpoint("a.example.com", "TXT", ('"<&>"',)))))
        found = await ask(port, "GET", "/records")
    assert (found.status, found.headers["content-type"]) == (200, TYPE)
    assert found.body == (
        b'[{"dnsName":"a.example.com","targets":["\\"\\u003c\\u0026\\u003e\\""],"recordType":"TXT"},'
        b'{"dnsName":"b.example.com","targets":["192.0.2.1"],"recordType":"A","setIdentifier":"blue","recordTTL":60,'
        b'"providerSpecific":[{"name":"aws/weight","value":"10"}]}]'
    )


async def test_endpoints_come_back_adjusted_with_their_labels() -> None:
    asked = (
        b'[{"dnsName":"App.example.com.","targets":["192.0.2.1"],"recordType":"A","labels":{"resource":"crd/a/b"},'
        b'"providerSpecific":[{"name":"b","value":"2"},{"name":"a","value":"1"}]}]\n'
    )
    async with server() as port:
        found = await ask(port, "POST", "/adjustendpoints", asked)
    assert (found.status, found.headers["content-type"]) == (200, TYPE)
    assert found.body == (
        b'[{"dnsName":"app.example.com","targets":["192.0.2.1"],"recordType":"A","labels":{"resource":"crd/a/b"},'
        b'"providerSpecific":[{"name":"a","value":"1"},{"name":"b","value":"2"}]}]'
    )


async def test_changes_of_external_dns_are_made() -> None:
    provider = EmbeddedProvider(["example.com"])
    there = [Endpoint(f"{name}.example.com", "A", ("192.0.2.1",)) for name in ("old", "gone")]
    await provider.apply(Changes(create=tuple(there)))
    asked = (
        b'{"create":[{"dnsName":"new.example.com","targets":["192.0.2.2"],"recordType":"A","recordTTL":300}],'
        b'"updateOld":[{"dnsName":"old.example.com","targets":["192.0.2.1"],"recordType":"A"}],'
        b'"updateNew":[{"dnsName":"old.example.com","targets":["192.0.2.3"],"recordType":"A"}],'
        b'"delete":[{"dnsName":"gone.example.com","targets":["192.0.2.1"],"recordType":"A"}]}\n'
    )
    async with server(provider) as port:
        found = await ask(port, "POST", "/records", asked)
    assert (found.status, found.body) == (204, b"")
    assert await provider.records() == [
        Endpoint("new.example.com", "A", ("192.0.2.2",), 300),
        Endpoint("old.example.com", "A", ("192.0.2.3",)),
    ]


async def test_no_changes_are_taken_too() -> None:
    async with server() as port:
        assert (await ask(port, "POST", "/records", b"{}")).status == 204


async def test_a_refused_record_is_a_failure_that_names_it_and_the_others_are_made() -> None:
    provider = EmbeddedProvider(["example.com"])
    asked = (
        b'{"create":[{"dnsName":"a.example.com","targets":["192.0.2.1"],"recordType":"A"},'
        b'{"dnsName":"a.example.org","targets":["192.0.2.1"],"recordType":"A"}]}'
    )
    async with server(provider) as port:
        found = await ask(port, "POST", "/records", asked)
    assert found.status == 500
    assert found.body.startswith(b"A a.example.org: the name is outside of all zones")
    assert [record.dns_name for record in await provider.records()] == ["a.example.com"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/", b"{}", 400),
        ("PUT", "/records", b"[]", 400),
        ("DELETE", "/records", None, 400),
        ("GET", "/adjustendpoints", None, 400),
        ("POST", "/healthz", b"", 400),
        ("POST", "/records", b"", 400),
        ("POST", "/records", b"[]", 400),
        ("POST", "/records", b'{"create":[{}]}', 400),
        ("POST", "/records", b'{"updateOld":[{"dnsName":"a.example.com","recordType":"A"}]}', 400),
        ("POST", "/adjustendpoints", b"{", 400),
        ("POST", "/adjustendpoints", b"[" + b" " * 40_000_000 + b"]", 413),
        ("POST", "/records", b"{" + b" " * 40_000_000 + b"}", 413),
    ],
)
async def test_requests_that_make_no_sense_are_refused(method: str, path: str, body: bytes | None, status: int) -> None:
    async with server() as port:
        assert (await ask(port, method, path, body)).status == status


async def test_failures_of_the_provider_are_server_errors() -> None:
    async with server(Failing(["example.com"])) as port:
        for method, body in (("GET", None), ("POST", b"{}")):
            found = await ask(port, method, "/records", body)
            assert (found.status, found.body) == (500, b"no route to the name server\n")


async def test_a_page_in_a_browser_cannot_write_dns() -> None:
    provider = EmbeddedProvider(["example.com"])
    asked = b'{"create":[{"dnsName":"a.example.com","targets":["192.0.2.1"],"recordType":"A"}]}'
    async with server(provider) as port:
        assert (await ask(port, "POST", "/records", asked, "Origin: https://example.net")).status == 403
    assert await provider.records() == []


async def test_health_is_told_beside_the_protocol_too() -> None:
    async with server() as port:
        assert (await ask(port, "GET", "/healthz")).body == b"ok\n"


async def test_a_body_that_never_ends_is_not_waited_for() -> None:
    served = WebhookServer(EmbeddedProvider(["example.com"]), body_seconds=0.05)
    async with listening(served.app(), "--listen", "127.0.0.1", 0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            f"POST /records HTTP/1.1\r\nHost: x\r\nContent-Type: {TYPE}\r\nContent-Length: 9\r\n\r\n{{".encode()
        )
        answer = Answer(await reader.readuntil(b"0.05 s\n"))
        writer.close()
        await writer.wait_closed()
    assert answer.status == 408


class HalfRead(EmbeddedProvider):
    """Two zones, of which one cannot be read."""

    def __init__(self) -> None:
        super().__init__(["example.com", "example.org"])

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(ttls=(60, 86400), properties=("kept",))

    async def zones(self) -> Sequence[str]:
        return ["example.com"]

    def unread(self) -> Sequence[UnreadZone]:
        return [UnreadZone("example.org", "the transfer is refused")]

    async def read_again(self, zone: str) -> Sequence[Endpoint]:
        raise ZonesUnknown(self.unread())


async def test_a_zone_that_cannot_be_read_is_served_still_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    async with server(HalfRead()) as port:
        assert (await ask(port, "GET", "/")).body == b'{"include":["example.com","example.org"]}'
        for _ in range(3):
            assert (await ask(port, "GET", "/records")).status == 200
    said = [record for record in caplog.records if record.message == "a zone cannot be read"]
    assert [getattr(record, "fields", None) for record in said] == [
        {"zone": "example.org", "why": "the transfer is refused"}
    ]


async def test_endpoints_come_back_with_what_the_provider_keeps_of_them() -> None:
    asked = (
        b'[{"dnsName":"a.example.com","targets":["192.0.2.1"],"recordType":"A","recordTTL":5,'
        b'"providerSpecific":[{"name":"kept","value":"1"},{"name":"lost","value":"2"}]}]'
    )
    async with server(HalfRead()) as port:
        assert (await ask(port, "POST", "/adjustendpoints", asked)).body == (
            b'[{"dnsName":"a.example.com","targets":["192.0.2.1"],"recordType":"A","recordTTL":60,'
            b'"providerSpecific":[{"name":"kept","value":"1"}]}]'
        )
