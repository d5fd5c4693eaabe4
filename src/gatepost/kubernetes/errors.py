"""The errors of the API: HTTP code, reason, message and the fields that caused it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from gatepost.objects.refs import Ref


class Cause(NamedTuple):
    """One field that is wrong: its path, the API's reason word (FieldValueInvalid, ...) and what to read about it."""

    field: str
    reason: str
    message: str


class ApiError(Exception):
    """An answer other than success, as a server gives it.

    `code` is the HTTP status, `reason` the word clients decide by (NotFound, AlreadyExists, Conflict, Invalid, ...),
    `causes` the fields that are wrong. `name`, `group` and `kind` name what the request was about.
    """

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        *,
        causes: Iterable[Cause] = (),
        group: str = "",
        kind: str = "",
        name: str = "",
        retry_after_seconds: int = 0,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.causes = tuple(causes)
        self.group = group
        self.kind = kind
        self.name = name
        self.retry_after_seconds = retry_after_seconds

    def status(self) -> dict[str, Any]:
        """The metav1.Status that clients read from the body of the answer."""
        details: dict[str, Any] = {}
        if self.name:
            details["name"] = self.name
        if self.group:
            details["group"] = self.group
        if self.kind:
            details["kind"] = self.kind
        if self.causes:
            details["causes"] = [
                {"reason": cause.reason, "message": cause.message, "field": cause.field} for cause in self.causes
            ]
        if self.retry_after_seconds:
            details["retryAfterSeconds"] = self.retry_after_seconds
        status: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        }
        if details:
            status["details"] = details
        return status


def qualified(group: str, plural: str) -> str:
    """A resource as messages name it: `services`, `httproutes.gateway.networking.k8s.io`."""
    return f"{plural}.{group}" if group else plural


def not_found(group: str, plural: str, name: str) -> ApiError:
    message = f'{qualified(group, plural)} "{name}" not found'
    return ApiError(404, "NotFound", message, group=group, kind=plural, name=name)


def already_exists(group: str, plural: str, name: str) -> ApiError:
    message = f'{qualified(group, plural)} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, group=group, kind=plural, name=name)


def conflict(group: str, plural: str, name: str, why: str) -> ApiError:
    message = f'Operation cannot be fulfilled on {qualified(group, plural)} "{name}": {why}'
    return ApiError(409, "Conflict", message, group=group, kind=plural, name=name)


def forbidden(group: str, plural: str, name: str, why: str, causes: Iterable[Cause] = ()) -> ApiError:
    message = f'{qualified(group, plural)} "{name}" is forbidden: {why}'
    return ApiError(403, "Forbidden", message, causes=causes, group=group, kind=plural, name=name)


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def invalid(ref: Ref, causes: Iterable[Cause]) -> ApiError:
    """422 with all causes, in the order given; the message lists each with its field."""
    causes = tuple(causes)
    told = [f"{cause.field}: {cause.message}" if cause.field else cause.message for cause in causes]
    what = told[0] if len(told) == 1 else "[" + ", ".join(told) + "]"
    message = f'{qualified(ref.group, ref.kind)} "{ref.name}" is invalid: {what}'
    return ApiError(422, "Invalid", message, causes=causes, group=ref.group, kind=ref.kind, name=ref.name)
