"""The rules of the DNS part for given settings, ready for an engine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gatepost.configmaps.gateway import CONFIG_GATEWAY, CONFIG_MAPS
from gatepost.dns.claims import CLAIMS, CLAIMS_BY_NAME, RECORD_SETS, RecordSetRule
from gatepost.dns.fqdn_templates import FLAG, FqdnTemplates
from gatepost.dns.records import Claims, RecordSet
from gatepost.dns.settings import DnsSettings
from gatepost.dns.sources.dns_endpoints import EndpointRule
from gatepost.dns.sources.endpoint_status import ENDPOINT_STATUS, EndpointStatusRule
from gatepost.dns.sources.filters import Filters
from gatepost.dns.sources.gateway_listeners import ListenerRule
from gatepost.dns.sources.hostnames import Template
from gatepost.dns.sources.knative import KnativeRule
from gatepost.dns.sources.knative_gateways import BALANCER_ADDRESSES, KNATIVE_GATEWAYS
from gatepost.dns.sources.knative_targets import KnativeTargets
from gatepost.dns.sources.offers import NAMESPACE_OFFERS, OFFERS, NamespaceOfferRule, Offer, OfferRule
from gatepost.dns.sources.parents import PARENTS, Parent, ParentRule
from gatepost.dns.sources.routes import RouteRule
from gatepost.dns.validity import coexisting_claims, valid_claims
from gatepost.dns.wrappers.chain import Chain
from gatepost.dns.wrappers.default_targets import DefaultTargets
from gatepost.dns.wrappers.ptr import PTR_RECORD_SETS, REVERSE_NAMES, PtrRule
from gatepost.gotemplate import TemplateSyntaxError
from gatepost.objects.dnsendpoint import DNSEndpoint
from gatepost.objects.gatewayapi import (
    Gateway,
    GatewayRoute,
    GRPCRoute,
    HTTPRoute,
    ListenerSet,
    TCPRoute,
    TLSRoute,
    UDPRoute,
)
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import UnreadableObject
from gatepost.objects.refs import Ref
from gatepost.objects.serving import DomainMapping, Route
from gatepost.state.rule import Rule
from gatepost.state.store import Index
from gatepost.state.view import View

ROUTE_SOURCES: dict[str, type[GatewayRoute]] = {
    "gateway-httproute": HTTPRoute,
    "gateway-grpcroute": GRPCRoute,
    "gateway-tlsroute": TLSRoute,
    "gateway-tcproute": TCPRoute,
    "gateway-udproute": UDPRoute,
}

KNATIVE = "knative"

_PARENTS_RANK, _OFFERS_RANK, _NAMESPACE_OFFERS_RANK = 20, 24, 26
_CLAIMS_RANK, _RECORD_SETS_RANK, _PTR_RANK, _STATUS_RANK = 30, 40, 50, 60

_Source = Callable[[Any, View], Claims]


class BadSettings(ValueError):
    """Settings that cannot be worked with; the text is one line for each thing that is wrong."""


def rules(
    settings: DnsSettings, template: Template | None = None, *, writes_status: bool = False
) -> tuple[tuple[Rule[Any], ...], tuple[Index, ...]]:
    """The rules and indexes for an engine: only those that the chosen sources need.

    Args:
        template: makes names in place of --fqdn-template, for tests.
        writes_status: also gives the rule whose outcome is the status of DNSEndpoints.
    Raises: BadSettings
    """
    template = _checked(settings, template)
    filters = Filters(settings)
    parents: Rule[Parent] = Rule(PARENTS, ParentRule(settings, filters), rank=_PARENTS_RANK)
    offers: Rule[Offer] = Rule(OFFERS, OfferRule(parents), rank=_OFFERS_RANK)
    namespace_offers: Rule[Offer] = Rule(NAMESPACE_OFFERS, NamespaceOfferRule(offers), rank=_NAMESPACE_OFFERS_RANK)
    route = partial(RouteRule, settings=settings, filters=filters, offers=offers, namespace_offers=namespace_offers)
    sources = _sources(settings, filters, parents, partial(route, template=template))
    by_kind = {type_.KIND.kind: source for type_, source in sources.items()}
    chain = Chain(settings)
    claims: Rule[Claims] = Rule(
        CLAIMS,
        _by_kind(by_kind),
        rank=_CLAIMS_RANK,
        over=tuple(sources),
        reads_whole=_with_rules_read(settings, template),
    )
    record_sets: Rule[RecordSet] = Rule(
        RECORD_SETS, RecordSetRule(settings.conflict, chain), rank=_RECORD_SETS_RANK, over=CLAIMS_BY_NAME
    )
    indexes = [CLAIMS_BY_NAME]
    found: list[Rule[Any]] = [parents, offers, namespace_offers, claims, record_sets]
    if KNATIVE in settings.sources:
        found += [CONFIG_GATEWAY, KNATIVE_GATEWAYS, BALANCER_ADDRESSES]
        indexes.append(CONFIG_MAPS)
    if "PTR" in settings.record_types:
        found.append(Rule(PTR_RECORD_SETS, PtrRule(record_sets, chain), rank=_PTR_RANK, over=REVERSE_NAMES))
        indexes.append(REVERSE_NAMES)
    if writes_status and DNSEndpoint in sources:
        status = EndpointStatusRule(filters, claims, record_sets, settings.owner)
        found.append(Rule(ENDPOINT_STATUS, status, rank=_STATUS_RANK, over=DNSEndpoint))
    return tuple(found), tuple(indexes)


def _checked(settings: DnsSettings, template: Template | None) -> Template | None:
    """The template to use, None if there is none. Raises: BadSettings for whatever is wrong, all at once."""
    wrong = list(settings.check())
    if settings.has_template and template is None:
        try:
            template = FqdnTemplates(settings.fqdn_template, tuple(ROUTE_SOURCES))
        except TemplateSyntaxError as error:
            wrong.append(
                f"{FLAG}: line {error.line}, column {error.column}: found {error.found}, wanted {error.wanted}"
            )
    if wrong:
        raise BadSettings("\n".join(wrong))
    return template if settings.has_template else None


def _with_rules_read(settings: DnsSettings, template: Template | None) -> tuple[type[GatewayRoute], ...]:
    """The kinds of Routes whose rules the template may read: most of their memory, so only then are they kept."""
    if not isinstance(template, FqdnTemplates):
        return ()
    chosen = [source for source in settings.sources if source in ROUTE_SOURCES]
    return tuple(ROUTE_SOURCES[source] for source in chosen if template.may_read_rules(source))


def _sources(
    settings: DnsSettings,
    filters: Filters,
    parents: Rule[Parent],
    route: Callable[[type[GatewayRoute]], RouteRule],
) -> dict[type[KubernetesObject], _Source]:
    sources: dict[type[KubernetesObject], _Source] = {}
    for source in settings.sources:
        if source in ROUTE_SOURCES:
            type_ = ROUTE_SOURCES[source]
            sources[type_] = route(type_)
        elif source == "gateway-listener":
            sources[Gateway] = ListenerRule(parents)
            if settings.gateway_listener_sets:
                sources[ListenerSet] = ListenerRule(parents)
        elif source == KNATIVE:
            dns_targets = KnativeTargets(filters, parents)
            sources[DomainMapping] = KnativeRule(DomainMapping, filters, dns_targets)
            sources[Route] = KnativeRule(Route, filters, dns_targets)
        else:
            sources[DNSEndpoint] = EndpointRule(filters)
    return {type_: _in_steps(type_, source, settings) for type_, source in sources.items()}


def _in_steps(type_: type[KubernetesObject], source: _Source, settings: DnsSettings) -> _Source:
    """The source with what is done to its claims, in this order."""
    is_endpoint = type_ is DNSEndpoint
    source = _held_if_unreadable(source)
    if settings.default_targets:
        source = _then(source, DefaultTargets(settings.default_targets, force=settings.force_default_targets))
    if is_endpoint:
        source = _then(source, valid_claims)
    if is_endpoint or not settings.reach.is_idle:
        source = _then(source, settings.reach.within)
    return _then(source, coexisting_claims) if is_endpoint else source


def _held_if_unreadable(source: _Source) -> _Source:
    """The source; while it needs an object that cannot be read, nothing is claimed and nothing is given up."""

    def claims_of(ref: Ref, view: View) -> Claims:
        try:
            return source(ref, view)
        except UnreadableObject as error:
            why = error.problem.as_skipped()
            return Claims(skipped=(why,), lagging=why)

    return claims_of


def _then(source: _Source, step: Callable[[Claims], Claims]) -> _Source:
    return lambda ref, view: step(source(ref, view))


def _by_kind(sources: dict[str, _Source]) -> Callable[[Ref, View], Claims]:
    if len(sources) == 1:
        return next(iter(sources.values()))

    def claims_of(ref: Ref, view: View) -> Claims:
        return sources[ref.kind](ref, view)

    return claims_of
