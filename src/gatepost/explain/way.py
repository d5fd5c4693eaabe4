"""The way of a name: the objects that take it in, each below the one that made it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import structs

from gatepost.explain.gateway_steps import gateway_route_step
from gatepost.explain.knative_steps import kingress_step, mapping_step, route_step
from gatepost.explain.names import Mention
from gatepost.explain.scene import Scene
from gatepost.explain.service_steps import dns_endpoint_step, service_step
from gatepost.explain.values import Step
from gatepost.objects.core import Service
from gatepost.objects.dnsendpoint import DNSEndpoint
from gatepost.objects.gatewayapi import GRPCRoute, HTTPRoute, TCPRoute, TLSRoute, UDPRoute
from gatepost.objects.meta import KubernetesObject, is_controlled_by
from gatepost.objects.networking import KIngress
from gatepost.objects.serving import DomainMapping, Route

StepOf = Callable[[Scene, Mention], Step]

STAGES: Mapping[type[KubernetesObject], StepOf] = {
    DomainMapping: mapping_step,
    Route: route_step,
    KIngress: kingress_step,
    HTTPRoute: gateway_route_step,
    GRPCRoute: gateway_route_step,
    TLSRoute: gateway_route_step,
    TCPRoute: gateway_route_step,
    UDPRoute: gateway_route_step,
    Service: service_step,
    DNSEndpoint: dns_endpoint_step,
}
"""Kind -> how its step is made, in the order in which a name passes them."""

_ORDER = {type_: index for index, type_ in enumerate(STAGES)}


def way_of(scene: Scene, mentions: Sequence[Mention]) -> tuple[Step, ...]:
    """The steps of these objects as a forest; objects that something else made stand below it."""
    sorted_mentions = sorted(mentions, key=_stage)  # stable: the most specific hostnames stay in front
    return tuple(_with_children(scene, mention, sorted_mentions) for mention in _roots(sorted_mentions))


def all_steps(steps: Sequence[Step]) -> Iterator[Step]:
    """Each step before those that it leads to."""
    for step in steps:
        yield step
        yield from all_steps(step.leads_to)


def paths(steps: Sequence[Step], above: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    """Each step with all that stand above it, the topmost first."""
    for step in steps:
        here = (*above, step)
        yield here
        yield from paths(step.leads_to, here)


def _roots(mentions: list[Mention]) -> list[Mention]:
    return [mention for mention in mentions if not any(_is_made_by(mention, above) for above in mentions)]


def _with_children(scene: Scene, mention: Mention, mentions: list[Mention]) -> Step:
    step = STAGES[type(mention.obj)](scene, mention)
    children = [_with_children(scene, below, mentions) for below in mentions if _is_made_by(below, mention)]
    return structs.replace(step, leads_to=(*children, *step.leads_to)) if children else step


def _is_made_by(below: Mention, above: Mention) -> bool:
    if below.ref.namespace != above.ref.namespace:
        return False  # without UIDs, in manifests, owners are compared by kind and name alone
    # Only later stages: objects that claim to own each other would have no end.
    return _stage(above) < _stage(below) and is_controlled_by(below.obj, above.obj)


def _stage(mention: Mention) -> int:
    return _ORDER[type(mention.obj)]
