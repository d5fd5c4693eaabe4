"""Lists in pages: every page of one list shows the same moment, whatever is written in between."""

from __future__ import annotations

import base64
from collections import OrderedDict
from collections.abc import Callable

import msgspec

from gatepost.kubernetes.errors import ApiError, bad_request
from gatepost.kubernetes.values import Raw

KEPT_LISTS = 64
KEPT_SECONDS = 300.0


class _Snapshot(msgspec.Struct):
    resource_version: int
    objects: list[Raw]
    until: float


class _Token(msgspec.Struct):
    list: int
    start: int
    path: str


class Page(msgspec.Struct):
    """One page. `next` is the token for the one after it, "" on the last; `remaining` counts what comes after."""

    resource_version: int
    objects: list[Raw]
    next: str = ""
    remaining: int = 0


class Pages:
    """The lists that clients are in the middle of.

    A snapshot holds references to stored objects, which are replaced and never changed, so it costs little.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._snapshots: OrderedDict[int, _Snapshot] = OrderedDict()
        self._last_id = 0

    def first(self, resource_version: int, objects: list[Raw], limit: int, path: str) -> Page:
        """The first page of a list; all of it with limit 0.

        Args:
            path: what is listed and how; a token is good for the same path only.
        """
        if limit <= 0 or len(objects) <= limit:
            return Page(resource_version, objects)
        self._drop_old()
        self._last_id += 1
        self._snapshots[self._last_id] = _Snapshot(resource_version, objects, self._clock() + KEPT_SECONDS)
        return self._page(_Token(self._last_id, 0, path), limit)

    def next(self, token: str, limit: int, path: str) -> Page:
        """The page that a token stands for.

        Raises: ApiError 400 for a token that this server did not give for this path, 410 for one it no longer knows.
        """
        self._drop_old()
        try:
            wanted = msgspec.json.decode(base64.urlsafe_b64decode(token), type=_Token)
        except (ValueError, msgspec.DecodeError) as error:
            raise bad_request(f"continue key is not valid: {error}") from error
        if wanted.path != path:
            raise bad_request("continue key is not valid: it belongs to another list")
        if wanted.list not in self._snapshots:
            message = "The provided continue parameter is too old to give a consistent list. Start a new list."
            raise ApiError(410, "Expired", message)
        return self._page(wanted, limit)

    def _page(self, token: _Token, limit: int) -> Page:
        snapshot = self._snapshots[token.list]
        end = token.start + limit if limit > 0 else len(snapshot.objects)
        page = Page(snapshot.resource_version, snapshot.objects[token.start : end])
        page.remaining = max(len(snapshot.objects) - end, 0)
        if page.remaining:
            following = msgspec.json.encode(_Token(token.list, end, token.path))
            page.next = base64.urlsafe_b64encode(following).decode()
        return page

    def _drop_old(self) -> None:
        now = self._clock()
        while self._snapshots:
            oldest = next(iter(self._snapshots.values()))
            if oldest.until > now and len(self._snapshots) < KEPT_LISTS:
                return
            self._snapshots.popitem(last=False)
