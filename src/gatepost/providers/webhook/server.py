"""Serves a provider of gatepost to external-dns, or to another gatepost, over the webhook protocol."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable

from aiohttp import hdrs, web

from gatepost.dns.domain_filter import DomainFilter, domain_filter
from gatepost.dns.served import UnreadZone
from gatepost.log_fields import fields
from gatepost.providers.contract import (
    DeclaringProvider,
    Provider,
    ProviderError,
    RecordResult,
    RemoteProvider,
    ZonedProvider,
    ZonesUnknown,
)
from gatepost.providers.webhook import wire

log = logging.getLogger("gatepost.webhook")

MAX_BODY_BYTES = 33554432
BODY_SECONDS = 30.0
_PATHS = ("/records", "/adjustendpoints", "/healthz")

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class WebhookServer:
    """The endpoints of the protocol over one provider. Changes are made one batch at a time.

    | request                | answer                                                             |
    | GET / or unknown path  | the names that are served                                          |
    | GET /records           | all records                                                        |
    | POST /adjustendpoints  | the endpoints as `/records` will give them back                    |
    | POST /records          | 204 if every record was taken, else 500 with a line for each other |
    | GET /healthz           | 200                                                                |

    400 answers other methods and bodies that cannot be read, 408 bodies that never end, 413 those over
    `max_body_bytes`, 500 the provider's failures. A request that a browser sends from another site is refused: it must
    not be a way to write DNS.

    Args:
        domains: narrows the names that are served, which otherwise are the zones of the provider.
        max_body_bytes: 0 for any size.
        body_seconds: how long the body of a request may take to come in.
    """

    def __init__(
        self,
        provider: Provider,
        domains: DomainFilter | None = None,
        *,
        max_body_bytes: int = MAX_BODY_BYTES,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self._provider = provider
        self._domains = domains
        self._max_body_bytes = max_body_bytes
        self._body_seconds = body_seconds
        self._unread_said: set[UnreadZone] = set()
        self._writing = asyncio.Lock()
        self.answers: Counter[tuple[str, int]] = Counter()  # by call and status

    def app(self) -> web.Application:
        """The application to run. It listens nowhere yet."""
        app = web.Application(client_max_size=self._max_body_bytes, middlewares=[self._counting, _answering_failures])
        app.router.add_route("*", "/records", self._records)
        app.router.add_route("*", "/adjustendpoints", self._adjust)
        app.router.add_route("*", "/healthz", _healthy)
        app.router.add_route("*", "/{anything:.*}", self._negotiate)
        return app

    @web.middleware
    async def _counting(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        call = f"{request.method} {request.path if request.path in _PATHS else '/'}"
        try:
            response = await handler(request)
        except web.HTTPException as refusal:
            self.answers[call, refusal.status] += 1
            raise
        self.answers[call, response.status] += 1
        return response

    async def _negotiate(self, request: web.Request) -> web.Response:
        _check_method(request, hdrs.METH_GET)
        return _json(wire.domain_filter_json(await self._served()))

    async def _served(self) -> DomainFilter:
        if self._domains is not None:
            return self._domains
        if isinstance(self._provider, RemoteProvider):
            return await self._provider.domains()
        return domain_filter(tuple(sorted(await self._zones())))

    async def _zones(self) -> set[str]:
        """All zones of the provider, read or not: external-dns asks once, and a zone may come back after that."""
        try:
            zones = {*await self._provider.zones()}
        except ZonesUnknown as error:
            return {zone.name for zone in error.zones}
        unread = self._provider.unread() if isinstance(self._provider, ZonedProvider) else ()
        return zones | {zone.name for zone in unread}

    async def _records(self, request: web.Request) -> web.Response:
        if request.method == hdrs.METH_POST:
            return await self._apply(request)
        _check_method(request, hdrs.METH_GET, hdrs.METH_POST)
        records = await self._provider.records()
        self._say_unread()
        return _json(wire.endpoints_json(records))

    def _say_unread(self) -> None:
        """The protocol has no place for zones of which nothing is known: changes in them are refused, one by one."""
        unread = self._provider.unread() if isinstance(self._provider, ZonedProvider) else ()
        for zone in {*unread} - self._unread_said:
            log.warning("a zone cannot be read", extra=fields(zone=zone.name, why=zone.why))
        self._unread_said = {*unread}

    async def _adjust(self, request: web.Request) -> web.Response:
        _check_method(request, hdrs.METH_POST)
        endpoints = wire.endpoints_in(await self._body(request))
        if isinstance(self._provider, RemoteProvider):
            return _json(wire.endpoints_json(await self._provider.adjust_remotely(endpoints)))
        adjusted = self._provider.adjust(endpoints)
        if isinstance(self._provider, DeclaringProvider):
            adjusted = [self._provider.capabilities.fitted(endpoint) for endpoint in adjusted]
        return _json(wire.endpoints_json(adjusted))

    async def _body(self, request: web.Request) -> bytes:
        """Raises: HTTPRequestTimeout for a body that does not come to its end."""
        try:
            async with asyncio.timeout(self._body_seconds):
                return await request.read()
        except TimeoutError as error:
            text = f"found no end of the body within {self._body_seconds:g} s\n"
            raise web.HTTPRequestTimeout(text=text) from error

    async def _apply(self, request: web.Request) -> web.Response:
        changes = wire.changes_in(await self._body(request))
        async with self._writing:
            results = await self._provider.apply(changes)
        refused = [result for result in results if result.error]
        log.info("changes were asked for", extra=fields(changes=len(results), refused=len(refused)))
        if refused:
            raise web.HTTPInternalServerError(text="".join(f"{_told(result)}\n" for result in refused))
        return web.Response(status=204)


async def _healthy(request: web.Request) -> web.Response:
    _check_method(request, hdrs.METH_GET)
    return web.Response(text="ok\n")


@web.middleware
async def _answering_failures(request: web.Request, handler: _Handler) -> web.StreamResponse:
    if hdrs.ORIGIN in request.headers:
        raise web.HTTPForbidden(text=f"found a request from the page {request.headers[hdrs.ORIGIN]}, wanted none\n")
    try:
        return await handler(request)
    except wire.BadBody as error:
        raise web.HTTPBadRequest(text=f"{error}\n") from error
    except ProviderError as error:
        log.warning("the DNS provider cannot be used", extra=fields(error=error))
        raise web.HTTPInternalServerError(text=f"{error}\n") from error


def _told(result: RecordResult) -> str:
    """One line about a refused record; most providers name it themselves."""
    name = result.key.dns_name
    return result.error if name in result.error else f"{result.key.record_type} {name}: {result.error}"


def _check_method(request: web.Request, *wanted: str) -> None:
    """Raises: HTTPBadRequest, which is what external-dns answers, where HTTP has 405."""
    if request.method not in wanted:
        raise web.HTTPBadRequest(text=f"found method {request.method}, wanted {' or '.join(wanted)}\n")


def _json(body: bytes) -> web.Response:
    # As a header, not as `content_type`: clients compare the text as a whole, and no charset may be added to it.
    return web.Response(body=body, headers={hdrs.CONTENT_TYPE: wire.MEDIA_TYPE})
