"""What stands there: one Service of a Route, and what is around it."""

from __future__ import annotations

from msgspec import structs

from gatepost.migration.values import Form, Found, FoundEndpoints, FoundSlice
from gatepost.objects.core import Endpoints, EndpointSlice, Service
from gatepost.objects.meta import controller_of, is_controlled_by
from gatepost.objects.networking import VISIBILITY_LABEL
from gatepost.objects.refs import group_of
from gatepost.objects.serving import ROUTE_LABEL, Route
from gatepost.reconcilers.route.addresses import SLICE_SERVICE_LABEL
from gatepost.reconcilers.route.placeholders import is_allocated
from gatepost.reconcilers.route.slices import MANAGED_BY_LABEL, MANAGER
from gatepost.state.store import Index
from gatepost.state.view import View


def _by_service(slice_: EndpointSlice) -> list[tuple[tuple[str, str], EndpointSlice]]:
    service = slice_.metadata.labels.get(SLICE_SERVICE_LABEL)
    return [((slice_.metadata.namespace, service), slice_)] if service else []


SLICES = Index("whole-endpointslices-by-service", EndpointSlice, _by_service)


def form_of(service: Service) -> Form:
    if service.spec.type == "ExternalName":
        return "ExternalName"
    return "Allocated" if is_allocated(service) else "Headless"


def route_of(service: Service, view: View) -> Route | None:
    """The Route that controls the Service, or the one of the name in its label."""
    owner = controller_of(service)
    is_route = owner is not None and (group_of(owner.api_version), owner.kind) == (Route.KIND.group, Route.KIND.kind)
    name = owner.name if owner is not None and is_route else service.metadata.labels[ROUTE_LABEL]
    return view.named(Route, service.metadata.namespace, name)


def found_alone(service: Service) -> Found:
    """What the Service itself says."""
    spec = service.spec
    form = form_of(service)
    return Found(
        form=form,
        leads_to=spec.external_name if form == "ExternalName" else spec.cluster_ip if form == "Allocated" else "",
        route=service.metadata.labels[ROUTE_LABEL],
        visibility=service.metadata.labels.get(VISIBILITY_LABEL, ""),
    )


def found_at(service: Service, route: Route | None, view: View) -> Found:
    """What stands there: the Service with all that answers for it."""
    return structs.replace(
        found_alone(service),
        is_controlled=route is not None and is_controlled_by(service, route),
        endpoints=_endpoints(service, route, view),
        slices=tuple(_slice(found, service) for found in slices_of(service, view)),
    )


def slices_of(service: Service, view: View) -> list[EndpointSlice]:
    """All slices of a Service, by name."""
    found = view.select(SLICES, (service.metadata.namespace, service.metadata.name))
    return sorted(found, key=lambda slice_: str(slice_.metadata.name))


def is_own_slice(slice_: EndpointSlice, service: Service) -> bool:
    """Whether gatepost laid the slice for this very Service."""
    return is_controlled_by(slice_, service) and slice_.metadata.labels.get(MANAGED_BY_LABEL) == MANAGER


def ready_addresses(slice_: EndpointSlice) -> tuple[str, ...]:
    """The addresses that DNS gives for the slice. Readers look at the first address of an endpoint only."""
    return tuple(
        endpoint.addresses[0]
        for endpoint in slice_.endpoints
        if endpoint.addresses and endpoint.conditions.ready is not False
    )


def _slice(slice_: EndpointSlice, service: Service) -> FoundSlice:
    return FoundSlice(slice_.metadata.name, ready_addresses(slice_), is_own_slice(slice_, service))


def _endpoints(service: Service, route: Route | None, view: View) -> FoundEndpoints | None:
    endpoints = view.named(Endpoints, service.metadata.namespace, service.metadata.name)
    if endpoints is None:
        return None
    addresses = tuple(address.ip for subset in endpoints.subsets for address in subset.addresses)
    return FoundEndpoints(addresses, route is not None and is_controlled_by(endpoints, route))
