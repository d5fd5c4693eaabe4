"""Calls of the HTTP API of PowerDNS: their JSON, and what their failures mean."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator, Sequence
from typing import TypeVar
from urllib.parse import quote

import aiohttp
import msgspec
from msgspec import Struct

from gatepost.call_faults import reason_of, said_in
from gatepost.providers.listed_zones import AnswerLost
from gatepost.providers.pdns.settings import PdnsSettings
from gatepost.providers.rate_limiter import HeldBack, RateLimiter, TryAgain, retry_after_seconds
from gatepost.providers.refusals import Refusal

_T = TypeVar("_T")

CALLS_AT_ONCE = 8
TRIES = 3
_TOO_MANY = 429
_IN_TROUBLE = (500, 502, 503, 504)


class ApiRecord(Struct, frozen=True, gc=False):
    """One record of a record set. A disabled one is kept by PowerDNS, and not served."""

    content: str
    disabled: bool = False


class ApiRecordSet(Struct, frozen=True, omit_defaults=True):
    """A record set as it is listed, or with `changetype` (REPLACE or DELETE) as it is to be; names have final dots."""

    name: str
    type: str
    ttl: int | None = None
    records: tuple[ApiRecord, ...] = ()
    changetype: str = ""


class ApiZone(Struct, frozen=True):
    """A zone; `id` is its name in URLs."""

    id: str
    name: str
    rrsets: tuple[ApiRecordSet, ...] = ()


class _Patch(Struct, frozen=True):
    rrsets: Sequence[ApiRecordSet]


class _Error(Struct, frozen=True):
    error: str = ""
    errors: tuple[str, ...] = ()


class Api:
    """The API of one server, within a session."""

    def __init__(self, settings: PdnsSettings, session: aiohttp.ClientSession, limiter: RateLimiter) -> None:
        self._session = session
        self._limiter = limiter
        self._root = settings.pdns_server.rstrip("/")
        self._base = f"{self._root}/api/v1/servers/{quote(settings.pdns_server_id, safe='')}/zones"

    async def zones(self) -> list[ApiZone]:
        """All zones, without their records."""
        return _decoded(await self._call("GET", self._base), list[ApiZone])

    async def zone(self, zone_id: str, name: str = "") -> ApiZone:
        """A zone with its record sets, those of one name if it is given (an old server may give all)."""
        query = {"rrset_name": name} if name else {}
        return _decoded(await self._call("GET", f"{self._base}/{quote(zone_id, safe='')}", query), ApiZone)

    async def patch(self, zone_id: str, record_sets: Sequence[ApiRecordSet]) -> None:
        """Makes all of these changes, or none. Raises: Refusal, AnswerLost"""
        body = msgspec.json.encode(_Patch(record_sets))
        await self._call("PATCH", f"{self._base}/{quote(zone_id, safe='')}", body=body)

    async def _call(
        self, method: str, url: str, query: dict[str, str] | None = None, body: bytes | None = None
    ) -> bytes:
        """One call, tried again while the server is in trouble: every change can be made twice without harm."""

        async def once() -> bytes:
            return await self._once(method, url, query, body)

        try:
            return await self._limiter.call(once, TRIES)
        except HeldBack as held:
            raise Refusal(f"PowerDNS at {self._root}: {held}", is_for_all=True) from held

    async def _once(self, method: str, url: str, query: dict[str, str] | None, body: bytes | None) -> bytes:
        try:
            async with self._session.request(method, url, params=query, data=body) as answer:
                content = await answer.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            said = f"PowerDNS at {self._root} cannot be reached: {reason_of(error)}"
            raise TryAgain(AnswerLost(said), is_too_fast=False) from error
        if answer.status < 300:
            return content
        said = f"PowerDNS at {self._root} answered {answer.status}: {_error_in(content)}"
        seconds = retry_after_seconds(answer.headers.get("Retry-After"))
        if answer.status == _TOO_MANY:
            raise TryAgain(Refusal(said, is_for_all=True), seconds)
        if answer.status in _IN_TROUBLE:
            raise TryAgain(AnswerLost(said), seconds, is_too_fast=seconds is not None)
        raise Refusal(_with_advice(answer.status, said), is_for_all=answer.status in (401, 403, 404, 405))


@contextlib.asynccontextmanager
async def api(settings: PdnsSettings, tls: ssl.SSLContext, limiter: RateLimiter) -> AsyncIterator[Api]:
    """The API for some calls that belong together."""
    connector = aiohttp.TCPConnector(ssl=tls, limit=CALLS_AT_ONCE)
    headers = {"X-API-Key": settings.pdns_api_key, "Accept": "application/json", "Content-Type": "application/json"}
    timeout = aiohttp.ClientTimeout(total=settings.pdns_timeout)
    async with aiohttp.ClientSession(connector=connector, headers=headers, timeout=timeout) as session:
        yield Api(settings, session, limiter)


def _decoded(content: bytes, type_: type[_T]) -> _T:
    try:
        return msgspec.json.decode(content, type=type_)
    except msgspec.MsgspecError as error:
        raise AnswerLost(f"PowerDNS gave an answer that cannot be read: {error}") from error


def _error_in(content: bytes) -> str:
    try:
        error = msgspec.json.decode(content, type=_Error)
    except msgspec.MsgspecError:
        return said_in(content) or "nothing"
    return "; ".join(text for text in (error.error, *error.errors) if text)


def _with_advice(status: int, said: str) -> str:
    if status in (401, 403):
        return f"{said}; check --pdns-api-key, and webserver-allow-from of the server"
    if status == 404:
        return f"{said}; check --pdns-server and --pdns-server-id"
    return said
