"""The story of a KIngress: routes for its rules, TLS for its hosts, and in its status what Gateways make of them."""

from __future__ import annotations

from gatepost.objects.gatewayapi import HTTPRoute
from gatepost.objects.meta import is_controlled_by
from gatepost.objects.networking import CLUSTER_LOCAL, EXTERNAL_IP, KIngress
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.reconcilers.config_gateway import GatewayConfig, GatewayEntry, current_gateway_config
from gatepost.reconcilers.gateway.certificates import prune_grants, want_tls
from gatepost.reconcilers.gateway.fronts import FRONT
from gatepost.reconcilers.gateway.httproutes import RouteWish, http_route
from gatepost.reconcilers.gateway.ownership import CLASS_ANNOTATION, FINALIZER, INGRESS_CLASS, is_ours
from gatepost.reconcilers.gateway.problems import (
    GATEWAY_DOES_NOT_EXIST,
    GATEWAY_MISSING,
    NOT_OWNED,
    CannotServe,
    gateway_missing,
    gateway_without_address,
)
from gatepost.reconcilers.gateway.readiness import why_not_ready
from gatepost.reconcilers.gateway.routing import ROUTES_OF_KINGRESS, route_wishes, why_not_ours
from gatepost.reconcilers.gateway.status import Status
from gatepost.reconcilers.gateway.tls import GATEWAYS_BY_IDENTITY, identity_of
from gatepost.state.rule import Rule
from gatepost.state.view import View
from gatepost.writes.outcome import Apply, Outcome


def reconcile(ref: Ref, view: View) -> Outcome:
    """The whole wish for one KIngress."""
    kingress = view.get(KIngress, ref)
    if kingress is None:
        return Outcome.none("gone; its routes and grants follow it")
    if not is_ours(kingress):
        return Outcome.none(f"annotation {CLASS_ANNOTATION} is not {INGRESS_CLASS}")
    out = Outcome.of(kingress)
    if kingress.metadata.deletion_timestamp is not None:
        return release(kingress, view, out)
    config = current_gateway_config(view)
    if isinstance(config, Problem):
        out.block(config)  # everything stays as it was configured last
        return out
    hold(kingress, out)
    status = Status(kingress)
    try:
        serve(kingress, config, view, out, status)
    except CannotServe as stop:
        tell_failure(stop.problem, out)
        status.failed()
    out.status = status.fields()
    return out


def serve(kingress: KIngress, config: GatewayConfig, view: View, out: Outcome, status: Status) -> None:
    """What a KIngress gets, in the order in which a later step rests on the former.

    Raises: CannotServe where the pass ends early.
    """
    wishes = route_wishes(kingress, config, view, out)
    status.forget_refusal()
    all_served = want_routes(kingress, wishes, view, out, status)  # NetworkConfigured
    external = config.entry_for(EXTERNAL_IP, kingress.metadata.labels)
    for refusal in want_tls(kingress, external, view, out):  # grants; the rule of the Gateway puts the listeners
        out.problems.append(refusal)
        status.refused(refusal)
    if not out.problems:
        prune_routes(kingress, wishes, view, out)
        prune_grants(kingress, view, out)
    local = config.entry_for(CLUSTER_LOCAL, kingress.metadata.labels)
    if is_observed(kingress) and all_served:
        report_load_balancers(external, local, view, out, status)  # LoadBalancerReady
    else:
        report_waiting(wishes, external, local, view, out, status)


def is_observed(kingress: KIngress) -> bool:
    """Whether a former pass has seen this generation.

    The first pass over a new spec writes routes whose status, as read in that pass, still speaks of the old ones. So it
    reports no readiness; its own status write brings the next pass, which sees the generation of the routes move.
    """
    return kingress.status.observed_generation == kingress.metadata.generation


def hold(kingress: KIngress, out: Outcome) -> None:
    """The finalizer, after those that are there: nobody else removes the listeners from the shared Gateway."""
    present = kingress.metadata.finalizers
    if FINALIZER not in present:
        out.finalizers = (*present, FINALIZER)
        out.tell("FinalizerUpdate", f'Updated "{kingress.metadata.name}" finalizers')


def release(kingress: KIngress, view: View, out: Outcome) -> Outcome:
    """A KIngress that is being deleted: it may go as soon as no Gateway has a listener of it.

    Its routes and grants are owned by it and go by themselves, and a Gateway that is gone needs no cleaning.
    """
    if FINALIZER not in kingress.metadata.finalizers:
        out.note = "being deleted; nothing of it is held here"
        return out
    gateways = view.select(GATEWAYS_BY_IDENTITY, identity_of(kingress))
    if gateways:
        out.note = f"being deleted; its listeners leave {', '.join(str(gateway) for gateway in gateways)} first"
        return out
    out.finalizers = tuple(sorted(name for name in kingress.metadata.finalizers if name != FINALIZER))
    out.tell("FinalizerUpdate", f'Updated "{kingress.metadata.name}" finalizers')
    return out


def want_routes(kingress: KIngress, wishes: list[RouteWish], view: View, out: Outcome, status: Status) -> bool:
    """Wants each HTTPRoute that may be ours. Returns: whether all of them are served."""
    all_served = True
    for wish in wishes:
        ref = HTTPRoute.KIND.ref(kingress.metadata.namespace, wish.name)
        present = view.get(HTTPRoute, ref)
        refusal = why_not_ours(kingress, wish, present, view)
        if refusal is not None:
            out.problems.append(refusal)
            out.warn(NOT_OWNED, refusal.message)
            status.refused(refusal)
            all_served = False
            continue
        out.want(Apply(http_route(kingress, wish), announce=out.about))
        waiting = why_not_ready(present, wish, ref)
        if waiting is None:
            status.route_served()
        else:
            out.skipped.append(waiting)
            status.route_waiting()
            all_served = False
    return all_served


def prune_routes(kingress: KIngress, wishes: list[RouteWish], view: View, out: Outcome) -> None:
    """Removes routes of former hosts: those that carry our label and that this KIngress controls."""
    wanted = {wish.name for wish in wishes}
    for ref in view.select(ROUTES_OF_KINGRESS, (kingress.metadata.namespace, kingress.metadata.name)):
        if ref.name in wanted:
            continue
        route = view.get(HTTPRoute, ref)
        if route is not None and route.metadata.deletion_timestamp is None and is_controlled_by(route, kingress):
            out.remove(route, "no rule of the KIngress wants it any more")


def report_load_balancers(
    external: GatewayEntry, local: GatewayEntry, view: View, out: Outcome, status: Status
) -> None:
    """Both load balancers, even where all rules are of one visibility.

    Raises: CannotServe while a Gateway has no address yet.
    """
    fronts = [view.value(FRONT, entry) for entry in (external, local)]
    for entry, front in zip((external, local), fronts, strict=True):
        if front.load_balancer is None and not front.exists:
            problem = gateway_missing(entry.gateway, GATEWAY_DOES_NOT_EXIST)
            out.problems.append(problem)
            status.load_balancer_missing(problem)
            return
    public, private = (front.load_balancer for front in fronts)
    if public is None or private is None:
        status.load_balancer_waiting()
        raise CannotServe(gateway_without_address((external if public is None else local).gateway))
    status.load_balancers_ready(public, private)


def report_waiting(
    wishes: list[RouteWish], external: GatewayEntry, local: GatewayEntry, view: View, out: Outcome, status: Status
) -> None:
    """Not all routes are served: because their Gateway is not there, or because it has not got to them yet."""
    used = {wish.gateway for wish in wishes}
    for entry in (external, local):
        front = view.value(FRONT, entry)
        if entry.gateway in used and not front.exists and front.load_balancer is None:
            problem = gateway_missing(entry.gateway, GATEWAY_DOES_NOT_EXIST)
            out.problems.append(problem)
            status.load_balancer_missing(problem)
            return
    status.load_balancer_waiting()


def tell_failure(problem: Problem, out: Outcome) -> None:
    """The problem that ended the pass, in an event of its own reason where Knative's users know one."""
    out.block(problem)
    if problem.reason in (NOT_OWNED, GATEWAY_MISSING):
        out.warn(problem.reason, problem.message)
    out.warn("InternalError", str(problem))


KINGRESS: Rule[Outcome] = Rule("kingress", reconcile, rank=10, over=KIngress)
