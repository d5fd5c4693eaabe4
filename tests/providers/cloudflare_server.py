"""A small Cloudflare on loopback: zones and records in pages, and batches made whole or not at all."""

from __future__ import annotations

import contextlib
import copy
import itertools
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import web

TOKEN = "token-of-the-tests"


class Refused(Exception):
    """What the server does not take: a code and a message, as Cloudflare words them."""


class CloudflareServer:
    """Its state is open to tests: `records` by zone id, `refuse` and `sick` to make it say no.

    Attributes:
        refuse: contents that no record may have.
        limited: how many of the next calls are answered 429, with `retry_after`.
        sick: paths (their ends) that are answered with a status.
        lost: path ends whose call is made, and then answered with 502.
    """

    def __init__(self, *zones: str) -> None:
        self.zones = {f"id-of-{name}": name for name in zones}
        self.records: dict[str, list[dict[str, Any]]] = {zone_id: [] for zone_id in self.zones}
        self.refuse: set[str] = set()
        self.limited = 0
        self.retry_after = "0.01"
        self.sick: dict[str, int] = {}
        self.lost: set[str] = set()
        self.hidden = 0  # how many records of each listing it counts and does not give
        self.calls: list[str] = []
        self.batches: list[int] = []  # the number of records in each
        self.url = ""
        self._ids = itertools.count(1)

    def put(self, zone: str, **record: Any) -> dict[str, Any]:
        """Somebody else writes a record."""
        stored = {"id": f"r{next(self._ids)}", "ttl": 1, "proxied": False, "comment": None, "tags": [], **record}
        self.records[f"id-of-{zone}"].append(stored)
        return stored

    def held(self, zone: str) -> list[dict[str, Any]]:
        """The records of a zone without their ids, by name and content."""
        rows = [{k: v for k, v in record.items() if k != "id"} for record in self.records[f"id-of-{zone}"]]
        return sorted(rows, key=lambda row: (row["name"], row["type"], str(row.get("content", row.get("data")))))

    def application(self) -> web.Application:
        app = web.Application(middlewares=[self._gate])
        app.router.add_get("/client/v4/zones", self._list_zones)
        app.router.add_get("/client/v4/zones/{zone}/dns_records", self._list_records)
        app.router.add_post("/client/v4/zones/{zone}/dns_records/batch", self._batch)
        return app

    @web.middleware
    async def _gate(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.calls.append(f"{request.method} {request.path_qs.removeprefix('/client/v4')}")
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return _failure(403, 9109, "Invalid access token")
        if self.limited:
            self.limited -= 1
            said = "Please wait and consider throttling your request speed"
            return _failure(429, 971, said, {"Retry-After": self.retry_after})
        for end, status in self.sick.items():
            if request.path.endswith(end):
                return _failure(status, 10000, "out of order", {"x-should-retry": "false"})
        answer: web.StreamResponse = await handler(request)
        if any(request.path.endswith(end) for end in self.lost):
            return _failure(502, 10001, "bad gateway", {"x-should-retry": "false"})
        return answer

    async def _list_zones(self, request: web.Request) -> web.Response:
        return self._page(request, [{"id": zone_id, "name": name} for zone_id, name in self.zones.items()])

    async def _list_records(self, request: web.Request) -> web.Response:
        name = request.query.get("name.exact")
        records = self.records[request.match_info["zone"]]
        return self._page(request, [r for r in records if name is None or r["name"] == name], self.hidden)

    async def _batch(self, request: web.Request) -> web.Response:
        body, zone = await request.json(), request.match_info["zone"]
        draft = copy.deepcopy(self.records[zone])
        self.batches.append(sum(map(len, body.values())))
        try:
            if self.batches[-1] > 200:
                raise Refused("A batch of this plan holds 200 records at most.")
            for deleted in body.get("deletes", ()):
                draft.remove(self._found(draft, deleted["id"]))
            for patch in body.get("patches", ()):
                self._found(draft, patch["id"]).update(patch)
            for post in body.get("posts", ()):
                self._add(draft, post)
        except Refused as refusal:
            return _failure(400, 81058, str(refusal))
        self.records[zone] = draft
        return _success({"deletes": [], "patches": [], "posts": [], "puts": []})

    def _found(self, records: list[dict[str, Any]], id_: str) -> dict[str, Any]:
        for record in records:
            if record["id"] == id_:
                return record
        raise Refused("Record does not exist.")

    def _add(self, records: list[dict[str, Any]], post: dict[str, Any]) -> None:
        if post.get("content") in self.refuse:
            raise Refused(f"Content {post['content']} is not allowed.")
        others = [record["type"] for record in records if record["name"] == post["name"]]
        if others and "CNAME" in (post["type"], *others):
            raise Refused("A CNAME record with that host already exists beside others.")
        records.append({"id": f"r{next(self._ids)}", "proxied": False, "comment": None, "tags": [], **post})

    def _page(self, request: web.Request, items: list[dict[str, Any]], hidden: int = 0) -> web.Response:
        page, size = int(request.query.get("page", 1)), int(request.query["per_page"])
        counted = {"page": page, "per_page": size, "total_count": len(items)}
        shown = items[: len(items) - hidden]
        return _success(shown[(page - 1) * size : page * size], counted)


def _success(result: Any, counted: dict[str, int] | None = None) -> web.Response:
    return web.json_response(
        {
            "success": True,
            "errors": [],
            "messages": [],
            "result": result,
            **({"result_info": counted} if counted else {}),
        }
    )


def _failure(status: int, code: int, message: str, headers: dict[str, str] | None = None) -> web.Response:
    body = {"success": False, "errors": [{"code": code, "message": message}], "messages": [], "result": None}
    return web.json_response(body, status=status, headers=headers)


@contextlib.asynccontextmanager
async def serving(*zones: str) -> AsyncIterator[CloudflareServer]:
    """A server with these zones, empty, until the end of the block."""
    server = CloudflareServer(*zones)
    runner = web.AppRunner(server.application())
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.url = f"http://{host}:{port}/client/v4"
    try:
        yield server
    finally:
        await runner.cleanup()
