"""A watch: changes of one kind as lines of JSON, until the client leaves or its time is over.

Source: kubernetes.io/docs/reference/using-api/api-concepts, "Efficient detection of changes" and "Streaming lists".
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable

import msgspec
from aiohttp import web

from gatepost.kubernetes.errors import ApiError
from gatepost.kubernetes.values import Raw
from gatepost.standalone.apiserver.forms import Shown, error_event
from gatepost.standalone.apiserver.history import History, Recorded
from gatepost.standalone.apiserver.negotiation import PLAIN

_CHUNK_BYTES = 256 * 1024


class Watch(msgspec.Struct):
    """What a client watches.

    `initial` are the objects to begin with as ADDED, None if the client has listed them itself; `start` is the
    resourceVersion after which changes follow. `streams_list` ends the initial objects with a bookmark.
    """

    shown: Shown
    namespace: str
    matches: Callable[[Raw], bool]
    start: int
    initial: list[Raw] | None
    streams_list: bool
    bookmarks: bool
    timeout_seconds: float
    bookmark_seconds: float
    is_served: Callable[[], bool] = lambda: True
    """Whether the kind is still served in this version; when it no longer is, the watch ends."""

    def line(self, change: Recorded) -> bytes:
        """The change as this client sees it; empty if it does not concern it.

        An object that begins to match the selectors is ADDED for it, one that no longer matches is DELETED.
        """
        if change.group_kind != self.shown.resource.group_kind:
            return b""
        was = change.before is not None and self._selects(change.before)
        now = change.after is not None and self._selects(change.after)
        if now and change.after is not None:
            return self._encoded("MODIFIED" if was else "ADDED", change, change.after)
        if was and change.before is not None:
            return self._encoded("DELETED", change, _last_state(change.before, change.resource_version))
        return b""

    def _selects(self, raw: Raw) -> bool:
        if self.namespace and raw["metadata"].get("namespace") != self.namespace:
            return False
        return self.matches(raw)

    def _encoded(self, type_: str, change: Recorded, raw: Raw) -> bytes:
        if self.shown.form != PLAIN:
            return self.shown.event(type_, raw)
        key = f"{type_} {self.shown.api_version}"
        line = change.encoded.get(key)
        if line is None:
            line = change.encoded[key] = self.shown.event(type_, raw)
        return line


async def stream(request: web.Request, watch: Watch, history: History) -> web.StreamResponse:
    """Answers the request with the watch."""
    response = web.StreamResponse(
        headers={"Content-Type": watch.shown.form.content_type, "Cache-Control": "no-cache, private"}
    )
    try:
        await response.prepare(request)
        await _send_initial(response, watch)
        await _send_changes(response, watch, history)
        await response.write_eof()
    except ConnectionError:
        pass  # the client has left, which is how most watches end
    return response


async def _send_initial(response: web.StreamResponse, watch: Watch) -> None:
    # The first bytes at once: clients wait for the head of the answer before they do anything else.
    await _send(response, (watch.shown.event("ADDED", raw) for raw in watch.initial or ()))
    if watch.streams_list:
        await response.write(watch.shown.bookmark(watch.start, ends_initial_events=True))


async def _send_changes(response: web.StreamResponse, watch: Watch, history: History) -> None:
    position = watch.start
    end = time.monotonic() + watch.timeout_seconds
    next_bookmark = time.monotonic() + watch.bookmark_seconds
    while not history.is_closed:
        arrival = history.arrival
        try:
            changes = history.after(position)
        except ApiError as error:
            await response.write(error_event(error.status()))
            return
        if changes:
            position = changes[-1].resource_version
            await _send(response, filter(None, (watch.line(change) for change in changes)))
        if changes and not watch.is_served():
            return
        now = time.monotonic()
        if watch.bookmarks and now >= min(next_bookmark, end):
            await response.write(watch.shown.bookmark(position))
            next_bookmark = now + watch.bookmark_seconds
        if now >= end:
            return
        if not changes:
            await _set_or_due(arrival, min(end, next_bookmark) - now if watch.bookmarks else end - now)


async def _set_or_due(arrival: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await arrival.wait()
    except TimeoutError:
        return


async def _send(response: web.StreamResponse, lines: Iterable[bytes]) -> None:
    """Writes lines in chunks; a full socket makes this wait, while the history goes on."""
    chunk: list[bytes] = []
    size = 0
    for line in lines:
        chunk.append(line)
        size += len(line)
        if size > _CHUNK_BYTES:
            await response.write(b"".join(chunk))
            chunk, size = [], 0
    if chunk:
        await response.write(b"".join(chunk))


def _last_state(raw: Raw, resource_version: int) -> Raw:
    return {**raw, "metadata": {**raw["metadata"], "resourceVersion": str(resource_version)}}
