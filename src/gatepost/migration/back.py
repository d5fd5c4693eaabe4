"""Back to what Knative's own Route controller writes, so that it finds nothing to delete and create.

| the gateway reports | back to                                                                          |
| ---                 | ---                                                                              |
| a name              | one update to ExternalName (the server frees the cluster IP), then the slices go |
| an IP               | headless, as Knative has it: the slices go once its Endpoints answers            |
| mesh only           | an allocated cluster IP, as Knative has it                                       |
"""

from __future__ import annotations

from gatepost.migration.found import form_of, is_own_slice, ready_addresses, slices_of
from gatepost.migration.scene import Scene
from gatepost.migration.values import CheckSlices, DeleteObject, Form, Step, TurnService
from gatepost.objects.core import EndpointSlice
from gatepost.objects.problems import Problem
from gatepost.reconcilers.route.placeholders import HEADLESS
from gatepost.state.view import View
from gatepost.writes.outcome import Delete

ENDPOINTS_MISSING = "EndpointsMissing"
MIRROR = "endpointslicemirroring-controller.k8s.io"

_EXTERNAL_PORTS = HEADLESS.spec()["ports"]


def steps_back(scene: Scene, view: View) -> tuple[Step, ...] | Problem:
    """The steps, in order; empty if it stands as wanted. Returns: a problem if there is no way without a gap."""
    own = [slice_ for slice_ in slices_of(scene.service, view) if is_own_slice(slice_, scene.service)]
    if scene.landing.is_mesh_only:
        return _deletions(own, "the mesh needs none", "Allocated") if form_of(scene.service) == "Allocated" else ()
    name = "" if scene.entry.ip else scene.entry.domain_internal or scene.entry.domain
    return _to_name(scene, name, own) if name else _to_endpoints(scene, own, view)


def _to_name(scene: Scene, name: str, own: list[EndpointSlice]) -> tuple[Step, ...]:
    before = form_of(scene.service)
    deletions = _deletions(own, "a CNAME answers for the name", "ExternalName")
    if before == "ExternalName":
        return deletions
    # No clusterIP in the patch: the server frees it only if the writer left it alone, and "None" counts as one.
    spec = {"type": "ExternalName", "externalName": name, "ports": _EXTERNAL_PORTS}
    return (TurnService(scene.service.ref, spec, before, "ExternalName"), *deletions)


def _to_endpoints(scene: Scene, own: list[EndpointSlice], view: View) -> tuple[Step, ...] | Problem:
    if not own:
        return ()
    mirrored = [
        slice_
        for slice_ in slices_of(scene.service, view)
        if slice_.metadata.labels.get("endpointslice.kubernetes.io/managed-by") == MIRROR and ready_addresses(slice_)
    ]
    if not mirrored:
        return Problem(
            ENDPOINTS_MISSING,
            "is headless, as Knative has it for a gateway with an address, and only gatepost's slices answer for it.",
            scene.service.ref,
            "spec.clusterIP",
            "Start Knative's Route controller, which writes Endpoints, then run this again to delete the slices.",
        )
    addresses = tuple(address for slice_ in mirrored for address in ready_addresses(slice_))
    check = CheckSlices(scene.service.ref, tuple(slice_.ref for slice_ in mirrored), addresses)
    return (check, *_deletions(own, "the Endpoints of Knative answer for the name", form_of(scene.service)))


def _deletions(slices: list[EndpointSlice], cause: str, form: Form) -> tuple[Step, ...]:
    return tuple(DeleteObject(Delete(slice_.ref, slice_.metadata.uid, cause), form) for slice_ in slices)
