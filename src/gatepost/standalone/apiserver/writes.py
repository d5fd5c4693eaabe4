"""POST, PUT, PATCH and DELETE of objects and collections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast, get_args

from aiohttp import web
from msgspec import Struct

from gatepost.kubernetes.api import ApiModel, PatchType, Written
from gatepost.kubernetes.deletion import Propagation
from gatepost.kubernetes.errors import ApiError, Cause, bad_request
from gatepost.kubernetes.values import Raw
from gatepost.kubernetes.writing import FieldValidation
from gatepost.objects.refs import Ref, api_version_of, ref_of
from gatepost.standalone.apiserver.answers import json_answer, method_not_allowed
from gatepost.standalone.apiserver.bodies import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    object_body,
    optional_body,
    patch_body,
)
from gatepost.standalone.apiserver.forms import Shown
from gatepost.standalone.apiserver.negotiation import METADATA, PLAIN, TABLE, accepted_form
from gatepost.standalone.apiserver.options import dry_run, flag, include_object, list_options, preconditions
from gatepost.standalone.apiserver.storage import Storage
from gatepost.standalone.apiserver.targets import Target

_PATCH_TYPES: dict[str, PatchType] = {
    JSON_PATCH: "json",
    MERGE_PATCH: "merge",
    STRATEGIC_PATCH: "strategic",
    APPLY_PATCH: "apply",
}


class Writes(Struct):
    """Answers to writes: what the model makes of them, once it is kept."""

    storage: Storage

    async def create(self, request: web.Request, target: Target) -> web.Response:
        if target.resource.namespaced and not target.namespace:
            raise method_not_allowed()
        raw = _addressed(await object_body(request), target)
        written = await self.storage.write(
            lambda model: model.create(
                raw,
                _manager(request),
                dry_run=dry_run(request.query),
                field_validation=_field_validation(request.query),
            )
        )
        return _answer(request, target, written)

    async def replace(self, request: web.Request, target: Target) -> web.Response:
        raw = _addressed(await object_body(request), target)
        written = await self.storage.write(
            lambda model: model.replace(
                raw,
                _manager(request),
                subresource=target.subresource,
                dry_run=dry_run(request.query),
                field_validation=_field_validation(request.query),
            )
        )
        return _answer(request, target, written)

    async def patch(self, request: web.Request, target: Target) -> web.Response:
        content_type, body = await patch_body(request)
        manager = _manager(request)
        if content_type == APPLY_PATCH:
            body = _applied(body, target)
            manager = _apply_manager(request.query)
        written = await self.storage.write(
            lambda model: model.patch(
                target.ref,
                body,
                _PATCH_TYPES[content_type],
                manager,
                subresource=target.subresource,
                force=flag(request.query, "force") or False,
                dry_run=dry_run(request.query),
                field_validation=_field_validation(request.query),
                version=target.version.name,
            )
        )
        return _answer(request, target, written)

    async def delete(self, request: web.Request, target: Target) -> web.Response:
        options = await optional_body(request)
        uid, resource_version = preconditions(options)
        deleted = await self.storage.write(
            lambda model: model.delete(
                target.ref,
                uid or None,
                resource_version or None,
                _propagation(request.query, options),
                dry_run=dry_run(request.query, options),
            )
        )
        if deleted.gone:
            return json_answer(_success(target, deleted.object), warnings=target.warnings)
        return json_answer(_shown(request, target).one(deleted.object), warnings=target.warnings)

    async def delete_collection(self, request: web.Request, target: Target) -> web.Response:
        options = await optional_body(request)
        matches = list_options(request.query, target.selectable_fields).matches
        selected = self.storage.select(target.resource.group_kind, target.namespace, matches)
        refs = [ref_of(raw) for raw in selected]
        propagation, is_dry = _propagation(request.query, options), dry_run(request.query, options)
        deleted = await self.storage.write(lambda model: _delete_all(model, refs, propagation, is_dry=is_dry))
        metadata: Raw = {"resourceVersion": str(self.storage.version)}
        shown = Shown(target.resource, target.version)
        return json_answer(shown.many(deleted, metadata), warnings=target.warnings)


def _delete_all(model: ApiModel, refs: list[Ref], propagation: Propagation, *, is_dry: bool) -> list[Raw]:
    """Deletes what is still there; an object that somebody else deleted first is as gone as it should be."""
    deleted: list[Raw] = []
    for ref in refs:
        if model.find(ref) is not None:
            deleted.append(model.delete(ref, propagation=propagation, dry_run=is_dry).object)
    return deleted


def _answer(request: web.Request, target: Target, written: Written) -> web.Response:
    shown = _shown(request, target)
    status = 201 if written.created else 200
    content_type = shown.form.content_type
    return json_answer(shown.one(written.object), status, content_type=content_type, warnings=written.warnings)


def _shown(request: web.Request, target: Target) -> Shown:
    form = accepted_form(request.headers.get("Accept", ""), (PLAIN, TABLE, METADATA))
    return Shown(target.resource, target.version, form, include_object(request.query))


def _success(target: Target, raw: Raw) -> Raw:
    details = {"name": raw["metadata"]["name"], "kind": target.resource.plural, "uid": raw["metadata"].get("uid")}
    if target.resource.group:
        details["group"] = target.resource.group
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


def _addressed(raw: Raw, target: Target) -> Raw:
    """The body with kind, version, name and namespace of the URL where it leaves them out.

    Raises: ApiError 400 if it says something else.
    """
    raw = _typed(raw, target)
    metadata = raw.get("metadata", {})
    if not isinstance(metadata, dict):
        raise bad_request(f"metadata: found {metadata!r}, wanted a mapping")
    raw["metadata"] = metadata = {**metadata}
    if target.resource.namespaced:
        namespace = metadata.get("namespace") or target.namespace
        if namespace != target.namespace:
            raise bad_request(
                f"the namespace of the provided object does not match the namespace sent on the request: "
                f"metadata.namespace is {namespace!r}, the URL has {target.namespace!r}"
            )
        metadata["namespace"] = namespace
    if target.name:
        name = metadata.get("name") or target.name
        if name != target.name:
            raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({target.name})")
        metadata["name"] = name
    return raw


def _applied(body: Any, target: Target) -> Raw:
    if not isinstance(body, dict):
        raise bad_request("the body of an apply is not an object")
    for field in ("apiVersion", "kind"):
        if not body.get(field):
            raise bad_request(f"{field}: is required in what is applied")
    return _typed({**body, "metadata": body.get("metadata") or {}}, target)


def _typed(raw: Raw, target: Target) -> Raw:
    api_version = api_version_of(target.resource.group, target.version.name)
    raw = {**raw, "apiVersion": raw.get("apiVersion") or api_version, "kind": raw.get("kind") or target.resource.kind}
    for field, wanted in (("apiVersion", api_version), ("kind", target.resource.kind)):
        if raw[field] != wanted:
            raise bad_request(f"{field}: found {raw[field]!r}, the URL is for {wanted!r}")
    return raw


def _manager(request: web.Request) -> str:
    """Who writes, for managedFields: the fieldManager, or the name of the program."""
    return request.query.get("fieldManager") or request.headers.get("User-Agent", "").partition("/")[0] or "unknown"


def _apply_manager(query: Mapping[str, str]) -> str:
    manager = query.get("fieldManager")
    if not manager:
        cause = Cause("fieldManager", "FieldValueRequired", "Required value: is required for apply patch")
        message = f'PatchOptions.meta.k8s.io "" is invalid: {cause.field}: {cause.message}'
        raise ApiError(422, "Invalid", message, causes=[cause], group="meta.k8s.io", kind="PatchOptions")
    return manager


def _field_validation(query: Mapping[str, str]) -> FieldValidation:
    wanted = query.get("fieldValidation") or "Warn"
    if wanted not in get_args(FieldValidation):
        raise bad_request(f"fieldValidation: found {wanted!r}, wanted Strict, Warn or Ignore")
    return cast("FieldValidation", wanted)


def _propagation(query: Mapping[str, str], options: Raw) -> Propagation:
    wanted = query.get("propagationPolicy") or options.get("propagationPolicy")
    if not wanted:
        return "Orphan" if options.get("orphanDependents") else "Background"
    if wanted not in get_args(Propagation):
        raise bad_request(f"propagationPolicy: found {wanted!r}, wanted Background, Foreground or Orphan")
    return cast("Propagation", wanted)
