"""Calls of Cloudflare's official library, and what their failures mean."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from gatepost.providers.cloudflare.records import Operations
from gatepost.providers.cloudflare.settings import CloudflareSettings

_TRIES_AGAIN = 3  # the library itself waits as long as Retry-After says, and backs off where it says nothing
_ZONES_PER_PAGE = 50
_FROM_FILE = "file:"
_WHATEVER_THE_RECORDS = (401, 403, 404, 405, 429)


class ApiRefusal(Exception):
    """Cloudflare said no, and changed nothing. `is_for_all`: it says so whatever the records are."""

    def __init__(self, message: str, *, is_for_all: bool) -> None:
        super().__init__(message)
        self.is_for_all = is_for_all


class ApiUnreachable(Exception):
    """Cloudflare gave no usable answer in several tries; if changes were sent, they may have been made."""


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

    def __init__(self, settings: CloudflareSettings, client: Any) -> None:
        self._settings = settings
        self._client = client
        self._errors = library()

    async def zones(self) -> dict[str, str]:
        """The ids of all zones that the token reaches, by their names. Raises: ApiRefusal, ApiUnreachable"""
        async with self._told("its zones"):
            return {
                zone.name.lower(): zone.id for zone in await _all(self._client.zones.list(per_page=_ZONES_PER_PAGE))
            }
        raise AssertionError  # what goes wrong above is raised

    async def records(self, zone_id: str, name: str = "") -> list[Any]:
        """All records of a zone, or those of one name. Raises: ApiRefusal, ApiUnreachable"""
        asked: dict[str, Any] = {"zone_id": zone_id, "per_page": self._settings.cloudflare_dns_records_per_page}
        if name:
            asked["name"] = {"exact": name}
        async with self._told("records"):
            return await _all(self._client.dns.records.list(**asked))
        raise AssertionError  # what goes wrong above is raised

    async def write(self, zone_id: str, wanted: Operations) -> None:
        """Makes all of these changes, or none: deletions first. Raises: ApiRefusal, ApiUnreachable"""
        parts = {"deletes": wanted.deletes, "patches": wanted.patches, "posts": wanted.posts}
        sent = {name: list(part) for name, part in parts.items() if part}
        if sent:
            async with self._told("changes"):
                await self._client.dns.records.batch(zone_id=zone_id, **sent)

    @contextlib.asynccontextmanager
    async def _told(self, subject: str) -> AsyncIterator[None]:
        """Turns the failures of the library into ours."""
        at = f"Cloudflare at {self._settings.cloudflare_url}"
        try:
            yield
        except self._errors.APIStatusError as error:
            said = f"{at} answered {error.status_code} when asked for {subject}: {_said_in(error)}"
            if error.status_code >= 500:
                raise ApiUnreachable(said) from error
            is_for_all = error.status_code in _WHATEVER_THE_RECORDS
            raise ApiRefusal(_with_advice(error.status_code, said), is_for_all=is_for_all) from error
        except (self._errors.CloudflareError, _Incomplete, ValueError) as error:
            reason = error.__cause__ or error
            raise ApiUnreachable(f"{at} gave no usable answer when asked for {subject}: {reason}") from error


@contextlib.asynccontextmanager
async def api(settings: CloudflareSettings) -> AsyncIterator[Api]:
    """The API for some calls that belong together. Raises: ApiRefusal if the file with the token cannot be read."""
    client = library().AsyncCloudflare(
        api_token=_token(settings.cloudflare_api_token),
        base_url=settings.cloudflare_url,
        timeout=settings.cloudflare_timeout,
        max_retries=_TRIES_AGAIN,
    )
    async with client:
        yield Api(settings, client)


class _Incomplete(Exception):
    """Fewer records came than the listing promised."""


async def _all(listing: Any) -> list[Any]:
    """Every item of a listing in pages, each once. Raises: _Incomplete if there should have been more."""
    first = await listing
    items = {item.id: item async for item in first}
    promised = getattr(first.result_info, "total_count", None)
    if promised is not None and len(items) < promised:
        raise _Incomplete(f"of {int(promised)} that it counted, {len(items)} came")
    return list(items.values())


def _token(setting: str) -> str:
    """The token, read anew each time where it is in a file: whoever rotates it need not restart gatepost."""
    if not setting.startswith(_FROM_FILE):
        return setting
    try:
        return Path(setting.removeprefix(_FROM_FILE)).read_text().strip()
    except OSError as error:
        raise ApiRefusal(f"--cloudflare-api-token: the file cannot be read: {error}", is_for_all=True) from error


def _said_in(error: Any) -> str:
    told = [f"{item.message} (code {item.code})" for item in error.errors or () if getattr(item, "message", "")]
    return "; ".join(told) or str(error.message)


def _with_advice(status: int, said: str) -> str:
    if status in (401, 403):
        return f"{said}; check --cloudflare-api-token, which needs Zone Read and DNS Edit"
    if status == 429:
        return f"{said}; the rate limit is used up, what was not made is tried again later"
    return said
