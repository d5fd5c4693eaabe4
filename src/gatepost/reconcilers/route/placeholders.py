"""The Services that hold a Route's names inside the cluster: reserved at once, then led to the gateway.

They are headless, with slices of the gateway's addresses. ExternalName is what Knative writes there; gateways refuse it
as a backend, and it cannot hold an address. One that is found is changed in place, once its slices have been seen.
A Service is never deleted to change its form: its name would be gone meanwhile, and its labels for good.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from gatepost.objects.core import Endpoints, Service, ServicePort
from gatepost.objects.meta import KubernetesObject, ObjectMeta, is_controlled_by, owner_reference
from gatepost.objects.networking import CLUSTER_LOCAL_VISIBILITY, VISIBILITY_LABEL, KIngress
from gatepost.objects.problems import Problem
from gatepost.objects.serving import ROUTE_LABEL, Route
from gatepost.reconcilers.kingress import INGRESS_READY, NOT_OWNED
from gatepost.reconcilers.passes import Pass
from gatepost.reconcilers.route.addresses import (
    ADDRESS_GONE,
    H2C_APP_PROTOCOL,
    HTTP_PORT,
    HTTPS_PORT,
    Landing,
    landing_of,
)
from gatepost.reconcilers.route.names import RouteSettings, TargetNames
from gatepost.reconcilers.route.slices import lay_slices, port_fields, take_back_slices
from gatepost.state.store import Index
from gatepost.state.view import View
from gatepost.writes.outcome import Apply, object_fields, subject

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_EXTERNAL_NAME = "ExternalName"
_HEADLESS = "None"

_PORT = ServicePort(port=80, name=HTTP_PORT.name, app_protocol=H2C_APP_PROTOCOL, target_port=80)
_TLS_PORT = ServicePort(port=443, name=HTTPS_PORT.name, target_port=443)
_MESH_PORT = ServicePort(port=80, name="http", target_port=80)


class Form(Struct, frozen=True):
    """What decides how a Service answers. Without `cluster_ip` the API server allocates one, if the type has one."""

    type: str
    ports: tuple[ServicePort, ...]
    cluster_ip: str = ""
    external_name: str = ""

    def spec(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"type": self.type, "ports": [port_fields(port) for port in self.ports]}
        if self.cluster_ip:
            fields["clusterIP"] = self.cluster_ip
        if self.external_name:
            fields["externalName"] = self.external_name
        return fields

    @property
    def freed(self) -> tuple[str, ...]:
        """The fields that a Service on its way to this form must let go of."""
        return () if self.cluster_ip else ("spec.clusterIP", "spec.clusterIPs")


HEADLESS = Form("ClusterIP", (_PORT,), cluster_ip=_HEADLESS)


def _by_route(service: Service) -> Iterable[tuple[Hashable, Any]]:
    metadata = service.metadata
    route = metadata.labels.get(ROUTE_LABEL)
    if route:
        kept = ObjectMeta(
            name=metadata.name,
            namespace=metadata.namespace,
            uid=metadata.uid,
            owner_references=metadata.owner_references,
        )
        yield (metadata.namespace, route), Service(metadata=kept)


PLACEHOLDERS = Index("services-by-route", Service, _by_route)


def place_services(
    route: Route,
    names: Mapping[str, TargetNames],
    ingress: KIngress | None,
    settings: RouteSettings,
    view: View,
    run: Pass,
) -> bool:
    """Wants a Service for each target, and where it leads as far as the gateway is known.

    Args:
        ingress: the Route's KIngress as it is, None if it has none yet.
    Returns: False if an object of somebody else stands under one of the names; the Route is then stopped. The names
        before that one are reserved all the same, and what stands under the names of the Route stays as it is.
    """
    for one in names.values():
        foreign = _foreign(route, one.label, view)
        if foreign is not None:
            run.fail(INGRESS_READY, foreign)
            return False
        _reserve(route, one.label, view, run)
    for one in names.values():
        _lead(route, one, ingress, settings, view, run)
    _drop_orphans(route, {one.label for one in names.values()}, view, run)
    return True


def _foreign(route: Route, label: str, view: View) -> Problem | None:
    namespace = route.metadata.namespace
    found: tuple[KubernetesObject | None, ...] = (
        view.named(Service, namespace, label),
        view.named(Endpoints, namespace, label),
    )
    for existing in found:
        if existing is not None and not is_controlled_by(existing, route):
            return Problem(
                NOT_OWNED,
                f"{route.ref} does not control it, wanted the name for a host of the Route.",
                existing.ref,
                "metadata.ownerReferences",
                "Delete or rename it, or rename the Route or its tag.",
            )
    return None


def _reserve(route: Route, label: str, view: View, run: Pass) -> None:
    if view.named(Service, route.metadata.namespace, label) is None:
        run.out.want(_service(route, label, HEADLESS))


def _lead(
    route: Route, names: TargetNames, ingress: KIngress | None, settings: RouteSettings, view: View, run: Pass
) -> None:
    """Leads a Service that is there to the gateway, as far as that is known."""
    service = view.named(Service, route.metadata.namespace, names.label)
    if service is None:
        return
    landing = landing_for(service, ingress, settings, view)
    if isinstance(landing, Problem):
        run.out.problems.append(landing)
        if landing.reason == ADDRESS_GONE:
            take_back_slices(service, view, run)
    if not isinstance(landing, Landing):
        run.out.want(_service(route, names.label, HEADLESS, left_as_found=("spec",)))
        return
    laid = lay_slices(service, landing, view, run)
    if laid and not landing.is_mesh_only:
        _drop_endpoints(route, names.label, view, run)
    if service.spec.type == _EXTERNAL_NAME and not laid:
        run.out.want(_service(route, names.label, HEADLESS, left_as_found=("spec",)))
        return
    form = form_for(service, landing, names.host, with_tls=settings.network.cluster_local_domain_tls)
    # Ports that are right already stay as they are written, with the defaults that the API server filled in.
    left = ("spec.ports",) if form.ports == service.spec.ports else ()
    run.out.want(_service(route, names.label, form, left_as_found=left))


def landing_for(
    service: Service, ingress: KIngress | None, settings: RouteSettings, view: View
) -> Landing | Problem | None:
    """Where a Service leads by the status of its Route's KIngress; None while there is no KIngress."""
    if ingress is None:
        return None
    return landing_of(
        ingress,
        settings.cluster_domain,
        is_private=service.metadata.labels.get(VISIBILITY_LABEL) == CLUSTER_LOCAL_VISIBILITY,
        is_translated=is_allocated(service),
        has_tls=settings.network.cluster_local_domain_tls,
        view=view,
    )


def is_allocated(service: Service) -> bool:
    """Whether it has a cluster IP, or will have one: a manifest need not say which."""
    return service.spec.type != _EXTERNAL_NAME and service.spec.cluster_ip != _HEADLESS


def form_for(service: Service, landing: Landing, bridge: str, *, with_tls: bool) -> Form:
    """The form that a Service that exists gets next.

    | landing   | ExternalName      | headless                   | with a cluster IP |
    | addresses | headless          | as it is                   | as it is          |
    | mesh only | with a cluster IP | ExternalName for one write | as it is          |

    A cluster IP can be had only by way of ExternalName: elsewhere the API server refuses to change it.

    Args:
        bridge: the name that it points to on that way.
    """
    if is_allocated(service):
        ports = (_MESH_PORT,) if landing.is_mesh_only else (_PORT, _TLS_PORT) if with_tls else (_PORT,)
        return Form(service.spec.type, ports, cluster_ip=service.spec.cluster_ip)
    if not landing.is_mesh_only:
        return HEADLESS
    if service.spec.type == _EXTERNAL_NAME:
        return Form("ClusterIP", (_MESH_PORT,))
    return Form(_EXTERNAL_NAME, (_MESH_PORT,), external_name=bridge)


def _service(route: Route, label: str, form: Form, left_as_found: tuple[str, ...] = ()) -> Apply:
    """The Service of a target. Labels and annotations of others stay, the label that makes it private above all."""
    labels = {key: value for key, value in route.metadata.labels.items() if key != VISIBILITY_LABEL}
    annotations = {key: value for key, value in route.metadata.annotations.items() if key != _LAST_APPLIED}
    fields = object_fields(
        Service,
        route.metadata.namespace,
        label,
        owners=(owner_reference(route),),
        labels={**labels, ROUTE_LABEL: route.metadata.name},
        annotations=annotations,
        spec=form.spec(),
    )
    return Apply(
        fields,
        whole=() if "spec" in left_as_found else ("spec.externalName", *form.freed),
        at_creation=("metadata.ownerReferences", *left_as_found),
        announce=subject(route),
    )


def _drop_endpoints(route: Route, label: str, view: View, run: Pass) -> None:
    """Deletes the Endpoints that Knative wrote: left in place, they would be mirrored into a second slice."""
    endpoints = view.named(Endpoints, route.metadata.namespace, label)
    if endpoints is not None and is_controlled_by(endpoints, route):
        run.out.remove(endpoints, "slices have taken its place")


def _drop_orphans(route: Route, labels: set[str], view: View, run: Pass) -> None:
    """Deletes Services of tags that are gone. Only what the Route controls: a label proves nothing."""
    for service in view.select(PLACEHOLDERS, (route.metadata.namespace, route.metadata.name)):
        if service.metadata.name not in labels and is_controlled_by(service, route):
            run.out.remove(service, f"no traffic target of {route.ref} has this name any more")
            _drop_endpoints(route, service.metadata.name, view, run)
