"""Answers as HTTP: JSON with the right content type, warnings in headers, and every error as a metav1.Status."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

import msgspec
from aiohttp import web

from gatepost.kubernetes.errors import ApiError
from gatepost.standalone.apiserver.errors import DataDirUnusable
from gatepost.standalone.apiserver.negotiation import JSON

log = logging.getLogger(__name__)

_encode = msgspec.json.Encoder().encode
_HTTP_REASONS = {405: "MethodNotAllowed", 404: "NotFound", 413: "RequestEntityTooLarge"}


def json_answer(
    value: Any, status: int = 200, *, content_type: str = JSON, warnings: Iterable[str] = ()
) -> web.Response:
    """The value as JSON. Each warning becomes a Warning header, which kubectl prints."""
    answer = web.Response(body=_encode(value), status=status, headers={"Content-Type": content_type})
    answer.headers["Cache-Control"] = "no-cache, private"
    for warning in warnings:
        answer.headers.add("Warning", _warning_header(warning))
    return answer


def status_answer(error: ApiError) -> web.Response:
    answer = json_answer(error.status(), error.code)
    if error.retry_after_seconds:
        answer.headers["Retry-After"] = str(error.retry_after_seconds)
    return answer


@web.middleware
async def local_only(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Refuses what a web page in a browser may send to this address.

    The server has no authentication. A page on a foreign host could otherwise write to it (its requests carry an
    Origin), or read from it by letting its own name resolve to 127.0.0.1 (its requests carry that name as Host).
    """
    origin = request.headers.get("Origin")
    if not is_loopback(_host_of(f"//{request.host}")) or (origin is not None and not is_loopback(_host_of(origin))):
        message = f"only requests from this machine are answered, not for host {request.host!r} from origin {origin!r}"
        return status_answer(ApiError(403, "Forbidden", message))
    return await handler(request)


def is_loopback(host: str) -> bool:
    """Whether a host is an address that only this machine reaches."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@web.middleware
async def errors_as_status(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Turns whatever goes wrong into the Status that clients read. What is our own fault is logged with its trace."""
    try:
        return await handler(request)
    except ApiError as error:
        return status_answer(error)
    except web.HTTPException as error:
        reason = _HTTP_REASONS.get(error.status, "BadRequest")
        return status_answer(ApiError(error.status, reason, error.text or error.reason))
    except DataDirUnusable as error:
        return status_answer(internal_error(str(error)))
    except ConnectionError:
        return web.Response()  # the client has left; nobody reads it, but aiohttp would log an error that it is given
    except Exception as error:
        log.exception("request failed", extra={"method": request.method, "path": request.path})
        return status_answer(internal_error(f"{type(error).__name__} (the server's log has more)"))


def internal_error(why: str) -> ApiError:
    return ApiError(500, "InternalError", f"Internal error occurred: {why}")


def page_not_found() -> ApiError:
    return ApiError(404, "NotFound", "the server could not find the requested resource")


def method_not_allowed() -> ApiError:
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _warning_header(text: str) -> str:
    # RFC 9110 allows neither line breaks nor, without escapes, quotes and backslashes in a quoted string.
    flat = " ".join(text.split())
    quoted = flat.replace("\\", "\\\\").replace('"', '\\"')
    ascii_only = quoted.encode("ascii", "replace").decode()
    return f'299 - "{ascii_only}"'
