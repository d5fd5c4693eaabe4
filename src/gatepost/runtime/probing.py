"""Asks the data plane what it serves: the probes that rules want right now, each until it has passed.

| the answer                           | means                                                             |
| ---                                  | ---                                                               |
| 200 with the wanted version          | this address serves it                                            |
| 200 with another version, 404, 5xx, no answer | not yet                                                  |
| 200 without a version                | not yet, and waiting will not help: the backend does not answer probes |
| a redirect where one is wanted       | this address serves it                                            |

A probe has passed when all its requests passed on all addresses that the gateway has then. An address that goes takes
its requests with it; what was asked on one address says nothing of another.
Source: knative.dev/networking, probing of ingresses; what passes there on any other status is not yet here.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from typing import Protocol

from msgspec import Struct

from gatepost.log_fields import fields
from gatepost.objects.meta import ObjectMeta
from gatepost.objects.probes import ProbeVerdict
from gatepost.objects.refs import Ref
from gatepost.reconcilers.gateway.probes import PROBES, Endpoint, Probe, ProbeState, ProbeURL
from gatepost.runtime.loop.movements import Movements
from gatepost.runtime.wanted_tasks import WantedTasks
from gatepost.state.engine import Engine

log = logging.getLogger("gatepost.probes")

AT_ONCE = 15
PER_SECOND = 50
FIRST_RETRY_SECONDS = 0.05
LONGEST_RETRY_SECONDS = 30.0
ANSWER_SECONDS = 1.0

VERSION_HEADER = "k-network-hash"
_HEADERS = {
    "User-Agent": "Knative-Ingress-Probe",
    "K-Network-Probe": "probe",
    "K-Network-Hash": "override",
    "Connection": "close",
}
# PROXY protocol version 2, command LOCAL: the connection is our own, no client stands behind it.
_PROXY_HEADER = b"\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00"
_LONGEST_HEAD = 64 * 1024


class Answer(Struct, frozen=True):
    """What a gateway answered. `version` is None where it named none."""

    status: int
    version: str | None = None


class NotPassed(Struct, frozen=True):
    """Why a request does not count as passed; `is_lasting`: waiting will not help."""

    why: str
    is_lasting: bool = False


class NoAnswer(Exception):
    """Nobody answered, or not in HTTP."""


class Asks(Protocol):
    async def ask(self, probe: Probe, url: ProbeURL, endpoint: Endpoint) -> Answer:
        """Sends one request to one address. Raises: NoAnswer."""
        ...


class HttpAsker:
    """Asks over a connection of its own each time: one that is kept may lead to a process that is about to end."""

    def __init__(self) -> None:
        self._tls = ssl.create_default_context()
        self._tls.check_hostname = False
        self._tls.verify_mode = ssl.CERT_NONE  # a certificate may come later; what is asked is where requests go

    async def ask(self, probe: Probe, url: ProbeURL, endpoint: Endpoint) -> Answer:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self._ask(probe, url, endpoint)
        except TimeoutError as error:
            raise NoAnswer(f"no answer within {ANSWER_SECONDS:g} s") from error
        except OSError as error:
            raise NoAnswer("no connection") from error
        except (ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            raise NoAnswer("its answer is no HTTP, or not whole") from error

    async def _ask(self, probe: Probe, url: ProbeURL, endpoint: Endpoint) -> Answer:
        reader, writer = await asyncio.open_connection(endpoint.address, endpoint.port, limit=_LONGEST_HEAD)
        try:
            if probe.entry.proxy_protocol:
                writer.write(_PROXY_HEADER)
            if probe.over_tls:
                await writer.start_tls(self._tls, server_hostname=url.host)
            lines = [f"GET {url.path} HTTP/1.1", f"Host: {url.host}"]
            lines += [f"{name}: {value}" for name, value in {**_HEADERS, **dict(url.headers)}.items()]
            writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
            return _answer_in(await reader.readuntil(b"\r\n\r\n"))
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


def _answer_in(head: bytes) -> Answer:
    """Raises: ValueError if it is no answer in HTTP."""
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return Answer(int(first.split(" ")[1:2][0] if first.startswith("HTTP/") else ""), headers.get(VERSION_HEADER))


class Turns:
    """When each request may go out: one after the other at even distances, so that many probes are no burst."""

    def __init__(self, per_second: float, now: Callable[[], float] = time.monotonic) -> None:
        self._distance = 1 / per_second
        self._now = now
        self._next_at = 0.0

    async def turn(self) -> None:
        """Returns when it is the caller's turn."""
        now = self._now()
        at = max(self._next_at, now)
        self._next_at = at + self._distance
        if at > now:
            await asyncio.sleep(at - now)


class Prober:
    """The probes that are wanted, each with a task of its own until it has passed.

    Args:
        put: takes each verdict that differs from the one before.
        drop: hears of each verdict that nobody needs any more.
        trust_silent_backends: a backend that does not answer probes counts as one that would answer right. Then Ready
            says no more than the status of the route where such backends are.
        wait: how a probe waits before it is sent again.
        turn: waits until the next request may go out.
        movements: notes each time that a round of requests has ended.
    """

    def __init__(
        self,
        asks: Asks,
        put: Callable[[ProbeVerdict], None],
        drop: Callable[[Ref], None],
        *,
        trust_silent_backends: bool = False,
        wait: Callable[[float], Awaitable[object]] = asyncio.sleep,
        turn: Callable[[], Awaitable[None]] | None = None,
        movements: Movements | None = None,
    ) -> None:
        self._asks = asks
        self._put = put
        self._trusts_silence = trust_silent_backends
        self._wait = wait
        self._turn = turn or Turns(PER_SECOND).turn
        self._gate = asyncio.Semaphore(AT_ONCE)
        self._tasks: WantedTasks[Probe] = WantedTasks(
            "probe", self._until_passed, lambda probe: drop(probe.verdict_ref), movements or Movements()
        )
        self._endpoints: dict[Probe, tuple[Endpoint, ...]] = {}

    def want(self, probes: Mapping[Probe, ProbeState]) -> None:
        """From now on just these are probed."""
        self._endpoints = {probe: state.endpoints for probe, state in probes.items()}
        self._tasks.want(probes)

    def have_asked(self, probes: Iterable[Probe]) -> bool:
        """Whether each of these has been sent at least once, whatever came of it."""
        return self._tasks.have_asked(probes)

    def following(self, probes: Callable[[], Mapping[Probe, ProbeState]]) -> AbstractAsyncContextManager[None]:
        """Wants what `probes` says, again after each movement, until the end of the context."""
        return self._tasks.following(lambda: self.want(probes()))

    async def stop(self) -> None:
        await self._tasks.stop()

    async def _until_passed(self, probe: Probe) -> None:
        passed: set[tuple[Endpoint, ProbeURL]] = set()
        delay = FIRST_RETRY_SECONDS
        said: ProbeVerdict | None = None
        while True:
            verdict = await self._round(probe, passed)
            if verdict != said:
                said = verdict
                log.info("a probe speaks", extra=fields(ref=probe.route, passed=verdict.passed, why=verdict.why))
                self._put(verdict)
            self._tasks.note_asked(probe)
            if verdict.passed:
                return
            await self._wait(delay)
            delay = min(delay * 2, LONGEST_RETRY_SECONDS)

    async def _round(self, probe: Probe, passed: set[tuple[Endpoint, ProbeURL]]) -> ProbeVerdict:
        """Asks whatever has not passed yet. What passes goes into `passed`."""
        endpoints = self._endpoints[probe]
        if not endpoints:
            return _verdict(probe, "no gateway pods available")
        due = [(endpoint, url) for endpoint in endpoints for url in probe.urls if (endpoint, url) not in passed]
        found = await asyncio.gather(*(self._ask(probe, url, endpoint) for endpoint, url in due))
        failed: list[NotPassed] = []
        for place, not_passed in zip(due, found, strict=True):
            if not_passed is None or (not_passed.is_lasting and self._trusts_silence):
                passed.add(place)
            else:
                failed.append(not_passed)
        if failed:
            told = min(failed, key=lambda one: (not one.is_lasting, one.why))  # what waiting will not help comes first
            return _verdict(probe, told.why, is_lasting=told.is_lasting)
        if self._endpoints.get(probe) != endpoints:
            return _verdict(probe, "the addresses of the gateway changed")
        return ProbeVerdict(metadata=_metadata(probe), passed=True)

    async def _ask(self, probe: Probe, url: ProbeURL, endpoint: Endpoint) -> NotPassed | None:
        """Returns: why one request did not pass, None if it passed."""
        async with self._gate:
            await self._turn()
            try:
                answer = await self._asks.ask(probe, url, endpoint)
            except NoAnswer as error:
                return NotPassed(f"{url.host}{url.path}: {error}")
        found = why_not(probe, answer)
        return None if found is None else NotPassed(f"{url.host}{url.path}: {found.why}", found.is_lasting)


def why_not(probe: Probe, answer: Answer) -> NotPassed | None:
    """Why an answer does not let a probe pass, None if it does."""
    if not probe.version:
        return None if answer.status == 301 else NotPassed(f"answered {answer.status}, not a redirect to https")
    if answer.status != 200:
        return NotPassed(f"answered {answer.status}")
    if answer.version is None:
        message = "answered 200 without K-Network-Hash: the backend does not answer Knative's probes"
        return NotPassed(message, is_lasting=True)
    return None if answer.version == probe.version else NotPassed("answered with another version")


def _verdict(probe: Probe, why: str, *, is_lasting: bool = False) -> ProbeVerdict:
    return ProbeVerdict(metadata=_metadata(probe), why=why, is_lasting=is_lasting)


def _metadata(probe: Probe) -> ObjectMeta:
    return ObjectMeta(namespace=probe.route.namespace, name=probe.name)


def probes_wanted(engine: Engine) -> dict[Probe, ProbeState]:
    """The probes that rules need right now."""
    if not any(rule is PROBES for rule in engine.rules):
        return {}
    return {probe: state for probe, state in engine.values(PROBES) if isinstance(probe, Probe)}
