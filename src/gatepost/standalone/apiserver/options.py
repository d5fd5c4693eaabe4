"""The query parameters of a request, checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec

from gatepost.kubernetes.errors import ApiError, Cause, bad_request
from gatepost.kubernetes.selectors import BadSelector, field_matcher, label_matcher
from gatepost.kubernetes.values import Raw, mapping_at

DEFAULT_WATCH_SECONDS = 3600.0
_ANSWERS = ("none", "metadata", "object")


class ListOptions(msgspec.Struct, frozen=True):
    """How a collection is read. `matches` joins both selectors; `selects` says whether there are any."""

    matches: Callable[[Raw], bool]
    selects: bool = False
    watch: bool = False
    limit: int = 0
    continue_token: str = ""
    resource_version: str = ""
    resource_version_match: str = ""
    send_initial_events: bool | None = None
    bookmarks: bool = False
    timeout_seconds: float = DEFAULT_WATCH_SECONDS
    include: str = "Metadata"


def list_options(query: Mapping[str, str], selectable_fields: Collection[str]) -> ListOptions:
    """What a collection is asked for; a field selector may name only the fields given.

    Raises: ApiError 400 for a parameter that cannot be read, 422 for parameters that do not go together.
    """
    options = ListOptions(
        matches=_matcher(query, selectable_fields),
        selects=bool(query.get("labelSelector") or query.get("fieldSelector")),
        watch=flag(query, "watch") or False,
        limit=_whole(query, "limit"),
        continue_token=query.get("continue", ""),
        resource_version=_resource_version(query),
        resource_version_match=query.get("resourceVersionMatch", ""),
        send_initial_events=flag(query, "sendInitialEvents"),
        bookmarks=flag(query, "allowWatchBookmarks") or False,
        timeout_seconds=_whole(query, "timeoutSeconds") or DEFAULT_WATCH_SECONDS,
        include=include_object(query),
    )
    _refuse_strange_company(options)
    return options


def include_object(query: Mapping[str, str]) -> str:
    """What table rows carry: "None", "Metadata" or "Object"."""
    wanted = query.get("includeObject", "Metadata")
    if wanted.lower() not in _ANSWERS:
        raise bad_request(f"includeObject: found {wanted!r}, wanted None, Metadata or Object")
    return wanted.capitalize()


def dry_run(query: Mapping[str, str], body: Raw | None = None) -> bool:
    """Whether nothing is to be stored; DeleteOptions say it in the body as well.

    Raises: ApiError 422 for a value other than All.
    """
    given = query.get("dryRun") or (body or {}).get("dryRun")
    wanted = [] if not given else given if isinstance(given, list) else [given]
    for value in wanted:
        if value != "All":
            raise _invalid("dryRun", f'Unsupported value: "{value}": supported values: "All"')
    return bool(wanted)


def flag(query: Mapping[str, str], name: str) -> bool | None:
    """A boolean parameter; None if it is not given. `?watch` alone means true, as kube-apiserver has it."""
    value = query.get(name)
    if value is None:
        return None
    return value.lower() not in ("false", "0")


def preconditions(body: Raw) -> tuple[str, str]:
    """uid and resourceVersion that DeleteOptions ask for; "" where they do not."""
    wanted = mapping_at(body, "preconditions")
    return str(wanted.get("uid") or ""), str(wanted.get("resourceVersion") or "")


def _matcher(query: Mapping[str, str], selectable_fields: Collection[str]) -> Callable[[Raw], bool]:
    try:
        labels_match = label_matcher(query.get("labelSelector", ""))
        fields_match = field_matcher(query.get("fieldSelector", ""), selectable_fields)
    except BadSelector as error:
        raise bad_request(str(error)) from error
    if not query.get("labelSelector") and not query.get("fieldSelector"):
        return lambda raw: True
    return lambda raw: labels_match(mapping_at(raw["metadata"], "labels")) and fields_match(raw)


def _whole(query: Mapping[str, str], name: str) -> int:
    value = query.get(name) or "0"
    if not value.isdigit():
        raise bad_request(f"{name}: found {value!r}, wanted a whole number")
    return int(value)


def _resource_version(query: Mapping[str, str]) -> str:
    value = query.get("resourceVersion", "")
    if value and not value.isdigit():
        raise bad_request(f"resourceVersion: found {value!r}, wanted a number that this server gave out")
    return value


def _refuse_strange_company(options: ListOptions) -> None:
    match, initial = options.resource_version_match, options.send_initial_events
    if match not in ("", "Exact", "NotOlderThan"):
        supported = 'supported values: "Exact", "NotOlderThan"'
        raise _invalid("resourceVersionMatch", f'Unsupported value: "{match}": {supported}')
    if initial is not None and not options.watch:
        raise _invalid("sendInitialEvents", "Forbidden: sendInitialEvents is forbidden for list")
    if options.watch and initial is None and match:
        raise _invalid("resourceVersionMatch", "Forbidden: resourceVersionMatch is forbidden for watch")
    if initial is not None and match != "NotOlderThan":
        why = "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        raise _invalid("resourceVersionMatch", why)
    if initial and not options.bookmarks:
        raise _invalid("allowWatchBookmarks", "Forbidden: sendInitialEvents requires allowWatchBookmarks")
    if not options.watch and match and not options.resource_version:
        why = "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"
        raise _invalid("resourceVersionMatch", why)


def _invalid(field: str, message: str) -> ApiError:
    kind: dict[str, Any] = {"group": "meta.k8s.io", "kind": "ListOptions"}
    text = f'ListOptions.meta.k8s.io "" is invalid: {field}: {message}'
    return ApiError(422, "Invalid", text, causes=[Cause(field, "FieldValueInvalid", message)], **kind)
