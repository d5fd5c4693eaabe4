"""What both directions need to know about a Service before they can plan, or the problem that keeps it from them."""

from __future__ import annotations

from msgspec import Struct

from gatepost.objects.core import Endpoints, Service
from gatepost.objects.meta import is_controlled_by
from gatepost.objects.networking import CLUSTER_LOCAL_VISIBILITY, VISIBILITY_LABEL, KIngress, LoadBalancerIngress
from gatepost.objects.problems import Problem
from gatepost.objects.serving import ROUTE_LABEL, Route
from gatepost.reconcilers.kingress import NOT_OWNED, kingress_ref
from gatepost.reconcilers.route.addresses import NO_ADDRESS, Landing, entry_of
from gatepost.reconcilers.route.names import RouteSettings, TargetNames, names_of, settings_for
from gatepost.reconcilers.route.placeholders import landing_for
from gatepost.reconcilers.route.traffic import MAIN
from gatepost.state.view import View

NOT_CONTROLLED = "NotControlledByRoute"
NO_TRAFFIC_TARGET = "NoTrafficTarget"


class Scene(Struct, frozen=True):
    """A Service with its Route and the place where the gateway answers."""

    service: Service
    route: Route
    settings: RouteSettings
    names: TargetNames
    landing: Landing
    entry: LoadBalancerIngress


def scene_of(service: Service, route: Route | None, view: View) -> Scene | Problem:
    """Everything that a plan rests on. Returns: a problem if the Service has to stay as it is."""
    if route is None or not is_controlled_by(service, route):
        return _not_controlled(service, route)
    endpoints = view.named(Endpoints, service.metadata.namespace, service.metadata.name)
    if endpoints is not None and not is_controlled_by(endpoints, route):
        return Problem(
            NOT_OWNED,
            f"{route.ref} does not control it, and its addresses would be answered beside those of the gateway.",
            endpoints.ref,
            "metadata.ownerReferences",
            "Delete or rename it.",
        )
    settings = settings_for(route, view)
    if isinstance(settings, Problem):
        return settings
    names = _names(service, route, settings, view)
    if isinstance(names, Problem):
        return names
    return _with_landing(service, route, settings, names, view)


def _with_landing(
    service: Service, route: Route, settings: RouteSettings, names: TargetNames, view: View
) -> Scene | Problem:
    kingress = view.get(KIngress, kingress_ref(route))
    if kingress is None or not is_controlled_by(kingress, route):
        return Problem(NO_ADDRESS, "has no KIngress that would tell where its gateway is.", route.ref)
    landing = landing_for(service, kingress, settings, view)
    if isinstance(landing, Problem):
        return landing
    assert landing is not None
    is_private = service.metadata.labels.get(VISIBILITY_LABEL) == CLUSTER_LOCAL_VISIBILITY
    entry = entry_of(kingress, is_private=is_private)
    if isinstance(entry, Problem):
        return entry
    return Scene(service, route, settings, names, landing, entry)


def _not_controlled(service: Service, route: Route | None) -> Problem:
    name = service.metadata.labels[ROUTE_LABEL]
    there = "" if route is not None else " (which does not exist)"
    return Problem(
        NOT_CONTROLLED,
        f"carries the label of Route {name}{there}, which does not control it; a label proves nothing.",
        service.ref,
        "metadata.ownerReferences",
        "It is left alone; remove the label if it is yours.",
    )


def _names(service: Service, route: Route, settings: RouteSettings, view: View) -> TargetNames | Problem:
    tags = [MAIN, *sorted({target.tag for target in route.spec.traffic if target.tag})]
    for tag in tags:
        names = names_of(route, tag, settings, view)
        if isinstance(names, Problem):
            return names
        if names.label == service.metadata.name:
            return names
    return Problem(
        NO_TRAFFIC_TARGET,
        f"no traffic target of {route.ref} has this name any more; the Route's controller deletes it.",
        service.ref,
    )
