"""Whether the Gateway serves a HTTPRoute as it stands now, from the status of the route alone."""

from __future__ import annotations

from gatepost.objects.gatewayapi import HTTPRoute, ParentReference, RouteParentStatus
from gatepost.objects.meta import condition_of
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref
from gatepost.reconcilers.gateway.problems import HTTP_ROUTE_NOT_READY
from gatepost.reconcilers.gateway.wishes import RouteWish


def why_not_ready(route: HTTPRoute | None, wish: RouteWish, ref: Ref) -> Skipped | None:
    """Why the route of a wish does not serve yet, None if it does.

    | the status says of a wished parentRef | ready                |
    | nothing                               | no                   |
    | Accepted missing, or not True         | no                   |
    | Accepted for an older generation      | no                   |
    | ResolvedRefs there, but not True      | no                   |
    | of another parent, Accepted not True  | no                   |
    Except that what it says of another parent and an older generation is a left-over, and does not count.
    Args:
        ref: of the wished route, which need not exist.
    """
    if route is None:
        return _not_ready(ref, "does not exist yet", "")
    if route.spec.hostnames != wish.hosts:
        return _not_ready(ref, "still has its former hostnames", "spec.hostnames")
    for parent in wish.parents:
        verdicts = [status for status in route.status.parents if _is_same(status.parent_ref, parent, route)]
        if not verdicts:
            return _not_ready(ref, f"{_called(parent, route)} has not looked at it yet", "status.parents")
        for verdict in verdicts:
            why = _why_not_serving(verdict, route)
            if why:
                return _not_ready(ref, f"{_called(parent, route)}: {why}", "status.parents[].conditions")
    return _why_refused_elsewhere(route, wish, ref)


def _why_refused_elsewhere(route: HTTPRoute, wish: RouteWish, ref: Ref) -> Skipped | None:
    """Whoever has looked at the present route must have accepted it, for whatever parent.

    Source: net-gateway-api wants every entry of the status accepted, left-overs too.
    """
    for verdict in route.status.parents:
        is_wished = any(_is_same(verdict.parent_ref, parent, route) for parent in wish.parents)
        if is_wished or _is_left_over(verdict, route):
            continue
        accepted = condition_of(verdict.conditions, "Accepted")
        if accepted is None or accepted.status != "True":
            who = verdict.controller_name or "a controller"
            why = f"{who} does not accept it for {_called(verdict.parent_ref, route)}"
            return _not_ready(ref, why, "status.parents[].conditions")
    return None


def _is_left_over(verdict: RouteParentStatus, route: HTTPRoute) -> bool:
    generations = [condition.observed_generation for condition in verdict.conditions]
    return 0 < max(generations, default=0) < route.metadata.generation


def _why_not_serving(verdict: RouteParentStatus, route: HTTPRoute) -> str:
    accepted = condition_of(verdict.conditions, "Accepted")
    if accepted is None:
        return "Accepted is not set yet"
    if 0 < accepted.observed_generation < route.metadata.generation:
        return "Accepted speaks of an older generation of the route"
    if accepted.status != "True":
        return f"Accepted is {accepted.status} ({accepted.reason}) {accepted.message}".rstrip()
    resolved = condition_of(verdict.conditions, "ResolvedRefs")
    if resolved is not None and resolved.status != "True":
        return f"ResolvedRefs is {resolved.status} ({resolved.reason}) {resolved.message}".rstrip()
    return ""


def _is_same(one: ParentReference, other: ParentReference, route: HTTPRoute) -> bool:
    return _identity(one, route) == _identity(other, route)


def _identity(parent: ParentReference, route: HTTPRoute) -> tuple[str, str, str, str, str, int]:
    namespace = parent.namespace or route.metadata.namespace
    return (parent.group, parent.kind, namespace, parent.name, parent.section_name, parent.port)


def _called(parent: ParentReference, route: HTTPRoute) -> str:
    return f"{parent.kind} {parent.namespace or route.metadata.namespace}/{parent.name}"


def _not_ready(route: Ref, why: str, field: str) -> Skipped:
    return Skipped(HTTP_ROUTE_NOT_READY, why, route, field)
