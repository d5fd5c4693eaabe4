"""A provider that another process serves over the webhook protocol of external-dns."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlsplit

import aiohttp
from msgspec import Struct

from gatepost.call_faults import reason_of, said_in
from gatepost.dns.capabilities import Capabilities
from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.endpoint import Changes, Endpoint
from gatepost.providers.contract import ProviderError, RecordResult
from gatepost.providers.rate_limiter import HeldBack, RateLimiter, TryAgain, retry_after_seconds
from gatepost.providers.webhook import batches, wire
from gatepost.providers.webhook.settings import WebhookSettings

_TRIES = 5
_FIRST_WAIT_SECONDS = 0.5
_OK = 200
_NO_CONTENT = 204
_TOO_MANY = 429
_TRIES_IF_TOO_FAST = 4
_SERVER_ERRORS = range(500, 600)
_AWAY = (502, 503, 504)  # whoever answers so has not passed the changes on, or cannot tell
_CHUNK_BYTES = 65536


class StatusError(ProviderError):
    """An answer with a status that means failure; `status` is the number."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


_COUNTED = {
    ("GET", "/records"): "records",
    ("POST", "/records"): "applychanges",
    ("POST", "/adjustendpoints"): "adjustendpoints",
}
"""The calls that are counted, by the names that external-dns has for them in its metrics."""


class _Answer(Struct, frozen=True):
    status: int
    content_type: str
    body: bytes


class WebhookProvider:
    """A RemoteProvider (see contract.py) over HTTP. It negotiates once, before its first call.

    The protocol knows no result per record: a batch that fails is listed anew and sent in halves, until those that are
    refused stand alone (`batches.py`).

    Args:
        sleep: waits between the tries of the negotiation.
        limiter: stands before every call; a Retry-After counts for all of them.
    Raises: ValueError for a URL that is none.
    """

    def __init__(
        self,
        settings: WebhookSettings,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        limiter: RateLimiter | None = None,
    ) -> None:
        url = urlsplit(settings.webhook_provider_url)
        if url.scheme not in ("http", "https") or not url.hostname:
            found = settings.webhook_provider_url
            raise ValueError(f"--webhook-provider-url: found {found!r}, wanted a URL like http://localhost:8888")
        self._url = settings.webhook_provider_url.rstrip("/")
        self._timeout = aiohttp.ClientTimeout(total=settings.timeout_seconds)
        self._most_bytes = settings.webhook_provider_max_body_size
        self._sleep = sleep
        self._limiter = limiter or RateLimiter()
        self._domains: DomainFilter | None = None
        self.requests: Counter[str | None] = Counter()  # by the names in _COUNTED
        self.errors: Counter[str | None] = Counter()

    @property
    def capabilities(self) -> Capabilities:
        """What the other side can, it only shows when it adjusts endpoints."""
        return Capabilities(provider=f"the webhook provider at {self._url}")

    async def domains(self) -> DomainFilter:
        if self._domains is None:
            self._domains = await self._negotiate()
        return self._domains

    async def zones(self) -> Sequence[str]:
        """The domains that it names: the protocol does not tell zones, and no ownership record may leave a domain."""
        return sorted({domain.lstrip(".") for domain in (await self.domains()).include})

    async def records(self) -> Sequence[Endpoint]:
        await self.domains()
        answer = await self._expect(_OK, "GET", "/records")
        return self._read(answer, "GET /records")

    def adjust(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """As they are; what there is to adjust only the other side knows (`adjust_remotely`)."""
        return endpoints

    async def adjust_remotely(self, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """The answer of the other side. A label that it drops is put back: the protocol need not carry them."""
        if not endpoints:
            return ()
        await self.domains()
        answer = await self._expect(_OK, "POST", "/adjustendpoints", wire.endpoints_json(endpoints))
        labels = {endpoint.key: endpoint.labels for endpoint in endpoints}
        return [
            _with_labels(endpoint, labels.get(endpoint.key, {}))
            for endpoint in self._read(answer, "POST /adjustendpoints")
        ]

    async def apply(self, changes: Changes) -> Sequence[RecordResult]:
        """See Provider.apply. What is refused is found with a bounded number of further calls."""
        if not changes:
            return ()
        await self.domains()
        return await batches.apply_in_halves(changes, self._send, self.records)

    async def _send(self, changes: Changes) -> str:
        """Returns: "" if the other side has taken the changes, else what it said. Raises: ProviderError."""
        try:
            await self._expect(_NO_CONTENT, "POST", "/records", wire.changes_json(changes))
        except StatusError as error:
            if error.status in _AWAY or error.status == _TOO_MANY:
                raise
            return str(error)
        return ""

    # Calls

    async def _negotiate(self) -> DomainFilter:
        """Asks which names are served, up to five times while nobody answers or the answer is a server error."""
        for wait in range(_TRIES):
            try:
                answer = await self._expect(_OK, "GET", "/")
                break
            except ProviderError as error:
                is_final = isinstance(error, StatusError) and error.status not in _SERVER_ERRORS
                if is_final or wait == _TRIES - 1:
                    raise
            await self._sleep(_FIRST_WAIT_SECONDS * 2**wait)
        if answer.content_type != wire.MEDIA_TYPE:
            found = answer.content_type or "none"
            raise ProviderError(
                f"{self._url}/: found content type {found!r}, wanted {wire.MEDIA_TYPE!r}; is it a webhook provider?"
            )
        try:
            return wire.domain_filter_in(answer.body)
        except wire.BadBody as error:
            raise ProviderError(f"{self._url}/: the domain filter cannot be read: {error}") from error

    async def _expect(self, status: int, method: str, path: str, body: bytes | None = None) -> _Answer:
        """The answer to a call, made again where it came too fast.

        Raises: StatusError for any other status, ProviderError if there is no whole answer.
        """

        name = _COUNTED.get((method, path))

        async def once() -> _Answer:
            self.requests[name] += 1
            try:
                return await self._once(status, method, path, body)
            except Exception:
                self.errors[name] += 1
                raise

        try:
            return await self._limiter.call(once, _TRIES_IF_TOO_FAST)
        except HeldBack as held:
            raise ProviderError(f"{self._url}: {held}") from held

    async def _once(self, status: int, method: str, path: str, body: bytes | None) -> _Answer:
        headers = {"Accept": wire.MEDIA_TYPE, "Accept-Encoding": "identity"}
        if body is not None:
            headers["Content-Type"] = wire.MEDIA_TYPE
        call = f"{method} {self._url}{path}"
        try:
            async with (
                aiohttp.ClientSession(timeout=self._timeout, auto_decompress=False) as session,
                session.request(method, self._url + path, data=body, headers=headers, allow_redirects=False) as found,
            ):
                whole = await self._body(found, call)
                answer = _Answer(found.status, found.headers.get("Content-Type", ""), whole)
                retry_after = retry_after_seconds(found.headers.get("Retry-After"))
        except TimeoutError as error:
            raise ProviderError(f"{call}: no whole answer within {self._timeout.total:g} s") from error
        except aiohttp.ClientError as error:
            raise ProviderError(f"{call}: {reason_of(error)}") from error
        if answer.status == status:
            return answer
        found_status = f"{call}: found status {answer.status}, wanted {status}{_said(answer.body)}"
        failure = StatusError(found_status, answer.status)
        if answer.status == _TOO_MANY:
            raise TryAgain(failure, retry_after)
        raise failure

    async def _body(self, response: aiohttp.ClientResponse, call: str) -> bytes:
        body = bytearray()
        async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
            body += chunk
            if self._most_bytes and len(body) > self._most_bytes:
                raise ProviderError(
                    f"{call}: the answer has more than {self._most_bytes} bytes; "
                    "raise --webhook-provider-max-body-size if that is right"
                )
        return bytes(body)

    def _read(self, answer: _Answer, call: str) -> tuple[Endpoint, ...]:
        try:
            return wire.endpoints_in(answer.body)
        except wire.BadBody as error:
            raise ProviderError(f"{self._url}: the answer to {call} cannot be read: {error}") from error


def _with_labels(endpoint: Endpoint, labels: dict[str, str]) -> Endpoint:
    return Endpoint(
        endpoint.dns_name,
        endpoint.record_type,
        endpoint.targets,
        endpoint.record_ttl,
        endpoint.set_identifier,
        {**labels, **endpoint.labels},
        endpoint.provider_specific,
    )


def _said(body: bytes) -> str:
    text = said_in(body)
    return f": {text}" if text else ""
