"""The EndpointSlices that give a Route's Service the addresses of the gateway."""

from __future__ import annotations

from typing import Any

from gatepost.objects.core import EndpointSlice, Service, ServicePort, SlicePort
from gatepost.objects.meta import is_controlled_by, owner_reference
from gatepost.objects.names import child_name
from gatepost.objects.problems import Problem
from gatepost.reconcilers.kingress import NOT_OWNED
from gatepost.reconcilers.passes import Pass
from gatepost.reconcilers.route.addresses import SLICE_SERVICE_LABEL, Landing
from gatepost.state.view import View
from gatepost.writes.outcome import Apply, object_fields, raw

MANAGED_BY_LABEL = "endpointslice.kubernetes.io/managed-by"
MANAGER = "gatepost"

ADDRESS_TYPES = ("IPv4", "IPv6")


def lay_slices(service: Service, landing: Landing, view: View, run: Pass) -> bool:
    """Wants one slice for each family that the gateway has, and none for the others.

    Returns: whether the addresses are in place already, so that a Service may turn to them.
    """
    found = [_lay(service, family, landing, view, run) for family in ADDRESS_TYPES]
    return all(found)


def take_back_slices(service: Service, view: View, run: Pass) -> None:
    """Wants none of the slices that we laid for a Service: nobody answers at their addresses any more."""
    for family in ADDRESS_TYPES:
        existing = view.named(EndpointSlice, service.metadata.namespace, slice_name(service, family))
        if existing is not None and is_controlled_by(existing, service):
            run.out.remove(existing, f"the gateway has no {family} address any more")


def port_fields(port: ServicePort | SlicePort) -> dict[str, Any]:
    """The port with its protocol written out, as the API server keeps it."""
    return {"protocol": port.protocol, **raw(port)}


def _lay(service: Service, family: str, landing: Landing, view: View, run: Pass) -> bool:
    addresses = landing.of_family(family)
    namespace = service.metadata.namespace
    name = slice_name(service, family)
    existing = view.named(EndpointSlice, namespace, name)
    is_ours = existing is None or is_controlled_by(existing, service)
    if not addresses:
        if existing is not None and is_ours:
            run.out.remove(existing, f"the gateway has no {family} address any more")
        return True
    if not is_ours:
        foreign = _foreign(service, namespace, name)
        run.out.problems.append(foreign)
        run.out.warn(foreign.reason, str(foreign))
        return False
    run.out.want(slice_for(service, family, addresses, landing.ports))
    return existing is not None and addresses == tuple(one.addresses[0] for one in existing.endpoints if one.addresses)


def slice_name(service: Service, family: str) -> str:
    """The name of the slice that holds the addresses of one family."""
    return child_name(service.metadata.name, f"-{family.lower()}")


def slice_for(service: Service, family: str, addresses: tuple[str, ...], ports: tuple[SlicePort, ...]) -> Apply:
    """The slice that leads a Service to addresses of one family ("IPv4" or "IPv6")."""
    fields = object_fields(
        EndpointSlice,
        service.metadata.namespace,
        slice_name(service, family),
        owners=(owner_reference(service),),
        labels={SLICE_SERVICE_LABEL: service.metadata.name, MANAGED_BY_LABEL: MANAGER},
        addressType=family,
        # One address for each endpoint: readers look at the first only.
        endpoints=[{"addresses": [address], "conditions": {"ready": True}} for address in addresses],
        ports=[port_fields(port) for port in ports],
    )
    return Apply(fields, whole=())


def _foreign(service: Service, namespace: str, name: str) -> Problem:
    return Problem(
        NOT_OWNED,
        f"{service.ref} does not control it, wanted the name for the addresses of the gateway.",
        EndpointSlice.KIND.ref(namespace, name),
        "metadata.ownerReferences",
        "Delete or rename it.",
    )
