"""How a server takes in an object that somebody writes: what it keeps of it, fills in, checks, and counts as a change.

Every function gives a new object; nothing that comes in is changed.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

from msgspec import Struct

from gatepost.kubernetes.defaults import kind_problems, with_kind_defaults, without_allocated
from gatepost.kubernetes.errors import Cause, bad_request, conflict, invalid, not_found
from gatepost.kubernetes.metadata import metadata_problems
from gatepost.kubernetes.resources import Resource, Version
from gatepost.kubernetes.schema import schema_of
from gatepost.kubernetes.values import Raw, copy_of, list_at, mapping_at, same_value, without_nulls
from gatepost.objects.refs import ref_of, version_of

FieldValidation: TypeAlias = Literal["Strict", "Warn", "Ignore"]

_FROM_LIVE = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "resourceVersion",
)
_SET_BY_SERVER = (*_FROM_LIVE, "managedFields", "selfLink")


class Write(Struct, frozen=True):
    """One write: who writes, through which subresource, how strictly it is read, whether it is a server-side apply."""

    manager: str
    subresource: str = ""
    dry_run: bool = False
    field_validation: FieldValidation = "Warn"
    apply: bool = False
    force: bool = False


class Completed(Struct, frozen=True):
    """An object ready to be stored, the part of it that its writer stands for, and what to warn the writer of."""

    object: Raw
    stated: Raw
    warnings: tuple[str, ...]


def served_version(resource: Resource, api_version: str, subresource: str) -> Version:
    """The version of the kind that an apiVersion names.

    Raises: ApiError: 400 if the kind has no such version or does not serve it, 404 if that has no such subresource.
    """
    version = resource.version(version_of(api_version))
    if version is None or not version.served:
        served = ", ".join(found.name for found in resource.served_versions)
        raise bad_request(
            f"no kind {resource.kind!r} is served in version {api_version!r}; "
            f"{resource.group_kind} is served in {served}"
        )
    if subresource and not (subresource == "status" and version.status_subresource):
        raise not_found(resource.group, f"{resource.plural}/{subresource}", resource.kind)
    return version


def without_server_fields(raw: Raw) -> Raw:
    """The object without the metadata that only the server sets, as it is when somebody creates it."""
    metadata = {key: value for key, value in raw["metadata"].items() if key not in _SET_BY_SERVER}
    return {**raw, "metadata": metadata}


def split_status(wanted: Raw, live: Raw | None, version: Version, subresource: str) -> Raw:
    """What of a write counts: the status through its subresource, all but the status otherwise.

    Without a status subresource all counts.
    """
    if subresource == "status":
        base = live if live is not None else wanted
        kept = {key: value for key, value in base.items() if key != "status"}
        return {**kept, "status": wanted["status"]} if "status" in wanted else kept
    if not version.status_subresource:
        return wanted
    kept = {key: value for key, value in wanted.items() if key != "status"}
    return {**kept, "status": live["status"]} if live is not None and "status" in live else kept


def with_live_metadata(wanted: Raw, live: Raw, managed: Raw) -> Raw:
    """The object with the metadata that a writer cannot change, as it is stored; managedFields those of `managed`."""
    metadata = {key: value for key, value in wanted["metadata"].items() if key not in _SET_BY_SERVER}
    was = live["metadata"]
    metadata.update({key: was[key] for key in _FROM_LIVE if key in was})
    if "managedFields" in managed["metadata"]:
        metadata["managedFields"] = managed["metadata"]["managedFields"]
    return {**wanted, "metadata": metadata}


def check_preconditions(wanted: Raw, live: Raw, resource: Resource) -> None:
    """The uid and resourceVersion that a writer names must be those that are stored.

    Raises: ApiError (409)
    """
    metadata, was = wanted["metadata"], live["metadata"]
    check_uid(metadata.get("uid"), live, resource)
    version = metadata.get("resourceVersion")
    if version and was.get("resourceVersion") and version != was["resourceVersion"]:
        why = "the object has been modified; please apply your changes to the latest version and try again"
        raise conflict(resource.group, resource.plural, was["name"], why)


def check_uid(uid: str | None, live: Raw, resource: Resource) -> None:
    """Raises: ApiError (409) if a uid is named and the stored object has another one."""
    was = live["metadata"]
    if uid and was.get("uid") and uid != was["uid"]:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {was['uid']}"
        raise conflict(resource.group, resource.plural, was["name"], why)


def pruned(wanted: Raw, resource: Resource, version: Version, write: Write) -> tuple[Raw, tuple[str, ...]]:
    """A copy of the object without the fields that its schema does not know, and the warnings about them.

    Null is the same as not set in built-in kinds and in metadata; in custom kinds the schema says what it is.

    Raises: ApiError (400) for unknown fields under Strict.
    """
    if resource.custom:
        kept = {**copy_of(wanted), "metadata": without_nulls(wanted["metadata"])}
    else:
        kept = without_nulls(wanted)
    unknown = tuple(f'unknown field "{path}"' for path in schema_of(version).prune(kept))
    if unknown and write.field_validation == "Strict":
        raise bad_request(
            f'{resource.kind} in version "{version.name}" cannot be handled as a {resource.kind}: '
            f"strict decoding error: {', '.join(unknown)}"
        )
    return kept, unknown if write.field_validation == "Warn" else ()


def completed(
    wanted: Raw,
    live: Raw | None,
    resource: Resource,
    version: Version,
    write: Write,
    taken_ips: Collection[str],
) -> Completed:
    """The object pruned, with defaults, checked.

    Raises: ApiError: 400 for unknown fields under Strict, 422 with a cause for each field that is wrong.
    """
    schema = schema_of(version)
    stated, warnings = pruned(wanted, resource, version, write)
    schema.fill_defaults(stated)
    _drop_empty_metadata(stated)
    # The shape first: the rules of a kind may then rely on it.
    problems = schema.problems(stated)
    if problems:
        raise invalid(ref_of(stated), problems)
    filled = with_kind_defaults(stated, live, taken_ips)
    problems = [*metadata_problems(filled), *kind_problems(filled, live, taken_ips)]
    problems += _finalizer_problems(filled, live)
    if problems:
        raise invalid(ref_of(filled), problems)
    if version.deprecation_warning:
        warnings = (*warnings, version.deprecation_warning)
    return Completed(filled, without_allocated(filled, stated), warnings)


def kept_version(live: Raw, resource: Resource) -> str:
    """The version in which an object is stored: as it is, while the kind serves that."""
    version = resource.version(version_of(live["apiVersion"]))
    return version.name if version is not None and version.served else resource.storage_version.name


def next_generation(new: Raw, live: Raw, resource: Resource, version: Version) -> int | None:
    """The generation after an update: one more if anything but metadata (and status, where that is apart) changed.

    Returns: None for kinds without generations.
    """
    if not resource.has_generation:
        return None
    now = live["metadata"].get("generation")
    ignored = {"apiVersion", "kind", "metadata"} | ({"status"} if version.status_subresource else set())
    moved = not same_value(_except(new, ignored), _except(live, ignored))
    return int(now or 1) + 1 if moved else now


def with_generation(raw: Raw, generation: int | None) -> Raw:
    """The object with this generation, or with none."""
    metadata = {key: value for key, value in raw["metadata"].items() if key != "generation"}
    if generation is not None:
        metadata["generation"] = generation
    return {**raw, "metadata": metadata}


def is_unchanged(new: Raw, live: Raw) -> bool:
    """Whether there is nothing to store; who applied the same again and when does not count."""
    if not same_value(_except(new, {"metadata"}), _except(live, {"metadata"})):
        return False
    ignored = {"resourceVersion", "managedFields"}
    if not same_value(_except(new["metadata"], ignored), _except(live["metadata"], ignored)):
        return False
    return same_value(_untimed(new), _untimed(live))


def _untimed(raw: Raw) -> list[Raw]:
    return [_except(entry, {"time"}) for entry in list_at(raw["metadata"], "managedFields")]


def _except(raw: Raw, keys: Collection[str]) -> Raw:
    return {key: value for key, value in raw.items() if key not in keys}


def _drop_empty_metadata(raw: Raw) -> None:
    """Labels and the like that are empty or null are the same as none."""
    metadata = mapping_at(raw, "metadata")
    for key in ("labels", "annotations", "finalizers", "ownerReferences"):
        if key in metadata and not metadata[key]:
            del metadata[key]


def _finalizer_problems(new: Raw, live: Raw | None) -> list[Cause]:
    if live is None or not live["metadata"].get("deletionTimestamp"):
        return []
    known = list_at(live["metadata"], "finalizers")
    fresh = [finalizer for finalizer in list_at(new["metadata"], "finalizers") if finalizer not in known]
    if not fresh:
        return []
    why = f"no new finalizers can be added while the object is being deleted, found {', '.join(fresh)}"
    return [Cause("metadata.finalizers", "FieldValueForbidden", f"Forbidden: {why}")]
