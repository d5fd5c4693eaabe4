"""The bytes of the webhook protocol: endpoints, changes and domain filters as external-dns writes and reads them.

Written as Go's encoder does it: fields in the order of its structs, empty ones left out, labels sorted, `<`, `>`, `&`
escaped. Read with what Go allows: `null` for an empty list, mapping or field, and unknown fields.
Source: external-dns, endpoint.Endpoint, plan.Changes and endpoint.DomainFilter; provider/webhook/api.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from gatepost.dns.domain_filter import DomainFilter, domain_filter
from gatepost.dns.endpoint import Changes, Endpoint, Property
from gatepost.dns.expressions import BadExpression, compiled

MEDIA_TYPE = "application/external.dns.webhook+json;version=1"
"""Compared as text: no blank after the semicolon, no charset."""

_GO_ESCAPES = ((b"<", b"\\u003c"), (b">", b"\\u003e"), (b"&", b"\\u0026"))
_GO_LINE_ENDS = (("\u2028".encode(), b"\\u2028"), ("\u2029".encode(), b"\\u2029"))


class BadBody(ValueError):
    """A body that is not what the protocol wants there; the text says where and why."""


# What is written


def endpoints_json(endpoints: Sequence[Endpoint]) -> bytes:
    """The body of an answer to `/records` and of both sides of `/adjustendpoints`."""
    return _encoded([_fields_of(endpoint) for endpoint in endpoints])


def changes_json(changes: Changes) -> bytes:
    """The body of a `POST /records`."""
    lists = {
        "create": changes.create,
        "updateOld": changes.update_old,
        "updateNew": changes.update_new,
        "delete": changes.delete,
    }
    return _encoded({name: [_fields_of(endpoint) for endpoint in found] for name, found in lists.items() if found})


def domain_filter_json(domains: DomainFilter) -> bytes:
    """The body of the negotiation. A regular expression replaces the lists, since both together are an error."""
    if domains.regex_include or domains.regex_exclude:
        return _encoded(_filled({"regexInclude": domains.regex_include, "regexExclude": domains.regex_exclude}))
    return _encoded(_filled({"include": domains.include, "exclude": domains.exclude}))


def _fields_of(endpoint: Endpoint) -> dict[str, Any]:
    return _filled(
        {
            "dnsName": endpoint.dns_name,
            "targets": endpoint.targets,
            "recordType": endpoint.record_type,
            "setIdentifier": endpoint.set_identifier,
            "recordTTL": endpoint.record_ttl,
            "labels": dict(sorted(endpoint.labels.items())),
            "providerSpecific": [_filled({"name": p.name, "value": p.value}) for p in endpoint.provider_specific],
        }
    )


def _filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _encoded(value: Any) -> bytes:
    body = msgspec.json.encode(value)
    for plain, escaped in (*_GO_ESCAPES, *_GO_LINE_ENDS):  # these only ever stand inside of strings
        body = body.replace(plain, escaped)
    return body


# What is read


class _Property(Struct):
    name: str | None = None
    value: str | None = None


class _Endpoint(Struct, rename="camel"):
    dns_name: str | None = None
    targets: list[str] | None = None
    record_type: str | None = None
    set_identifier: str | None = None
    record_ttl: int | None = field(default=None, name="recordTTL")
    labels: dict[str, str | None] | None = None
    provider_specific: list[_Property] | None = None

    def endpoint(self) -> Endpoint:
        return Endpoint(
            self.dns_name or "",
            self.record_type or "",
            tuple(self.targets or ()),
            self.record_ttl or 0,
            self.set_identifier or "",
            {key: value or "" for key, value in (self.labels or {}).items()},
            tuple(Property(found.name or "", found.value or "") for found in self.provider_specific or ()),
        )


_Endpoints = list[_Endpoint | None] | None


class _Changes(Struct, rename="camel"):
    create: _Endpoints = None
    update_old: _Endpoints = None
    update_new: _Endpoints = None
    delete: _Endpoints = None


class _DomainFilter(Struct, rename="camel"):
    include: list[str] | None = None
    exclude: list[str] | None = None
    regex_include: str | None = None
    regex_exclude: str | None = None


def endpoints_in(body: bytes) -> tuple[Endpoint, ...]:
    """The endpoints of a body. Raises: BadBody, also for an endpoint without name or type."""
    return _endpoints(_decoded(body, list[_Endpoint | None] | None), "")


def changes_in(body: bytes) -> Changes:
    """The changes of a body. Raises: BadBody, also if the two sides of the updates are not pairs."""
    found: _Changes = _decoded(body, _Changes)
    changes = Changes(
        _endpoints(found.create, "create"),
        _endpoints(found.update_old, "updateOld"),
        _endpoints(found.update_new, "updateNew"),
        _endpoints(found.delete, "delete"),
    )
    if len(changes.update_old) != len(changes.update_new):
        counts = f"{len(changes.update_old)} in updateOld and {len(changes.update_new)} in updateNew"
        raise BadBody(f"found {counts}, wanted pairs")
    return changes


def domain_filter_in(body: bytes) -> DomainFilter:
    """The names that a provider serves; `{}` stands for all. Raises: BadBody, also if lists and expressions mix."""
    found: _DomainFilter = _decoded(body, _DomainFilter)
    if (found.include or found.exclude) and (found.regex_include or found.regex_exclude):
        raise BadBody("found lists and regular expressions of domains, wanted one kind of them")
    for expression in (found.regex_include or "", found.regex_exclude or ""):
        try:
            compiled(expression)
        except BadExpression as error:
            raise BadBody(f"found {expression!r}, wanted a regular expression: {error}") from error
    return domain_filter(
        tuple(found.include or ()), tuple(found.exclude or ()), found.regex_include or "", found.regex_exclude or ""
    )


def _decoded(body: bytes, type_: Any) -> Any:
    try:
        return msgspec.json.decode(body, type=type_)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadBody(f"found {_beginning(body)}: {error}") from error


def _endpoints(found: _Endpoints, where: str) -> tuple[Endpoint, ...]:
    endpoints: list[Endpoint] = []
    for number, entry in enumerate(found or ()):
        if entry is None:
            raise BadBody(f"found null at {where}[{number}], wanted an endpoint")
        if not entry.dns_name or not entry.record_type:
            missing = "dnsName" if not entry.dns_name else "recordType"
            raise BadBody(f"found no {missing} at {where}[{number}], wanted a whole endpoint")
        endpoints.append(entry.endpoint())
    return tuple(endpoints)


def _beginning(body: bytes) -> str:
    return repr(body[:60].decode("utf-8", "replace")) + (" ..." if len(body) > 60 else "")
