"""The step of a Service, which every cluster serves under its own name, and that of a DNSEndpoint."""

from __future__ import annotations

from collections.abc import Iterable

from gatepost.dns.records import Claims
from gatepost.explain.names import Asked, Mention
from gatepost.explain.scene import Scene, step_of
from gatepost.explain.values import Step
from gatepost.objects.core import EndpointSlice, Service
from gatepost.objects.meta import controller_of
from gatepost.objects.problems import Skipped

SERVICE_NAME_LABEL = "kubernetes.io/service-name"
NO_READY_ENDPOINTS = "NoReadyEndpoints"
NO_SUCH_SERVICE = "NoSuchService"

_MOST_ADDRESSES = 4


def service_step(scene: Scene, mention: Mention) -> Step:
    """A Service under its cluster name. That of a Route only leads to a Gateway, so it serves nothing by itself."""
    service = mention.obj
    assert isinstance(service, Service)
    is_alone = _is_alone(service)
    if service.spec.type == "ExternalName":
        says = f"is another name for {service.spec.external_name}"
        return step_of(scene, mention, says=says, serves=True if is_alone else None)
    ready, known = _addresses(scene, service)
    if ready:
        count = f"{len(ready)} ready address{'' if len(ready) == 1 else 'es'}"
        shown = ", ".join(ready[:_MOST_ADDRESSES]) + (", ..." if len(ready) > _MOST_ADDRESSES else "")
        return step_of(scene, mention, says=f"{count}: {shown}", serves=True if is_alone else None)
    found = "none of its EndpointSlices has a ready address" if known else "no EndpointSlice of it is known"
    why = Skipped(NO_READY_ENDPOINTS, found, mention.ref)
    return step_of(scene, mention, skipped=(why,), serves=False, waiting=is_alone and not known)


def why_no_cluster_dns(asked: Asked, way: Iterable[Step]) -> Skipped | None:
    """Why the cluster's own DNS leads nowhere for a name of the cluster; None if it answers.

    Args:
        way: all steps. The Service of the name is among them if it exists.
    """
    if asked.service is None:
        return None
    ref = Service.KIND.ref(*asked.service)
    step = next((step for step in way if step.about == ref), None)
    if step is None:
        return Skipped(NO_SUCH_SERVICE, "does not exist, so the cluster's DNS has no such name", ref)
    return next((why for why in step.skipped if why.reason == NO_READY_ENDPOINTS), None)


def dns_endpoint_step(scene: Scene, mention: Mention) -> Step:
    """Records that a user wrote. Where they lead is not known here, so they serve if they are taken."""
    values = (scene.engine.value(rule, mention.ref) for rule in scene.engine.rules)
    claimed = [
        claim
        for value in values
        if isinstance(value, Claims)
        for claim in value.claims
        if claim.records and scene.asked.is_taken_in_by(claim.name)
    ]
    return step_of(scene, mention, says="records as they are written", serves=bool(claimed))


def _is_alone(service: Service) -> bool:
    controller = controller_of(service)
    return controller is None or controller.kind != "Route"


def _addresses(scene: Scene, service: Service) -> tuple[list[str], bool]:
    """The ready addresses behind a Service, sorted; and whether any EndpointSlice of it is known."""
    slices = [
        obj
        for ref, obj in scene.engine.store.items()
        if isinstance(obj, EndpointSlice)
        and ref.namespace == service.metadata.namespace
        and obj.metadata.labels.get(SERVICE_NAME_LABEL) == service.metadata.name
    ]
    ready = {
        address
        for one in slices
        for endpoint in one.endpoints
        if endpoint.conditions.ready is not False
        for address in endpoint.addresses
    }
    return sorted(ready), bool(slices)
