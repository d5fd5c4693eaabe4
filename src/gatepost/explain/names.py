"""Which hostnames an object stands for, and which objects take in a given name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from gatepost.dns.claims import CLAIMS
from gatepost.dns.names import hostname, record_name
from gatepost.dns.records import Claims
from gatepost.objects.core import Service
from gatepost.objects.dnsendpoint import DNSEndpoint
from gatepost.objects.gatewayapi import GRPCRoute, HTTPRoute, TCPRoute, TLSRoute, UDPRoute
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.networking import KIngress
from gatepost.objects.refs import Ref
from gatepost.objects.serving import DomainMapping, Route
from gatepost.objects.settings import SETTINGS_REF, Settings
from gatepost.state.engine import Engine
from gatepost.state.rule import Rule

CLAIMED_FIELD = ""
"""Where a name stands that is not written in the spec is known to the DNS rules alone."""


class Host(Struct, frozen=True):
    """A hostname in an object: in canonical form, and the field that holds it."""

    name: str
    field: str


class Mention(Struct, frozen=True):
    """An object that takes a name in, by the most specific of its hostnames."""

    ref: Ref
    obj: KubernetesObject
    host: Host


class Asked(Struct, frozen=True):
    """The name that is asked about.

    Attributes:
        name: in canonical form.
        forms: the names that mean the same inside the cluster; only `name` itself for any other name.
        service: namespace and name of the Service that such a name stands for.
    """

    name: str
    forms: frozenset[str]
    service: tuple[str, str] | None = None
    is_certainly_local: bool = False

    def is_taken_in_by(self, host: str) -> bool:
        """Whether a hostname, which may be a wildcard, stands for the name. A wildcard takes in no bare parent."""
        return host in self.forms or (host.startswith("*.") and any(form.endswith(host[1:]) for form in self.forms))


def asked(text: str, engine: Engine) -> Asked | None:
    """What a text asks about; None if it is no hostname, nor a name that some object mentions nevertheless.

    `website.default`, `website.default.svc` and `website.default.svc.cluster.local` are one name to a cluster.
    """
    name = hostname(text)
    if name is None:
        written = record_name(text)  # people ask just about the names that were refused, or that only records can have
        return Asked(written, frozenset({written})) if written in all_names(engine) else None
    settings = engine.store.get(SETTINGS_REF)
    domain = settings.cluster_domain if isinstance(settings, Settings) else Settings().cluster_domain
    inner = name.removesuffix(f".{domain}").removesuffix(".svc") if name.endswith(f".svc.{domain}") else name
    inner = inner.removesuffix(".svc")
    parts = inner.split(".")
    if len(parts) != 2:
        return Asked(name, frozenset({name}))
    forms = frozenset({inner, f"{inner}.svc", f"{inner}.svc.{domain}"})
    return Asked(name, forms, (parts[1], parts[0]), inner != name)


def mentions(engine: Engine, wanted: Asked, namespace: str = "") -> list[Mention]:
    """The objects that take the name in, sorted: exact hostnames before wildcards, then by Ref.

    Args:
        namespace: only objects of this one; "" for all.
    """
    found: list[Mention] = []
    claims = _claims_rule(engine)
    for ref, obj in _all(engine):
        if namespace and ref.namespace != namespace:
            continue
        fitting = [host for host in hosts_of(engine, ref, obj, claims) if wanted.is_taken_in_by(host.name)]
        if fitting:
            found.append(Mention(ref, obj, min(fitting, key=_specific_first)))
    return sorted(found, key=lambda mention: (_specific_first(mention.host), mention.ref))


def all_names(engine: Engine) -> set[str]:
    """Every hostname that any object stands for."""
    claims = _claims_rule(engine)
    return {host.name for ref, obj in _all(engine) for host in hosts_of(engine, ref, obj, claims)}


def hosts_of(engine: Engine, ref: Ref, obj: KubernetesObject, claims: Rule[Any] | None) -> list[Host]:
    """The hostnames that are written in an object, and those that its annotation or a template asks DNS for.

    Args:
        claims: the rule that says what objects claim in DNS and what they ask for in vain, None if there is none.
    """
    written = names_written_in(obj)
    known = {host.name for host in written}
    return written + [Host(name, CLAIMED_FIELD) for name in _claimed(engine, ref, claims) if name not in known]


def names_written_in(obj: KubernetesObject) -> list[Host]:
    """The hostnames that stand in an object itself."""
    return [
        Host(name, field)
        for text, field in _WRITTEN.get(type(obj), _nothing)(obj)
        for name in (hostname(text) or record_name(text),)
        if name
    ]


def _claims_rule(engine: Engine) -> Rule[Any] | None:
    return next((rule for rule in engine.rules if rule.name == CLAIMS), None)


def _all(engine: Engine) -> Iterator[tuple[Ref, KubernetesObject]]:
    return ((ref, obj) for ref, obj in engine.store.items() if type(obj) in _WRITTEN)


def _specific_first(host: Host) -> tuple[bool, int, str]:
    return (host.name.startswith("*."), -len(host.name), host.name)


def _claimed(engine: Engine, ref: Ref, rule: Rule[Any] | None) -> list[str]:
    value = engine.value(rule, ref) if rule is not None else None
    return [*(claim.name for claim in value.claims), *value.unserved] if isinstance(value, Claims) else []


Texts = Iterator[tuple[str, str]]


def _nothing(_: Any) -> Texts:
    return iter(())


def _of_mapping(mapping: DomainMapping) -> Texts:
    yield mapping.metadata.name, "metadata.name"


def _of_route(route: Route) -> Texts:
    urls = [(route.status.url, "status.url")]
    if route.status.address is not None:
        urls.append((route.status.address.url, "status.address.url"))
    urls += [(target.url, f"status.traffic[{index}].url") for index, target in enumerate(route.status.traffic)]
    for url, field in urls:
        host = host_in(url)
        if host:
            yield host, field
    yield f"{route.metadata.name}.{route.metadata.namespace}", "metadata.name"


def _of_kingress(kingress: KIngress) -> Texts:
    for index, rule in enumerate(kingress.spec.rules):
        for host in rule.hosts:
            yield host, f"spec.rules[{index}].hosts"


def _of_gateway_route(route: HTTPRoute | GRPCRoute | TLSRoute) -> Texts:
    return ((name, "spec.hostnames") for name in route.spec.hostnames)


def _of_dns_endpoint(written: DNSEndpoint) -> Texts:
    for index, endpoint in enumerate(written.spec.endpoints):
        if endpoint is not None:
            yield endpoint.dns_name, f"spec.endpoints[{index}].dnsName"


def _of_service(service: Service) -> Texts:
    yield f"{service.metadata.name}.{service.metadata.namespace}", "metadata.name"


def host_in(url: str) -> str:
    """The host of a URL, "" if the text is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


_WRITTEN: Mapping[type[KubernetesObject], Callable[[Any], Texts]] = {
    DomainMapping: _of_mapping,
    Route: _of_route,
    KIngress: _of_kingress,
    HTTPRoute: _of_gateway_route,
    GRPCRoute: _of_gateway_route,
    TLSRoute: _of_gateway_route,
    TCPRoute: _nothing,
    UDPRoute: _nothing,
    DNSEndpoint: _of_dns_endpoint,
    Service: _of_service,
}
"""Kinds that names are looked for in -> what gives their hostnames as written, each with its field."""
