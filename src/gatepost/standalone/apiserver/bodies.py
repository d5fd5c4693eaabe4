"""Request bodies: decoded by their content type, or refused with the status that clients understand."""

from __future__ import annotations

from typing import Any

import msgspec
from aiohttp import web

from gatepost.kubernetes.errors import ApiError, bad_request
from gatepost.kubernetes.values import Raw
from gatepost.manifests.documents import Document, decoded
from gatepost.manifests.parse import parse_yaml
from gatepost.manifests.problems import Refused
from gatepost.standalone.apiserver.protobuf import CONTENT_TYPE, UnreadableProtobuf, object_from_protobuf

LIMIT_BYTES = 3 * 1024 * 1024
"""What kube-apiserver takes as well."""

JSON_TYPES = ("application/json", "")
YAML_TYPES = ("application/yaml",)
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PATCHES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)


def media_type(request: web.Request) -> str:
    """The content type of the request without parameters; "" if it says none."""
    return request.headers.get("Content-Type", "").partition(";")[0].strip().lower()


async def object_body(request: web.Request) -> Raw:
    """The object in the body: JSON, YAML, or one of the few in protobuf that are known.

    Raises: ApiError 415 for another content type (and for most of protobuf), 413 for too much, 400 for broken content.
    """
    kind = media_type(request)
    content = await _content(request)
    if kind in JSON_TYPES:
        value = _json(content)
    elif kind in YAML_TYPES:
        value = _yaml(content)
    elif kind == CONTENT_TYPE:
        value = _protobuf(content)
    else:
        raise unsupported(kind, (*JSON_TYPES[:1], *YAML_TYPES))
    if not isinstance(value, dict):
        raise bad_request(f"the body is a {type(value).__name__}, wanted an object")
    return value


async def optional_body(request: web.Request) -> Raw:
    """The object in the body; an empty one if the body is empty."""
    content = await _content(request)
    return await object_body(request) if content.strip() else {}


async def patch_body(request: web.Request) -> tuple[str, Any]:
    """The content type of a patch, and the patch.

    Raises: ApiError 415 for a content type that is no patch, 413 and 400 as for objects.
    """
    kind = media_type(request)
    if kind not in PATCHES:
        raise unsupported(kind, PATCHES)
    content = await _content(request)
    return kind, _yaml(content) if kind == APPLY_PATCH else _json(content)


def unsupported(kind: str, wanted: tuple[str, ...]) -> ApiError:
    message = (
        f"the body of the request was in an unknown format ({kind or 'no content type'}) - "
        f"accepted media types include: {', '.join(wanted)}"
    )
    return ApiError(415, "UnsupportedMediaType", message)


async def _content(request: web.Request) -> bytes:
    try:
        return await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        message = f"Request entity too large: limit is {LIMIT_BYTES}"
        raise ApiError(413, "RequestEntityTooLarge", message) from error


def _protobuf(content: bytes) -> Any:
    try:
        return object_from_protobuf(content)
    except UnreadableProtobuf as error:
        message = f"this body in {CONTENT_TYPE} cannot be read, {error}; accepted media types include: application/json"
        raise ApiError(415, "UnsupportedMediaType", message) from error


def _json(content: bytes) -> Any:
    try:
        return msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        raise bad_request(f"the body is not JSON: {error}") from error
    except RecursionError as error:
        raise bad_request("the body is nested too deeply") from error


def _yaml(content: bytes) -> Any:
    # client-go sends JSON here, which is the faster to read; people and scripts send YAML.
    if content.lstrip()[:1] == b"{":
        try:
            return msgspec.json.decode(content)
        except msgspec.DecodeError:
            pass  # YAML flow style looks like this too
    document = Document("the body", 1, content)
    try:
        return parse_yaml(document, decoded(document)).value
    except Refused as error:
        fault = error.fault
        raise bad_request(f"the body, line {fault.line}: found {fault.found}, wanted {fault.wanted}") from error
