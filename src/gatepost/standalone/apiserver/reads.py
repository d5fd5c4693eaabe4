"""GET of an object, a list, or a watch."""

from __future__ import annotations

from aiohttp import web
from msgspec import Struct

from gatepost.kubernetes.errors import ApiError, not_found
from gatepost.kubernetes.values import Raw
from gatepost.standalone.apiserver.answers import json_answer
from gatepost.standalone.apiserver.forms import Shown
from gatepost.standalone.apiserver.negotiation import METADATA, METADATA_LIST, PLAIN, TABLE, Form, accepted_form
from gatepost.standalone.apiserver.options import ListOptions, include_object, list_options
from gatepost.standalone.apiserver.pages import Page, Pages
from gatepost.standalone.apiserver.storage import Storage
from gatepost.standalone.apiserver.targets import Target
from gatepost.standalone.apiserver.watches import Watch, stream

_OBJECT_FORMS = (PLAIN, TABLE, METADATA)
_LIST_FORMS = (PLAIN, TABLE, METADATA_LIST)
_WATCH_FORMS = (PLAIN, TABLE, METADATA)


class Reads(Struct):
    """Answers to reads."""

    storage: Storage
    pages: Pages
    bookmark_seconds: float

    async def one(self, request: web.Request, target: Target) -> web.Response:
        shown = _shown(request, target, _OBJECT_FORMS)
        raw = self.storage.find(target.ref)
        if raw is None:
            raise not_found(target.resource.group, target.resource.plural, target.name)
        return json_answer(shown.one(raw), content_type=shown.form.content_type, warnings=target.warnings)

    async def many(self, request: web.Request, target: Target) -> web.StreamResponse:
        options = list_options(request.query, target.selectable_fields)
        if options.watch:
            return await self._watch(request, target, options)
        shown = _shown(request, target, _LIST_FORMS)
        page = self._page(request, target, options)
        metadata: Raw = {"resourceVersion": str(page.resource_version)}
        if page.next:
            metadata["continue"] = page.next
            if not options.selects:
                metadata["remainingItemCount"] = page.remaining
        content_type = shown.form.content_type
        return json_answer(shown.many(page.objects, metadata), content_type=content_type, warnings=target.warnings)

    def _page(self, request: web.Request, target: Target, options: ListOptions) -> Page:
        selectors = [request.query.get(name, "") for name in ("labelSelector", "fieldSelector")]
        path = "|".join((request.path, *selectors))
        if options.continue_token:
            return self.pages.next(options.continue_token, options.limit, path)
        wanted = int(options.resource_version or 0)
        self._refuse_other_versions(wanted, exact=options.resource_version_match == "Exact")
        objects = self.storage.select(target.resource.group_kind, target.namespace, options.matches)
        return self.pages.first(self.storage.version, objects, options.limit, path)

    async def _watch(self, request: web.Request, target: Target, options: ListOptions) -> web.StreamResponse:
        shown = _shown(request, target, _WATCH_FORMS)
        wanted = int(options.resource_version or 0)
        self._refuse_other_versions(wanted, exact=False)
        initial: list[Raw] | None = None
        start = self.storage.version
        if options.send_initial_events or (options.send_initial_events is None and not wanted):
            initial = self.storage.select(target.resource.group_kind, target.namespace, options.matches)
        elif wanted:
            start = wanted
            self.storage.history.after(wanted)  # too old: the client hears it as the answer, not in the stream
        watch = Watch(
            shown=shown,
            namespace=target.namespace,
            matches=options.matches,
            start=start,
            initial=initial,
            streams_list=bool(options.send_initial_events),
            bookmarks=options.bookmarks,
            timeout_seconds=options.timeout_seconds,
            bookmark_seconds=self.bookmark_seconds,
            is_served=lambda: self._is_served(target),
        )
        return await stream(request, watch, self.storage.history)

    def _is_served(self, target: Target) -> bool:
        resource = target.resource
        return self.storage.resources.at(resource.group, target.version.name, resource.plural) is not None

    def _refuse_other_versions(self, wanted: int, *, exact: bool) -> None:
        """410 for a version of the future (a server that lost its memory) and, if exact, for one of the past."""
        if wanted > self.storage.version or (exact and wanted != self.storage.version):
            message = f"resource version {wanted} is not served, the latest is {self.storage.version}"
            raise ApiError(410, "Expired", message)


def _shown(request: web.Request, target: Target, offered: tuple[Form, ...]) -> Shown:
    form = accepted_form(request.headers.get("Accept", ""), offered)
    return Shown(target.resource, target.version, form, include_object(request.query))
