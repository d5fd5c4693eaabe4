"""Calls of Cloudflare's official library, and what their failures mean."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from gatepost.providers.cloudflare.records import Operations
from gatepost.providers.cloudflare.settings import CloudflareSettings
from gatepost.providers.listed_zones import AnswerLost
from gatepost.providers.rate_limiter import HeldBack, RateLimiter, TryAgain, retry_after_seconds
from gatepost.providers.refusals import Refusal

_TRIES = 4
_TOO_MANY = 429
_SERVER_ERROR = 500
_ZONES_PER_PAGE = 50
_FROM_FILE = "file:"
_WHATEVER_THE_RECORDS = (401, 403, 404, 405, 429)


def library() -> Any:
    """The library. Raises: ValueError if it is not installed."""
    try:
        return importlib.import_module("cloudflare")
    except ImportError as error:
        raise ValueError(
            "--provider: cloudflare needs its library, which is missing; pip install gatepost[cloudflare]"
        ) from error


class Api:
    """The API of Cloudflare, within a session of the library."""

    def __init__(self, settings: CloudflareSettings, client: Any, limiter: RateLimiter) -> None:
        self._settings = settings
        self._client = client
        self._limiter = limiter
        self._errors = library()

    async def zones(self) -> dict[str, str]:
        """The ids of all zones that the token reaches, by their names. Raises: Refusal, AnswerLost"""
        zones = await self._all("its zones", lambda: self._client.zones.list(per_page=_ZONES_PER_PAGE))
        return {zone.name.lower(): zone.id for zone in zones}

    async def records(self, zone_id: str, name: str = "") -> list[Any]:
        """All records of a zone, or those of one name. Raises: Refusal, AnswerLost"""
        asked: dict[str, Any] = {"zone_id": zone_id, "per_page": self._settings.cloudflare_dns_records_per_page}
        if name:
            asked["name"] = {"exact": name}
        return await self._all("records", lambda: self._client.dns.records.list(**asked))

    async def write(self, zone_id: str, wanted: Operations) -> None:
        """Makes all of these changes, or none: deletions first. Raises: Refusal, AnswerLost"""
        parts = {"deletes": wanted.deletes, "patches": wanted.patches, "posts": wanted.posts}
        sent = {name: list(part) for name, part in parts.items() if part}
        if sent:
            # Made once more although its answer was lost, a batch would be refused for what it made itself.
            batch = self._client.dns.records.batch
            await self._call("changes", lambda: batch(zone_id=zone_id, **sent), is_reading=False)

    async def _all(self, subject: str, listing: Callable[[], Awaitable[Any]]) -> list[Any]:
        """Every item of a listing in pages, each once. Raises: Refusal, AnswerLost, also if some are missing."""
        page = await self._call(subject, listing)
        promised = getattr(page.result_info, "total_count", None)
        items = {item.id: item for item in page.result or ()}
        while page.has_next_page() and (promised is None or len(items) < promised):
            page = await self._call(subject, page.get_next_page)
            items.update((item.id, item) for item in page.result or ())
        if promised is not None and len(items) < promised:
            raise AnswerLost(self._unusable(subject, f"of {int(promised)} that it counted, {len(items)} came"))
        return list(items.values())

    async def _call(self, subject: str, make: Callable[[], Awaitable[Any]], *, is_reading: bool = True) -> Any:
        """One call of the library, again where that does no harm. Raises: Refusal, AnswerLost"""

        async def once() -> Any:
            try:
                return await make()
            except (self._errors.CloudflareError, ValueError) as error:
                raise self._meaning(error, subject, is_reading=is_reading) from error

        try:
            return await self._limiter.call(once, _TRIES)
        except HeldBack as held:
            said = f"Cloudflare at {self._settings.cloudflare_url}: {held}"
            raise Refusal(_with_advice(_TOO_MANY, said), is_for_all=True) from held

    def _meaning(self, error: Any, subject: str, *, is_reading: bool) -> Exception:
        """A failure of the library in our words."""
        if not isinstance(error, self._errors.APIStatusError):
            lost = AnswerLost(self._unusable(subject, error.__cause__ or error))
            return TryAgain(lost, is_too_fast=False) if is_reading else lost
        status, url = error.status_code, self._settings.cloudflare_url
        said = f"Cloudflare at {url} answered {status} when asked for {subject}: {_said_in(error)}"
        if status >= _SERVER_ERROR:
            return TryAgain(AnswerLost(said), is_too_fast=False) if is_reading else AnswerLost(said)
        refusal = Refusal(_with_advice(status, said), is_for_all=status in _WHATEVER_THE_RECORDS)
        if status == _TOO_MANY:
            return TryAgain(refusal, retry_after_seconds(error.response.headers.get("Retry-After")))
        return refusal

    def _unusable(self, subject: str, reason: object) -> str:
        url = self._settings.cloudflare_url
        return f"Cloudflare at {url} gave no usable answer when asked for {subject}: {reason}"


@contextlib.asynccontextmanager
async def api(settings: CloudflareSettings, limiter: RateLimiter) -> AsyncIterator[Api]:
    """The API for some calls that belong together. Raises: Refusal if the file with the token cannot be read."""
    client = library().AsyncCloudflare(
        api_token=_token(settings.cloudflare_api_token),
        base_url=settings.cloudflare_url,
        timeout=settings.cloudflare_timeout,
        max_retries=0,  # the library would repeat batches too, and knows nothing of our other calls
    )
    async with client:
        yield Api(settings, client, limiter)


def _token(setting: str) -> str:
    """The token, read anew each time where it is in a file: whoever rotates it need not restart gatepost."""
    if not setting.startswith(_FROM_FILE):
        return setting
    try:
        return Path(setting.removeprefix(_FROM_FILE)).read_text().strip()
    except OSError as error:
        raise Refusal(f"--cloudflare-api-token: the file cannot be read: {error}", is_for_all=True) from error


def _said_in(error: Any) -> str:
    told = [f"{item.message} (code {item.code})" for item in error.errors or () if getattr(item, "message", "")]
    return "; ".join(told) or str(error.message)


def _with_advice(status: int, said: str) -> str:
    if status in (401, 403):
        return f"{said}; check --cloudflare-api-token, which needs Zone Read and DNS Edit"
    if status == _TOO_MANY:
        return f"{said}; the rate limit is used up, what was not made is tried again later"
    return said
