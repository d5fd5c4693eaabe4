"""Moves to a new Service without a gap: a gateway first shows that it knows the Service, then the traffic goes there.

A gateway learns of routes and of backends on different ways, and a route that is there before its backend fails
requests. So a route beside the main one names the new backends under hidden paths that only probes take; the main one
is changed once these pass, and the hidden paths go when the new main one is served. They name the old backends too, so
that no gateway forgets those while some of its processes still send requests there.
Source: knative-extensions/net-gateway-api does the same within one route.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, structs

from gatepost.configmaps.gateway import GatewayEntry
from gatepost.objects.gatewayapi import HTTPRoute
from gatepost.objects.meta import is_controlled_by
from gatepost.objects.networking import KIngress
from gatepost.objects.problems import Skipped
from gatepost.reconcilers.gateway.httproutes import HASH_HEADER, HASH_OVERRIDE, http_route
from gatepost.reconcilers.gateway.limits import suffixed
from gatepost.reconcilers.gateway.probes import Probe, ProbeURL, is_probing, probed_hosts, why_not_passed
from gatepost.reconcilers.gateway.problems import BACKEND_NOT_WARM
from gatepost.reconcilers.gateway.redirects import CHALLENGE_PREFIX
from gatepost.reconcilers.gateway.wishes import RouteWish
from gatepost.state.view import View
from gatepost.writes.outcome import Apply, Outcome

Raw = dict[str, Any]

SUFFIX = "-warmup"
HIDDEN_PREFIX = "/.well-known/knative/revision"
RULES_PER_ROUTE = 16


class Backend(Struct, frozen=True, order=True):
    """A Service with a port, as a route names it."""

    name: str
    port: int


def new_backends(wish: RouteWish, present: HTTPRoute) -> tuple[Backend, ...]:
    """The backends of a wish that no rule for everybody names in the route as it is, sorted."""
    known = {backend.name for backend in served_backends(present)}
    wanted = {
        Backend(split.service_name, int(split.service_port))
        for path in wish.paths
        if not path.path.startswith(CHALLENGE_PREFIX)
        for split in path.splits
    }
    return tuple(sorted(backend for backend in wanted if backend.name not in known))


def served_backends(present: HTTPRoute) -> tuple[Backend, ...]:
    """The backends that the rules for everybody name, in their order, each once."""
    found = [
        Backend(backend.name, backend.port)
        for rule in present.spec.rules
        if not any(header.name == HASH_HEADER for match in rule.matches for header in match.headers)
        for backend in rule.backend_refs
        if backend.name
    ]
    return tuple(dict.fromkeys(found))


def is_warmup_of(name: str, wish: RouteWish) -> bool:
    """Whether a route of that name can be a hidden one beside that wish."""
    return name.startswith(suffixed(wish.name, SUFFIX))


def why_too_early(
    kingress: KIngress,
    wish: RouteWish,
    present: HTTPRoute | None,
    entry: GatewayEntry,
    view: View,
    out: Outcome,
) -> Skipped | None:
    """Why a route must not change yet, None if it may. Until then the hidden route is wanted beside it.

    Without probes nobody could tell when the time has come; and a route that is not there yet loses nothing.
    """
    if present is None or wish.redirects or not is_probing(view):
        return None
    served = served_backends(present)
    fresh = new_backends(wish, present)
    if not fresh or not served:
        return None
    name = suffixed(wish.name, SUFFIX)
    standing = view.named(HTTPRoute, kingress.metadata.namespace, name)
    if standing is not None and not is_controlled_by(standing, kingress):
        return None  # the name is someone else's: then the traffic moves without a test
    hidden = structs.replace(wish, name=name, paths=(), version=f"ep-{wish.version}")
    for route in warmup_routes(kingress, hidden, (*fresh, *served)):
        out.want(Apply(route))
    waiting = why_not_passed(_probe(kingress, hidden, fresh, entry), view)
    if waiting is None:
        return None
    names = ", ".join(backend.name for backend in fresh)
    why = f"traffic moves to {names} as soon as the gateway knows it: {waiting.message}"
    return Skipped(BACKEND_NOT_WARM, why, waiting.at)


def warmup_routes(kingress: KIngress, hidden: RouteWish, backends: Iterable[Backend]) -> list[Raw]:
    """Routes with a hidden path for each backend. Args: hidden: the main wish with a version and a name of its own."""
    rules = [_hidden_rule(kingress, hidden.version, backend) for backend in dict.fromkeys(backends)]
    routes = []
    for start in range(0, len(rules), RULES_PER_ROUTE):
        name = hidden.name if start == 0 else suffixed(hidden.name, f"-{start // RULES_PER_ROUTE + 1:02}")
        route = http_route(kingress, structs.replace(hidden, name=name))
        routes.append({**route, "spec": {**route["spec"], "rules": rules[start : start + RULES_PER_ROUTE]}})
    return routes


def _probe(kingress: KIngress, hidden: RouteWish, fresh: Iterable[Backend], entry: GatewayEntry) -> Probe:
    urls = tuple(ProbeURL(host, _hidden_path(kingress, one)) for one in fresh for host in probed_hosts(hidden))
    route = HTTPRoute.KIND.ref(kingress.metadata.namespace, hidden.name)
    return Probe(route, hidden.version, urls, entry, hidden.sections, over_tls=hidden.is_redirected_to)


def _hidden_path(kingress: KIngress, backend: Backend) -> str:
    return f"{HIDDEN_PREFIX}/{kingress.metadata.namespace}/{backend.name}"


def _hidden_rule(kingress: KIngress, version: str, backend: Backend) -> Raw:
    hash_header = {"type": "Exact", "name": HASH_HEADER, "value": HASH_OVERRIDE}
    told = {"set": [{"name": HASH_HEADER, "value": version}]}
    return {
        "matches": [
            {"path": {"type": "PathPrefix", "value": _hidden_path(kingress, backend)}, "headers": [hash_header]}
        ],
        "filters": [{"type": "RequestHeaderModifier", "requestHeaderModifier": told}],
        "backendRefs": [{"group": "", "kind": "Service", "name": backend.name, "port": backend.port, "weight": 100}],
    }
