"""Keeps a sink up to date with all objects of one kind: list, watch, resume, list again and compare.

look for a served version -> list in pages -> watch from the list's revision -> (connection lost) watch from the last
revision -> (410: too old) list again; what is missing in the new list was deleted meanwhile
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from gatepost.cluster.backoff import Backoff
from gatepost.cluster.client import Client
from gatepost.cluster.decoding import ObjectDecoder, Page, WatchEvent, event_in, head_in, page_in
from gatepost.cluster.discovery import Discovery, ServedKind
from gatepost.cluster.errors import ApiError, ClusterError, api_error
from gatepost.cluster.errors import Unreachable as UnreachableError
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Problem, UnreadableObject
from gatepost.objects.refs import GroupKind, Ref

PAGE_SIZE = 500
WATCH_SECONDS = (240, 480)
"""How long one watch lasts, drawn between the two so that the watches of many kinds do not end together."""
LOOK_AGAIN_SECONDS = 30.0
"""When a kind that the cluster does not serve is looked for again."""

EMPTY_AGAIN_SECONDS = 5.0
"""When a list is read again that has lost all of its objects."""


class WatchedKind(Struct, frozen=True):
    """What to watch.

    Attributes:
        type: the struct to decode into.
        versions: those that `type` can read, the preferred one first; others are taken if only they are served.
        namespace: "" for all.
        keep_raw: whether the bytes of an object are handed on too: for objects that gatepost may write.
        whole: whether Routes keep their rules.
    """

    group_kind: GroupKind
    type: type[KubernetesObject]
    versions: tuple[str, ...] = ()
    namespace: str = ""
    keep_raw: Callable[[KubernetesObject], bool] = lambda _: False
    whole: bool = False


class Sink(Protocol):
    """Where the objects of all kinds go."""

    def put(self, ref: Ref, obj: KubernetesObject, raw: bytes | None) -> None:
        """An object as it is now."""
        ...

    def remove(self, ref: Ref) -> None:
        """An object is certainly gone."""
        ...

    def unreadable(self, problem: Problem) -> None:
        """An object has a form that cannot be understood; what was known of it before still counts."""
        ...

    def complete(self, group_kind: GroupKind) -> None:
        """All objects of the kind are in. Comes again after each new list."""
        ...

    def missing(self, group_kind: GroupKind) -> None:
        """The cluster does not serve the kind. Objects of it that were known are in doubt, not gone."""
        ...

    def failing(self, group_kind: GroupKind, error: ClusterError) -> None:
        """The kind cannot be read for now; it is tried again."""
        ...

    def recovered(self, group_kind: GroupKind) -> None:
        """A kind that was complete and then failed is followed again; nothing of it was missed."""
        ...


class Reflector:
    """Feeds one kind into a sink, for ever. `known` are the objects that the sink has from here."""

    def __init__(self, client: Client, discovery: Discovery, watched: WatchedKind, sink: Sink) -> None:
        self._client = client
        self._discovery = discovery
        self._watched = watched
        self._sink = sink
        self._decoder: ObjectDecoder[Any] = ObjectDecoder(watched.group_kind, watched.type, whole=watched.whole)
        self._backoff = Backoff(0.5, 30.0)
        self._revision = ""
        self._watch_failed = False
        self.known: set[Ref] = set()

    async def run(self) -> None:
        """Runs until it is cancelled. No failure of the cluster ends it."""
        while True:
            try:
                served = await self._served()
                await self._list(served)
                self._sink.complete(self._watched.group_kind)
                await self._watch_until_expired(served)
            except ClusterError as error:
                self._discovery.forget(self._watched.group_kind.group)
                if not (isinstance(error, ApiError) and error.code == 404):  # else it is missing: looked up next
                    self._sink.failing(self._watched.group_kind, error)
                await self._client.wait(self._delay_after(error))

    async def _served(self) -> ServedKind:
        while True:
            served = await self._discovery.find(self._watched.group_kind, self._watched.versions)
            if served is not None:
                return served
            self._sink.missing(self._watched.group_kind)
            await self._client.wait(LOOK_AGAIN_SECONDS)
            self._discovery.forget(self._watched.group_kind.group)

    def _delay_after(self, error: ClusterError) -> float:
        asked = error.retry_after_seconds if isinstance(error, ApiError) else None
        return max(self._backoff.next_seconds(), asked or 0.0)

    # Listing

    async def _list(self, served: ServedKind) -> None:
        """Hands the whole list on; then removes what was known and is not in it."""
        path = served.path(self._watched.namespace)
        seen = await self._read_list(path)
        if not seen:
            if self.known:
                # Everything gone at once is more often a server that lost its storage for a moment than the truth.
                await self._client.wait(EMPTY_AGAIN_SECONDS)
            # Who starts knows of nothing that could be gone, but DNS may hold records of objects that were there.
            seen = await self._read_list(path)
        for ref in self.known - seen:
            self._sink.remove(ref)
        self.known = seen
        self._watch_failed = False
        self._backoff.reset()

    async def _read_list(self, path: str) -> set[Ref]:
        """Hands the objects of a whole list on. Returns: which they are."""
        seen: set[Ref] = set()
        page = await self._page(path, "")
        while page.metadata.continue_:
            # The next page is on its way while this one is decoded.
            coming = asyncio.create_task(self._page(path, page.metadata.continue_))
            try:
                await asyncio.sleep(0)
                seen.update(self._take_in(raw) for raw in page.items)
                page = await coming
            finally:
                coming.cancel()
        seen.update(self._take_in(raw) for raw in page.items)
        self._revision = page.metadata.resource_version
        return seen

    async def _page(self, path: str, token: str) -> Page:
        params = {"limit": str(PAGE_SIZE)}
        if token:
            params["continue"] = token
        answer = await self._client.read(path, params)
        try:
            return page_in(answer)
        except msgspec.DecodeError as error:
            raise UnreachableError(f"GET {path}: the answer is cut or no list ({error})") from error

    def _take_in(self, raw: msgspec.Raw) -> Ref:
        try:
            ref, obj = self._decoder.decode(raw)
        except UnreadableObject as error:
            self._sink.unreadable(error.problem)
            return error.problem.about
        self._sink.put(ref, obj, bytes(raw) if self._watched.keep_raw(obj) else None)
        return ref

    # Watching

    async def _watch_until_expired(self, served: ServedKind) -> None:
        """Returns when the server no longer knows the last revision. A lost connection is resumed where it was lost."""
        while True:
            try:
                came = await self._watch(served)
            except ApiError as error:
                if error.is_expired:
                    return
                if error.code == 404:
                    raise
                await self._wait_after(error)
            except UnreachableError:
                await self._client.wait(self._backoff.next_seconds())
            except ClusterError as error:
                await self._wait_after(error)
            else:
                if not came:  # a server that hangs up at once must not be called in a tight loop
                    await self._client.wait(self._backoff.next_seconds())

    async def _wait_after(self, error: ClusterError) -> None:
        self._watch_failed = True
        self._sink.failing(self._watched.group_kind, error)
        await self._client.wait(self._delay_after(error))

    async def _watch(self, served: ServedKind) -> bool:
        """Follows one watch to its end. Returns: whether anything came, a bookmark included."""
        seconds = random.randint(*WATCH_SECONDS)
        params = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._revision,
            "timeoutSeconds": str(seconds),
        }
        path = served.path(self._watched.namespace)
        came = False
        async with self._client.lines(path, params, silence_seconds=seconds + 15.0) as batches:
            if self._watch_failed:
                self._watch_failed = False
                self._sink.recovered(self._watched.group_kind)
            async for lines in batches:
                for line in lines:
                    self._follow(line)
                came = True
                self._backoff.reset()
        return came

    def _follow(self, line: bytes) -> None:
        try:
            event = event_in(line)
            if event.type == "ERROR":
                raise api_error(0, bytes(event.object))
            metadata = head_in(event.object).metadata
        except msgspec.DecodeError as error:
            raise UnreachableError(f"a watch of {self._watched.group_kind} broke off within an event") from error
        if event.type != "BOOKMARK":
            self._apply(event, self._decoder.ref(metadata.namespace, metadata.name))
        self._revision = metadata.resource_version or self._revision

    def _apply(self, event: WatchEvent, ref: Ref) -> None:
        if event.type == "DELETED":
            self.known.discard(ref)
            self._sink.remove(ref)
        else:
            self.known.add(self._take_in(event.object))
