"""The story of a Route: traffic, names, Services, certificates, KIngress, readiness, rollout."""

from __future__ import annotations

from gatepost.objects.networking import KIngress
from gatepost.objects.problems import Problem, UnreadableObject
from gatepost.objects.refs import Ref
from gatepost.objects.serving import Route
from gatepost.reconcilers.annotations import http_option
from gatepost.reconcilers.kingress import (
    INGRESS_READY,
    foreign_kingress,
    kingress_ref,
    mark_ingress,
    mark_not_configured,
)
from gatepost.reconcilers.passes import Pass, unchanged
from gatepost.reconcilers.route.certificate import provide_tls
from gatepost.reconcilers.route.conditions import ALL_TRAFFIC_ASSIGNED, DEPENDENTS, ROLLOUT_IN_PROGRESS
from gatepost.reconcilers.route.gradual import current_rollout
from gatepost.reconcilers.route.ingress import Plan, ingress_for, ingress_spec
from gatepost.reconcilers.route.names import RouteSettings, TargetNames, names_of, settings_for
from gatepost.reconcilers.route.placeholders import place_services
from gatepost.reconcilers.route.status import report
from gatepost.reconcilers.route.traffic import MAIN, Traffic, resolve_traffic
from gatepost.state.rule import Rule
from gatepost.state.view import View
from gatepost.writes.outcome import Outcome


def reconcile(ref: Ref, view: View) -> Outcome:
    """The whole wish for one Route.

    The order of the steps decides which conditions a stop leaves as they were.
    Source: knative/serving pkg/reconciler/route.
    """
    route = view.get(Route, ref)
    if route is None:
        return Outcome.none("gone; its owned objects follow")
    if route.metadata.deletion_timestamp is not None:
        out = Outcome.of(route)
        out.note = "being deleted; its owned objects follow"
        return out
    settings = settings_for(route, view)
    if isinstance(settings, Problem):
        return unchanged(route, settings)
    run = Pass(route, DEPENDENTS)
    if run.is_new_generation:
        mark_not_configured(run.conditions)
    try:
        _serve(route, settings, view, run)
    except UnreadableObject as stop:
        run.stop(stop.problem)
    return run.finish()


def _serve(route: Route, settings: RouteSettings, view: View, run: Pass) -> None:
    main = names_of(route, MAIN, settings, view)
    if isinstance(main, Problem):
        return run.fail(ALL_TRAFFIC_ASSIGNED, main)
    run.status["url"] = main.url(settings.network.default_external_scheme)
    traffic = _assign(route, view, run)  # AllTrafficAssigned
    if traffic is None:
        return None
    names = _names_by_tag(route, traffic, settings, view)
    if isinstance(names, Problem):
        return run.fail(ALL_TRAFFIC_ASSIGNED, names)
    report(traffic, names, settings, run)
    run.conditions.mark_true(ALL_TRAFFIC_ASSIGNED)
    existing = view.get(KIngress, kingress_ref(route))
    foreign = foreign_kingress(existing, route)
    if not place_services(route, names, None if foreign else existing, settings, view, run):
        return None
    tls = provide_tls(route, names, settings, view, run)  # CertificateProvisioned
    if tls is None:
        return None
    report(traffic, names, settings, run, schemes=tls.schemes)
    option = http_option(route, settings.network)
    if isinstance(option, Problem):
        return run.stop(option)
    if foreign is not None:
        return run.fail(INGRESS_READY, foreign)
    rollout = current_rollout(route, traffic, existing, settings, view, was_ready=run.conditions.is_true(INGRESS_READY))
    plan = Plan(traffic, names, rollout, settings, route.metadata.namespace)
    spec = ingress_spec(plan, tls.entries, tls.challenges, option)
    run.out.want(ingress_for(route, plan, spec))
    if not rollout.is_running:
        mark_ingress(run.conditions, existing, spec)  # IngressReady
        return None
    run.conditions.mark_unknown(
        INGRESS_READY, ROLLOUT_IN_PROGRESS, "The latest revision is getting its traffic in steps."
    )
    report(traffic, names, settings, run, schemes=tls.schemes, rollout=rollout)
    return None


def _assign(route: Route, view: View, run: Pass) -> Traffic | None:
    """The traffic, or the mark of a target that cannot be served: no error, since what is missing wakes the Route."""
    traffic = resolve_traffic(route, view)
    if isinstance(traffic, Traffic):
        return traffic
    mark = run.conditions.mark_false if traffic.is_failure else run.conditions.mark_unknown
    mark(ALL_TRAFFIC_ASSIGNED, traffic.problem.reason, str(traffic.problem))
    run.wait(traffic.problem)
    return None


def _names_by_tag(
    route: Route, traffic: Traffic, settings: RouteSettings, view: View
) -> dict[str, TargetNames] | Problem:
    names: dict[str, TargetNames] = {}
    for tag in sorted(traffic.targets):
        found = names_of(route, tag, settings, view)
        if isinstance(found, Problem):
            return found
        names[tag] = found
    return names


ROUTE: Rule[Outcome] = Rule("route", reconcile, rank=10, over=Route)
