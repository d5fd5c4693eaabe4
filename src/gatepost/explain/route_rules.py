"""What the rules of a route do with requests, as far as people want to know it: paths, backends, redirects.

No controller reads most of this, so the objects do not hold it. It is decoded here, rule by rule: one that does not
have the form of its kind is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gatepost.explain.values import Backend
from gatepost.kubernetes.values import list_at, mapping_at
from gatepost.objects.meta import Shape
from gatepost.objects.refs import Ref
from gatepost.reconcilers.gateway.httproutes import HASH_HEADER


class _Header(Shape, frozen=True):
    name: str = ""
    value: str = ""


class _PathMatch(Shape, frozen=True):
    value: str = "/"


class _Match(Shape, frozen=True):
    """Matches of a GRPCRoute have no path."""

    path: _PathMatch = _PathMatch()
    headers: tuple[_Header, ...] = ()

    @property
    def is_for_probes(self) -> bool:
        return any(header.name == HASH_HEADER for header in self.headers)

    @property
    def prefix(self) -> str:
        """The path without its last slash: "" for everything."""
        return self.path.value.removesuffix("/")


class _Redirect(Shape, frozen=True):
    hostname: str = ""
    scheme: str = ""


class _Filter(Shape, frozen=True):
    request_redirect: _Redirect | None = None


class _BackendRef(Shape, frozen=True):
    name: str = ""
    namespace: str = ""
    port: int | None = None
    weight: int = 1


class Rule(Shape, frozen=True):
    """One rule of a route. No match takes every request."""

    matches: tuple[_Match, ...] = ()
    filters: tuple[_Filter, ...] = ()
    backend_refs: tuple[_BackendRef, ...] = ()

    @property
    def all_matches(self) -> tuple[_Match, ...]:
        return self.matches or (_Match(),)


def rules_of(raw: Mapping[str, Any]) -> list[Rule]:
    """The rules of a raw route but those that only the probes of Knative's controllers meet."""
    rules = (_decoded(rule) for rule in list_at(mapping_at(dict(raw), "spec"), "rules"))
    return [rule for rule in rules if rule is not None and not all(match.is_for_probes for match in rule.all_matches)]


def _decoded(rule: Any) -> Rule | None:
    try:
        return msgspec.convert(rule, Rule)
    except msgspec.ValidationError:
        return None


def redirects(rules: list[Rule]) -> Iterator[str]:
    """What each redirect does, in words."""
    for rule in rules:
        for redirect in (found.request_redirect for found in rule.filters):
            if redirect is not None:
                paths = ", ".join(dict.fromkeys(match.prefix or "/" for match in rule.all_matches))
                yield f"redirects {paths} to {redirect.hostname or redirect.scheme or 'another place'}"


def backends(route: Ref, rules: list[Rule]) -> Iterator[Backend]:
    """Where the requests of each match go, with the share of each backend."""
    for rule in rules:
        total = sum(backend.weight for backend in rule.backend_refs)
        for match in rule.all_matches:
            for backend in rule.backend_refs:
                port = "" if backend.port is None else f":{backend.port}"
                yield Backend(
                    path=match.prefix,
                    headers=tuple(f"{header.name}: {header.value}" for header in match.headers),
                    service=f"{backend.namespace or route.namespace}/{backend.name}{port}",
                    percent=round(100 * backend.weight / total, 1) if total else 0.0,
                )
