"""From the rules of a KIngress to the HTTPRoutes that it wants, and whose a name of a route is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gatepost.configmaps.gateway import GatewayConfig, GatewayEntry
from gatepost.objects.gatewayapi import HTTPRoute
from gatepost.objects.meta import controller_of, is_controlled_by
from gatepost.objects.networking import KINGRESS_LABEL, KIngress, KIngressPath, KIngressRule
from gatepost.objects.problems import Problem
from gatepost.reconcilers.gateway.admission import Place, place_of
from gatepost.reconcilers.gateway.backends import external_names, served_rules
from gatepost.reconcilers.gateway.fronts import FRONT
from gatepost.reconcilers.gateway.limits import route_name, with_distinct_names, within_limits
from gatepost.reconcilers.gateway.ownership import Claim, claim_of, holder_among, is_ours
from gatepost.reconcilers.gateway.problems import not_owned
from gatepost.reconcilers.gateway.redirects import with_redirect
from gatepost.reconcilers.gateway.tls import TLS, listener_set_ref
from gatepost.reconcilers.gateway.version import version_of, with_defaults
from gatepost.reconcilers.gateway.wishes import RouteWish
from gatepost.state.store import Index
from gatepost.state.view import View
from gatepost.writes.outcome import Outcome


def route_wishes(kingress: KIngress, config: GatewayConfig, view: View, out: Outcome) -> list[RouteWish]:
    """The HTTPRoutes that a KIngress wants, in the order of its rules.

    Raises: CannotServe if a rule cannot be turned into one. A half of the rules would take the names of the other half
        away, so then nothing is changed.
    """
    version = version_of(with_defaults(kingress.spec), kingress.metadata.namespace, kingress.metadata.name)
    wishes: list[RouteWish] = []
    for rule, paths in served_rules(kingress, view):
        whole = _route_wish(kingress, rule, paths, version, config, view)
        for warning in external_names(kingress, whole.paths, view):
            out.skipped.append(warning)
            out.warn(warning.reason, warning.message)
        for wish in with_redirect(kingress, whole, config, view, out):
            wishes.extend(within_limits(wish))
    return with_distinct_names(wishes)


def _route_wish(
    kingress: KIngress,
    rule: KIngressRule,
    paths: tuple[KIngressPath, ...],
    version: str,
    config: GatewayConfig,
    view: View,
) -> RouteWish:
    entry = config.entry_for(rule.visibility, kingress.metadata.labels)
    return RouteWish(
        route_name(rule.hosts),
        tuple(sorted(set(rule.hosts))),
        rule.visibility,
        paths,
        version,
        entry.gateway,
        kingress.metadata.namespace,
        sections=_sections(kingress, rule, entry, view),
        sets=tuple((name, "") for name in listener_sets(kingress, rule, entry, view)),
        has_request_timeout=view.value(FRONT, entry).has_request_timeout,
    )


def _sections(kingress: KIngress, rule: KIngressRule, entry: GatewayEntry, view: View) -> tuple[str, ...]:
    """The listeners that config-gateway confines routes to, and those for TLS of the hosts; () for all there are."""
    tls = view.value(TLS, kingress.ref)
    if not entry.section_name or tls is None:
        return (entry.section_name,) if entry.section_name else ()
    own = (
        one.name
        for one in tls.on(entry.gateway)
        if one.hostname in rule.hosts and place_of(tls, one, view) is Place.ON_GATEWAY
    )
    return (entry.section_name, *own)


def listener_sets(kingress: KIngress, rule: KIngressRule, entry: GatewayEntry, view: View) -> tuple[str, ...]:
    """The ListenerSets in which hosts of a rule have a TLS listener; there is one at most."""
    tls = view.value(TLS, kingress.ref)
    if tls is None:
        return ()
    in_sets = (
        one.hostname in rule.hosts and one.gateway == entry.gateway and place_of(tls, one, view) is Place.IN_SET
        for one in tls.listeners
    )
    return (listener_set_ref(kingress, entry.gateway).name,) if any(in_sets) else ()


def _route_claims(kingress: KIngress) -> Iterable[tuple[Any, Claim]]:
    if is_ours(kingress) and kingress.metadata.deletion_timestamp is None:
        for rule in kingress.spec.rules:
            if rule.hosts:
                yield (kingress.metadata.namespace, route_name(rule.hosts)), claim_of(kingress)


ROUTE_CLAIMS = Index("http-route-claims", KIngress, _route_claims)
"""(namespace, name of a HTTPRoute) -> the KIngresses that want it."""


def why_not_ours(kingress: KIngress, wish: RouteWish, present: HTTPRoute | None, view: View) -> Problem | None:
    """Why a wished HTTPRoute may not be written, None if it may: someone else has it, or was there before.

    Source: net-gateway-api writes over it; `NotOwned` is the reason that Knative has for this.
    """
    ref = HTTPRoute.KIND.ref(kingress.metadata.namespace, wish.name)
    if present is None:
        holder = holder_among(view.select(ROUTE_CLAIMS, (ref.namespace, ref.name)))
        return None if holder in (None, kingress.ref) else not_owned(ref, f"{holder} claimed it before")
    if is_controlled_by(present, kingress):
        return None
    controller = controller_of(present)
    holder_name = f"{controller.kind} {controller.name}" if controller is not None else "nothing"
    return not_owned(ref, f"{holder_name} controls the one that is there")


def _routes_of_kingress(route: HTTPRoute) -> Iterable[tuple[Any, Any]]:
    name = route.metadata.labels.get(KINGRESS_LABEL)
    if name is not None:
        yield (route.metadata.namespace, name), route.ref


ROUTES_OF_KINGRESS = Index("http-routes-of-kingress", HTTPRoute, _routes_of_kingress)
"""(namespace, value of the label for a KIngress) -> the HTTPRoutes that carry it, whoever owns them."""
