"""The story of a KIngress: routes for its rules, TLS for its hosts, and in its status what Gateways make of them."""

from __future__ import annotations

from gatepost.configmaps.gateway import GatewayConfig, GatewayEntry, current_gateway_config
from gatepost.objects.gatewayapi import Gateway, HTTPRoute
from gatepost.objects.meta import is_controlled_by, is_true
from gatepost.objects.networking import CLUSTER_LOCAL, EXTERNAL_IP, KIngress
from gatepost.objects.problems import Problem, Skipped, UnreadableObject
from gatepost.objects.refs import Ref
from gatepost.reconcilers.gateway.certificates import prune_tls, want_tls
from gatepost.reconcilers.gateway.fronts import FRONT
from gatepost.reconcilers.gateway.httproutes import http_route, label_for
from gatepost.reconcilers.gateway.ownership import CLASS_ANNOTATION, FINALIZER, INGRESS_CLASS, is_ours
from gatepost.reconcilers.gateway.probes import is_probing, is_stuck, probes_of, why_not_passed
from gatepost.reconcilers.gateway.problems import (
    EXTERNAL_NAME_BACKEND,
    GATEWAY_DOES_NOT_EXIST,
    GATEWAY_MISSING,
    GATEWAY_NOT_PROGRAMMED,
    LISTENER_NOT_PROGRAMMED,
    LISTENER_NOT_READY,
    NO_TLS_TO_REDIRECT_TO,
    NOT_OWNED,
    TLS_NOT_READY_TO_REDIRECT_TO,
    CannotServe,
    gateway_missing,
    gateway_without_address,
)
from gatepost.reconcilers.gateway.readiness import why_not_ready
from gatepost.reconcilers.gateway.routing import ROUTES_OF_KINGRESS, route_wishes, why_not_ours
from gatepost.reconcilers.gateway.standing import GATEWAYS_BY_IDENTITY
from gatepost.reconcilers.gateway.status import READY, Status
from gatepost.reconcilers.gateway.tls import identity_of
from gatepost.reconcilers.gateway.warmup import is_warmup_of, why_too_early
from gatepost.reconcilers.gateway.wishes import RouteWish
from gatepost.state.rule import Rule
from gatepost.state.view import View
from gatepost.writes.outcome import Apply, Outcome

_HOLDING = (LISTENER_NOT_READY, GATEWAY_NOT_PROGRAMMED)
_HOLDING_WHAT_IS_SERVED = (LISTENER_NOT_PROGRAMMED, TLS_NOT_READY_TO_REDIRECT_TO)


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
    except (CannotServe, UnreadableObject) as stop:
        tell_failure(stop.problem, out)
        status.failed(stop.problem)
    out.status = status.fields()
    return out


def serve(kingress: KIngress, config: GatewayConfig, view: View, out: Outcome, status: Status) -> None:
    """What a KIngress gets, in the order in which a later step rests on the former.

    Raises: CannotServe where the pass ends early.
    """
    wishes = route_wishes(kingress, config, view, out)
    status.forget_refusal()
    waiting = want_routes(kingress, wishes, config, view, out, status)  # NetworkConfigured
    external = config.entry_for(EXTERNAL_IP, kingress.metadata.labels)
    for refusal in want_tls(kingress, config, view, out):  # grants, ListenerSets; a Gateway's rule puts its listeners
        out.problems.append(refusal)
        out.warn(refusal.reason, refusal.message)
        status.refused(refusal)
    if not out.problems:
        prune_routes(kingress, wishes, waiting, view, out)
        prune_tls(kingress, view, out)
    local = config.entry_for(CLUSTER_LOCAL, kingress.metadata.labels)
    tell_doubts(wishes, waiting, (external, local), view, out, status)
    if is_observed(kingress) and not waiting and not status.is_held:
        report_load_balancers(external, local, view, out, status)  # LoadBalancerReady
    else:
        report_waiting(wishes, external, local, view, out, status)


def is_observed(kingress: KIngress) -> bool:
    """Whether a former pass has seen this generation.

    The first pass over a new spec writes routes whose status, as read in that pass, still speaks of the old ones. So it
    reports no readiness; its own status write brings the next pass, which sees the generation of the routes move.
    """
    return kingress.status.observed_generation == kingress.metadata.generation


def is_settled(kingress: KIngress) -> bool:
    """Whether this generation has been Ready before, so that what goes on now is upkeep."""
    return is_observed(kingress) and is_true(kingress.status.conditions, READY)


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
    unreadable = view.unreadable_of(Gateway)
    if unreadable is not None:
        out.block(unreadable)  # there may be listeners on it
        return out
    gateways = view.select(GATEWAYS_BY_IDENTITY, identity_of(kingress))
    if gateways:
        out.note = f"being deleted; its listeners leave {', '.join(str(gateway) for gateway in gateways)} first"
        return out
    out.finalizers = tuple(sorted(name for name in kingress.metadata.finalizers if name != FINALIZER))
    out.tell("FinalizerUpdate", f'Updated "{kingress.metadata.name}" finalizers')
    return out


def want_routes(
    kingress: KIngress, wishes: list[RouteWish], config: GatewayConfig, view: View, out: Outcome, status: Status
) -> list[RouteWish]:
    """Wants each HTTPRoute that may be ours and whose time has come. Returns: those that are not served yet."""
    waiting = []
    for wish in wishes:
        ref = HTTPRoute.KIND.ref(kingress.metadata.namespace, wish.name)
        present = view.get(HTTPRoute, ref)
        refusal = why_not_ours(kingress, wish, present, view)
        if refusal is not None:
            out.problems.append(refusal)
            out.warn(NOT_OWNED, refusal.message)
            status.refused(refusal)
            waiting.append(wish)
            continue
        entry = config.entry_for(wish.visibility, kingress.metadata.labels)
        too_early = why_too_early(kingress, wish, present, entry, view, out)
        if too_early is None:
            out.want(Apply(http_route(kingress, wish), announce=out.about))
        not_accepted = why_not_ready(present, wish, ref)
        not_served = not_accepted or too_early or why_not_seen(kingress, wish, entry, view, out)
        if not_accepted is None:
            status.route_served()
        else:
            status.route_waiting()
        if not_served is not None:
            out.skipped.append(not_served)
        if not_accepted or (not_served is not None and not is_settled(kingress)):
            waiting.append(wish)
    return waiting


def why_not_seen(kingress: KIngress, wish: RouteWish, entry: GatewayEntry, view: View, out: Outcome) -> Skipped | None:
    """Why the data plane does not serve a route yet, None if it does, or if it is not asked.

    What was Ready once is not asked again for the same generation: a restart would make everything not Ready.
    """
    if is_settled(kingress) or not is_probing(view):
        return None
    for probe in probes_of(kingress, wish, entry, view):
        waiting = why_not_passed(probe, view)
        if waiting is None:
            continue
        if is_stuck(probe, view):
            out.warn(waiting.reason, f"{waiting.at}: {waiting.message}")
        return waiting
    return None


def tell_doubts(
    wishes: list[RouteWish],
    waiting: list[RouteWish],
    entries: tuple[GatewayEntry, GatewayEntry],
    view: View,
    out: Outcome,
    status: Status,
) -> None:
    """What is written but may not serve, in the conditions.

    While routes wait to be accepted, it is no news that listeners are on their way too.
    """
    used = {wish.gateway for wish in wishes}
    for entry in entries:
        why = view.value(FRONT, entry).why_not_programmed if entry.gateway in used else ""
        if why:
            out.skipped.append(Skipped(GATEWAY_NOT_PROGRAMMED, why, entry.gateway, "status"))
    for skipped in out.skipped:
        if skipped.reason == EXTERNAL_NAME_BACKEND:
            status.refused(Problem(skipped.reason, skipped.message, skipped.at, skipped.field))
        elif skipped.reason == NO_TLS_TO_REDIRECT_TO:
            status.not_redirected(skipped.message)
        elif skipped.reason in _HOLDING or (skipped.reason in _HOLDING_WHAT_IS_SERVED and not waiting):
            status.hold(skipped.reason, skipped.message)


def prune_routes(
    kingress: KIngress, wishes: list[RouteWish], waiting: list[RouteWish], view: View, out: Outcome
) -> None:
    """Removes routes of former hosts: those that carry our label and that this KIngress controls.

    A hidden route beside one that is not served yet stays as it is: it keeps the former backends known.
    """
    wanted = {wish.name for wish in wishes} | {apply.ref.name for apply in out.applies}
    for ref in view.select(ROUTES_OF_KINGRESS, (kingress.metadata.namespace, label_for(kingress))):
        if ref.name in wanted or any(is_warmup_of(ref.name, wish) for wish in waiting):
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
