"""What a running process tells others about itself over HTTP: `/healthz`, `/readyz` and `/metrics`.

| page       | answer                                                                                |
| ---        | ---                                                                                   |
| `/healthz` | 200 as long as the event loop turns                                                   |
| `/readyz`  | 200, or 503 with a line for each thing that is missing; see `Loop.missing`            |
| `/metrics` | the text format of Prometheus; see `metrics`                                          |
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from aiohttp import web

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Missing = Callable[[], Sequence[str]]


def status_pages(metrics: Callable[[], bytes], missing: Missing | None = None) -> web.Application:
    """The application; it listens nowhere yet.

    Args:
        metrics: gives the text of the metrics.
        missing: what is missing until the process is ready; without it `/readyz` is not served.
    """

    async def healthy(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def measured(_: web.Request) -> web.Response:
        return web.Response(body=metrics(), headers={"Content-Type": METRICS_TYPE})

    app = web.Application()
    app.router.add_get("/healthz", healthy)
    app.router.add_get("/metrics", measured)
    if missing is not None:
        app.router.add_get("/readyz", _readiness(missing))
    return app


def _readiness(missing: Missing) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def ready(_: web.Request) -> web.Response:
        found = missing()
        text = "".join(f"{line}\n" for line in found) or "ok\n"
        return web.Response(text=text, status=503 if found else 200)

    return ready
