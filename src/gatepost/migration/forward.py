"""Off ExternalName: which steps lead one Service to the addresses of its gateway, its name answered all the way.

| found        | the gateway has addresses                                     | mesh only                            |
| ---          | ---                                                           | ---                                  |
| ExternalName | slices, check, one update to headless; its Endpoints go       | one update to an allocated cluster IP |
| headless     | slices, check; its Endpoints go                               | ExternalName, then an allocated one  |
| allocated    | stays allocated: slices, check, the names of its ports        | the name of its port                 |

Slices of a Service that is an ExternalName are ignored by DNS, so they can be laid before. CNAME before, addresses
after, with the same gateway behind both: answers that resolvers still keep stay good.
"""

from __future__ import annotations

from msgspec.structs import replace

from gatepost.migration import values
from gatepost.migration.found import form_of, is_own_slice, ready_addresses, slices_of
from gatepost.migration.scene import Scene
from gatepost.migration.values import CheckSlices, DeleteObject, LaySlice, Step, TurnService
from gatepost.objects.core import Endpoints, EndpointSlice, Service, ServiceSpec
from gatepost.objects.meta import is_controlled_by
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.reconcilers.kingress import NOT_OWNED
from gatepost.reconcilers.route.placeholders import Form, form_for, is_allocated
from gatepost.reconcilers.route.slices import ADDRESS_TYPES, slice_for, slice_name
from gatepost.state.view import View
from gatepost.writes.outcome import Delete

NO_BRIDGE = "NoBridge"


def steps_forward(scene: Scene, view: View) -> tuple[Step, ...] | Problem:
    """The steps, in order; empty if it stands as wanted. Returns: a problem if there is no way without a gap."""
    return _to_mesh(scene, view) if scene.landing.is_mesh_only else _to_addresses(scene, view)


def _to_addresses(scene: Scene, view: View) -> tuple[Step, ...] | Problem:
    foreign = _foreign_slice(scene, view)
    if foreign is not None:
        return foreign
    laid = _slices(scene, view)
    turned = _turn(scene.service, _form(scene.service, scene))
    after: values.Form = "Allocated" if is_allocated(scene.service) else "Headless"
    gone = _old_endpoints(scene, after, view)
    if not (laid or turned or gone):
        return ()
    # Also where nothing had to be laid: what takes the answer away comes only after the slices were seen.
    return (*laid, _check(scene), *turned, *gone)


def _to_mesh(scene: Scene, view: View) -> tuple[Step, ...] | Problem:
    service, steps = scene.service, list[Step]()
    form = _form(service, scene)
    if form.type == "ExternalName":
        if form.external_name == scene.names.cluster:
            return Problem(
                NO_BRIDGE,
                "is headless, and the mesh needs a cluster IP. On the way the name would point to itself, since a "
                "private name has no other.",
                service.ref,
                "spec.clusterIP",
                "Leave it: the mesh answers for the name by itself.",
            )
        steps += _turn(service, form)
        service = replace(service, spec=ServiceSpec(type="ExternalName", external_name=form.external_name))
        form = _form(service, scene)
    steps += _turn(service, form)
    steps += [_delete(slice_, "the mesh needs none") for slice_ in _own_slices(scene, view)]
    return tuple(steps)


def _form(service: Service, scene: Scene) -> Form:
    return form_for(service, scene.landing, scene.names.host, with_tls=scene.settings.network.cluster_local_domain_tls)


def _turn(service: Service, form: Form) -> list[Step]:
    """The one update to a form, none if the Service has it already."""
    before = form_of(service)
    after = form_of(replace(service, spec=ServiceSpec(type=form.type, cluster_ip=form.cluster_ip)))
    if before == after and service.spec.ports == form.ports:
        return []
    spec = form.spec()
    if before == after:
        return [TurnService(service.ref, {"ports": spec["ports"]}, before, after, ports_only=True)]
    if before == "ExternalName":
        spec["externalName"] = None
    # Towards ExternalName the cluster IP is not named: the server frees it only if the writer left it alone.
    return [TurnService(service.ref, spec, before, after)]


def _slices(scene: Scene, view: View) -> list[Step]:
    """The slices that do not hold what they should yet."""
    steps: list[Step] = []
    for family in ADDRESS_TYPES:
        addresses = scene.landing.of_family(family)
        if addresses and not _holds(_slice(scene, family, view), addresses, scene):
            apply = slice_for(scene.service, family, addresses, scene.landing.ports)
            steps.append(LaySlice(apply, addresses))
    return steps


def _holds(slice_: EndpointSlice | None, addresses: tuple[str, ...], scene: Scene) -> bool:
    return slice_ is not None and ready_addresses(slice_) == addresses and slice_.ports == scene.landing.ports


def _check(scene: Scene) -> CheckSlices:
    slices = tuple(_slice_ref(scene, family) for family in ADDRESS_TYPES if scene.landing.of_family(family))
    return CheckSlices(scene.service.ref, slices, scene.landing.addresses)


def _foreign_slice(scene: Scene, view: View) -> Problem | None:
    for family in ADDRESS_TYPES:
        slice_ = _slice(scene, family, view)
        if slice_ is not None and not is_controlled_by(slice_, scene.service):
            return Problem(
                NOT_OWNED,
                f"{scene.service.ref} does not control it, wanted the name for the addresses of the gateway.",
                slice_.ref,
                "metadata.ownerReferences",
                "Delete or rename it.",
            )
    return None


def _old_endpoints(scene: Scene, form: values.Form, view: View) -> list[Step]:
    """The Endpoints that Knative wrote. The slice that the cluster mirrored from it goes with it."""
    endpoints = view.named(Endpoints, scene.service.metadata.namespace, scene.service.metadata.name)
    if endpoints is None:
        return []
    cause = "slices have taken its place"
    return [DeleteObject(Delete(endpoints.ref, endpoints.metadata.uid, cause), form)]


def _own_slices(scene: Scene, view: View) -> list[EndpointSlice]:
    return [slice_ for slice_ in slices_of(scene.service, view) if is_own_slice(slice_, scene.service)]


def _delete(slice_: EndpointSlice, cause: str) -> DeleteObject:
    return DeleteObject(Delete(slice_.ref, slice_.metadata.uid, cause), "Allocated")


def _slice(scene: Scene, family: str, view: View) -> EndpointSlice | None:
    return view.get(EndpointSlice, _slice_ref(scene, family))


def _slice_ref(scene: Scene, family: str) -> Ref:
    return EndpointSlice.KIND.ref(scene.service.metadata.namespace, slice_name(scene.service, family))
