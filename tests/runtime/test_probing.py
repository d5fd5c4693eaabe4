"""Probes over real sockets: what passes, what does not, and that each address counts by itself."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import trustme
from aiohttp import web

from gatepost.configmaps.gateway import GatewayEntry
from gatepost.objects.gatewayapi import Gateway, HTTPRoute
from gatepost.objects.probes import ProbeVerdict
from gatepost.objects.refs import Ref
from gatepost.reconcilers.gateway.probes import Endpoint, Probe, ProbeState, ProbeURL
from gatepost.runtime.probing import Answer, HttpAsker, NoAnswer, NotPassed, Prober, Turns, why_not

HOST = "app.example.com"
ENTRY = GatewayEntry("ExternalIP", Gateway.KIND.ref("edge", "public"))


def probe(version: str = "v1", *paths: str, entry: GatewayEntry = ENTRY, over_tls: bool = False) -> Probe:
    urls = tuple(ProbeURL(HOST, path) for path in paths or ("/",))
    return Probe(HTTPRoute.KIND.ref("shop", HOST), version, urls, entry, over_tls=over_tls)


# What an answer means


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(200, "v1"), None),
        (Answer(200, "v0"), "answered with another version"),
        (Answer(200), "answered 200 without K-Network-Hash: the backend does not answer Knative's probes"),
        (Answer(404), "answered 404"),
        (Answer(500, "v1"), "answered 500"),
        (Answer(503), "answered 503"),
        (Answer(301), "answered 301"),
        (Answer(403, "v1"), "answered 403"),
    ],
)
def test_only_200_with_the_right_version_passes(answer: Answer, why: str | None) -> None:
    found = why_not(probe(), answer)
    assert (found and found.why) == why


def test_only_an_answer_of_another_kind_of_backend_is_lasting() -> None:
    assert why_not(probe(), Answer(200)) == NotPassed(
        "answered 200 without K-Network-Hash: the backend does not answer Knative's probes",
        is_lasting=True,
    )
    assert why_not(probe(), Answer(404)) == NotPassed("answered 404")


def test_a_redirect_is_what_is_wanted_where_no_version_is() -> None:
    assert why_not(probe(version=""), Answer(301)) is None
    assert why_not(probe(version=""), Answer(200, "v1")) == NotPassed("answered 200, not a redirect to https")


# The request


@asynccontextmanager
async def server(
    answer: Callable[[web.Request], web.Response], tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    async def answered(request: web.Request) -> web.Response:
        return answer(request)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answered)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def test_the_request_names_the_host_and_asks_for_the_version() -> None:
    seen: list[dict[str, str]] = []

    def answer(request: web.Request) -> web.Response:
        seen.append({name.lower(): value for name, value in request.headers.items()} | {"path": request.path})
        return web.Response(headers={"K-Network-Hash": "v1"})

    url = ProbeURL(HOST, "/foo", (("Knative-Serving-Tag", "v2"),))
    async with server(answer) as port:
        assert await HttpAsker().ask(probe(), url, Endpoint("127.0.0.1", port)) == Answer(200, "v1")
    assert seen == [
        {
            "host": HOST,
            "path": "/foo",
            "user-agent": "Knative-Ingress-Probe",
            "k-network-probe": "probe",
            "k-network-hash": "override",
            "knative-serving-tag": "v2",
            "connection": "close",
        }
    ]


async def test_a_probe_over_tls_names_the_host_and_takes_any_certificate() -> None:
    names: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("other.example.com").configure_cert(context)
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    async with server(lambda _: web.Response(headers={"K-Network-Hash": "v1"}), context) as port:
        found = await HttpAsker().ask(probe(over_tls=True), ProbeURL(HOST, "/"), Endpoint("127.0.0.1", port))
    assert (found, names) == (Answer(200, "v1"), [HOST])


async def test_a_proxy_header_comes_first_where_the_gateway_wants_one() -> None:
    got: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.set_result(await reader.readuntil(b"\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00") + await reader.readline())
        writer.write(b"HTTP/1.1 200 OK\r\nK-Network-Hash: v1\r\n\r\n")
        writer.close()

    entry = GatewayEntry("ExternalIP", ENTRY.gateway, proxy_protocol=True)
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        assert await HttpAsker().ask(probe(entry=entry), ProbeURL(HOST, "/"), Endpoint("127.0.0.1", port))
    assert await got == b"\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00GET / HTTP/1.1\r\n"


async def test_nobody_there_is_no_answer_and_so_is_what_is_no_http() -> None:
    async def mumble(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example.com\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(mumble, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        with pytest.raises(NoAnswer, match="its answer is no HTTP, or not whole"):
            await HttpAsker().ask(probe(), ProbeURL(HOST, "/"), Endpoint("127.0.0.1", port))
    with pytest.raises(NoAnswer, match="no connection"):
        await HttpAsker().ask(probe(), ProbeURL(HOST, "/"), Endpoint("127.0.0.1", port))


# Until it has passed


class Plane:
    """A data plane of several addresses: what each answers next, and what it was asked."""

    def __init__(self, **answers: Answer) -> None:
        self.answers = answers
        self.asked: list[tuple[str, str]] = []

    async def ask(self, probe: Probe, url: ProbeURL, endpoint: Endpoint) -> Answer:
        self.asked.append((endpoint.address, url.path))
        await asyncio.sleep(0)
        return self.answers[endpoint.address]


class Watched:
    """A prober whose waits end when the test says so, and what it told."""

    def __init__(self, plane: Plane, *, trust_silent_backends: bool = False) -> None:
        self.verdicts: asyncio.Queue[ProbeVerdict] = asyncio.Queue()
        self.dropped: list[Ref] = []
        self.waits: asyncio.Queue[float] = asyncio.Queue()
        self._go_on = asyncio.Event()
        self.prober = Prober(
            plane,
            self.verdicts.put_nowait,
            self.dropped.append,
            wait=self._wait,
            turn=lambda: asyncio.sleep(0),
            trust_silent_backends=trust_silent_backends,
        )

    async def _wait(self, seconds: float) -> None:
        self._go_on.clear()
        self.waits.put_nowait(seconds)
        await self._go_on.wait()

    def go_on(self) -> None:
        self._go_on.set()

    async def verdict(self) -> ProbeVerdict:
        return await asyncio.wait_for(self.verdicts.get(), 5)


@asynccontextmanager
async def watched(plane: Plane, *, trust_silent_backends: bool = False) -> AsyncIterator[Watched]:
    found = Watched(plane, trust_silent_backends=trust_silent_backends)
    try:
        yield found
    finally:
        await found.prober.stop()


def at(*addresses: str) -> ProbeState:
    return ProbeState(tuple(Endpoint(address, 80) for address in addresses))


async def test_a_probe_passes_when_all_its_requests_pass_on_all_addresses() -> None:
    plane = Plane(a=Answer(200, "v1"), b=Answer(200, "v0"))
    async with watched(plane) as found:
        wanted = probe("v1", "/", "/foo")
        found.prober.want({wanted: at("a", "b")})
        first = await found.verdict()
        assert (first.passed, first.why) == (False, f"{HOST}/: answered with another version")
        assert await found.waits.get() == 0.05
        plane.answers["b"] = Answer(200, "v1")
        plane.asked.clear()
        found.go_on()
        assert (await found.verdict()).passed
        assert plane.asked == [("b", "/"), ("b", "/foo")]  # what passed on one address is not asked there again
        assert found.prober.have_asked([wanted])


async def test_an_address_that_goes_is_not_waited_for_and_a_new_one_must_pass_too() -> None:
    plane = Plane(a=Answer(200, "v1"), b=Answer(503), c=Answer(404))
    async with watched(plane) as found:
        wanted = probe()
        found.prober.want({wanted: at("a", "b")})
        assert (await found.verdict()).why == f"{HOST}/: answered 503"
        await found.waits.get()
        found.prober.want({wanted: at("a", "c")})
        found.go_on()
        assert (await found.verdict()).why == f"{HOST}/: answered 404"
        await found.waits.get()
        found.prober.want({wanted: at("a")})
        found.go_on()
        assert (await found.verdict()).passed


async def test_a_backend_that_does_not_answer_probes_passes_only_where_it_is_trusted() -> None:
    async with watched(Plane(a=Answer(200))) as found:
        found.prober.want({probe(): at("a")})
        assert (await found.verdict()).is_lasting
    async with watched(Plane(a=Answer(200)), trust_silent_backends=True) as found:
        found.prober.want({probe(): at("a")})
        assert (await found.verdict()).passed
    async with watched(Plane(a=Answer(500)), trust_silent_backends=True) as found:
        found.prober.want({probe(): at("a")})
        assert not (await found.verdict()).passed


async def test_without_an_address_nothing_passes() -> None:
    async with watched(Plane()) as found:
        found.prober.want({probe(): at()})
        verdict = await found.verdict()
        assert (verdict.passed, verdict.why) == (False, "no gateway pods available")


async def test_it_is_asked_later_and_later() -> None:
    async with watched(Plane(a=Answer(404))) as found:
        found.prober.want({probe(): at("a")})
        waits = []
        for _ in range(12):
            waits.append(await asyncio.wait_for(found.waits.get(), 5))
            found.go_on()
        assert waits == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]
        assert found.verdicts.qsize() == 1  # the same again is no news


async def test_a_probe_that_nobody_wants_any_more_is_dropped_with_its_verdict() -> None:
    async with watched(Plane(a=Answer(404))) as found:
        old, new = probe("v1"), probe("v2")
        found.prober.want({old: at("a")})
        await found.verdict()
        found.prober.want({new: at("a")})
        assert found.dropped == [old.verdict_ref]
        await found.verdict()
        assert not found.prober.have_asked([old])


async def test_requests_go_out_at_even_distances() -> None:
    turns, started = Turns(per_second=200), asyncio.get_running_loop().time()
    await asyncio.gather(*(turns.turn() for _ in range(11)))
    assert asyncio.get_running_loop().time() - started >= 0.049
