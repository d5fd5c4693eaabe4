"""Patches that come from outside: their form checked, and what they make of an object."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from gatepost.kubernetes.apply import ApplyConflict
from gatepost.kubernetes.errors import ApiError, Cause, bad_request, invalid
from gatepost.kubernetes.merge import BadPatch, UnfittingPatch, json_patched, merge_patched
from gatepost.kubernetes.resources import Resource
from gatepost.kubernetes.strategic import strategic_patched
from gatepost.kubernetes.values import Raw, copy_of
from gatepost.objects.refs import Ref, ref_of

PatchType: TypeAlias = Literal["merge", "strategic", "json", "apply"]


def check_form(raw: Any) -> None:
    """Raises: ApiError (400) if this is no object with apiVersion, kind and metadata."""
    if not isinstance(raw, dict):
        raise bad_request(f"found {type(raw).__name__}, wanted an object")
    for field in ("apiVersion", "kind"):
        if not isinstance(raw.get(field), str) or not raw[field]:
            raise bad_request(f"{field}: found {raw.get(field)!r}, wanted a text")
    if not isinstance(raw.get("metadata"), dict):
        raise bad_request(f"metadata: found {raw.get('metadata')!r}, wanted a mapping")
    for field in ("name", "namespace", "generateName", "uid", "resourceVersion"):
        found = raw["metadata"].get(field)
        if found is not None and not isinstance(found, str):
            raise bad_request(f"metadata.{field}: found {found!r}, wanted a text")


def patched(live: Raw, body: Any, patch_type: PatchType, resource: Resource, schema: Raw | None) -> Raw:
    """What a merge, strategic or JSON patch makes of an object.

    Raises: ApiError: 400 the patch is malformed or makes another object of it, 415 strategic on a custom kind, 422 it
        does not fit the object.
    """
    try:
        result: Raw = _patched(live, body, patch_type, resource, schema)
    except UnfittingPatch as error:
        raise invalid(ref_of(live), [Cause("patch", "UnexpectedServerResponse", str(error))]) from error
    except BadPatch as error:
        raise bad_request(f"{ref_of(live)}: {error}") from error
    check_form(result)
    _check_identity(result, live)
    return result


def applied_body(ref: Ref, body: Any) -> Raw:
    """A copy of what is applied, with name and namespace of the object it is applied to.

    Raises: ApiError (400) if it is no object, is another one, or states managedFields.
    """
    check_form(body)
    stated: Raw = copy_of(body)
    metadata = stated["metadata"]
    if metadata.get("managedFields"):
        raise bad_request(f"{ref}: metadata.managedFields must not be set in what is applied")
    if not metadata.get("namespace"):
        metadata.pop("namespace", None)
    for field, wanted in (("name", ref.name), ("namespace", ref.namespace)):
        found = metadata.setdefault(field, wanted) if wanted else metadata.get(field, "")
        if found != wanted:
            raise bad_request(f"{ref}: metadata.{field}: found {found!r}, wanted {wanted!r}")
    if stated["kind"] != ref.kind:
        raise bad_request(f"{ref}: kind: found {stated['kind']!r}, wanted {ref.kind!r}")
    return stated


def apply_conflict(ref: Ref, resource: Resource, error: ApplyConflict) -> ApiError:
    """409 with a cause for each field that another manager owns."""
    causes = [Cause(found.field, "FieldManagerConflict", found.who) for found in error.conflicts]
    return ApiError(409, "Conflict", str(error), causes=causes, group=ref.group, kind=resource.plural, name=ref.name)


def _patched(live: Raw, body: Any, patch_type: PatchType, resource: Resource, schema: Raw | None) -> Any:
    if patch_type == "json":
        return json_patched(live, body)
    if patch_type == "strategic":
        if resource.custom:
            wanted = "json-patch, merge-patch or apply-patch"
            message = f"{resource.kind} is a custom kind: it takes no strategic merge patch, wanted {wanted}"
            raise ApiError(415, "UnsupportedMediaType", message)
        return strategic_patched(live, body, schema)
    if not isinstance(body, dict):
        raise BadPatch("a merge patch of an object is a mapping")
    return merge_patched(live, body)


def _check_identity(result: Raw, live: Raw) -> None:
    for field in ("name", "namespace"):
        found, stored = result["metadata"].get(field) or "", live["metadata"].get(field) or ""
        if found != stored:
            raise bad_request(f"{ref_of(live)}: metadata.{field}: found {found!r}, it cannot be changed")
    for field in ("apiVersion", "kind"):
        if result.get(field) != live.get(field):
            found, stored = result.get(field), live.get(field)
            raise bad_request(f"{ref_of(live)}: {field}: found {found!r}, wanted {stored!r}")
