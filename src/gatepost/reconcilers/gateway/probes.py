"""Probes of the data plane: what to ask where, and what came of it.

A status says that a gateway means to serve a route; a probe says that it does. The keys of the rule are the probes that
somebody needs right now: whoever sends them takes those, and puts each verdict into the store.
Source: knative.dev/networking, probing of ingresses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from gatepost.configmaps.gateway import GatewayEntry
from gatepost.objects.core import EndpointSlice, SlicePort
from gatepost.objects.gatewayapi import Gateway, HTTPRoute
from gatepost.objects.networking import CLUSTER_LOCAL, KIngress
from gatepost.objects.probes import ProbeVerdict, verdict_ref
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref
from gatepost.objects.settings import settings_in
from gatepost.reconcilers.gateway.admission import Place, place_of
from gatepost.reconcilers.gateway.problems import PROBE_WAITING
from gatepost.reconcilers.gateway.redirects import CHALLENGE_PREFIX
from gatepost.reconcilers.gateway.tls import TLS
from gatepost.reconcilers.gateway.wishes import RouteWish
from gatepost.state.rule import Rule
from gatepost.state.store import Index
from gatepost.state.view import View

SERVICE_NAME = "kubernetes.io/service-name"
PLAIN_PORTS = ("http", "http2", "http-80")
TLS_PORTS = ("https", "https-443")
WILDCARD_STAND_IN = "gatepost-probe"


class ProbeURL(Struct, frozen=True):
    """One request of a probe: its host, path, and the headers that its rule matches beside the hash."""

    host: str
    path: str
    headers: tuple[tuple[str, str], ...] = ()


class Probe(Struct, frozen=True):
    """What the data plane shall be asked, on each of its addresses.

    Attributes:
        route: the HTTPRoute that is probed.
        version: what must come back in `K-Network-Hash`; "" where a redirect to https must come back instead.
        entry: the Gateway.
        sections: the listeners that the route attaches to, () for all plain ones.
        over_tls: by which kind of listener.
    """

    route: Ref
    version: str
    urls: tuple[ProbeURL, ...]
    entry: GatewayEntry
    sections: tuple[str, ...] = ()
    over_tls: bool = False

    @property
    def name(self) -> str:
        """One for each probe that differs from others."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:32]

    @property
    def verdict_ref(self) -> Ref:
        return verdict_ref(self.route.namespace, self.name)


class Endpoint(Struct, frozen=True, order=True):
    """One address of the data plane, in front of which nothing else is asked."""

    address: str
    port: int


class ProbeState(Struct, frozen=True):
    """Where to ask, and what is known so far. No endpoints: there is nobody to ask yet."""

    endpoints: tuple[Endpoint, ...]
    verdict: ProbeVerdict | None = None


def is_probing(view: View) -> bool:
    return settings_in(view).probe


def probes_of(kingress: KIngress, wish: RouteWish, entry: GatewayEntry, view: View) -> list[Probe]:
    """The probes of a route: of the plain listeners, and over TLS for the hosts that have a listener for it.

    A path of a challenge is left out: its solver answers the challenge and nothing else.
    """
    route = HTTPRoute.KIND.ref(kingress.metadata.namespace, wish.name)
    hosts = probed_hosts(wish)
    if wish.redirects:
        return [Probe(route, "", tuple(ProbeURL(host, "/") for host in hosts), entry, wish.sections)]
    secured = (
        hosts if wish.is_redirected_to else tuple(host for host in hosts if host in _secured(kingress, entry, view))
    )
    plain = _urls(wish, () if wish.is_redirected_to else hosts)
    over_tls = _urls(wish, secured)
    found = [Probe(route, wish.version, plain, entry, wish.sections)] if plain else []
    return [*found, Probe(route, wish.version, over_tls, entry, over_tls=True)] if over_tls else found


def _urls(wish: RouteWish, hosts: tuple[str, ...]) -> tuple[ProbeURL, ...]:
    return tuple(
        ProbeURL(host, path.path or "/", tuple((name, match.exact) for name, match in sorted(path.headers.items())))
        for path in wish.paths
        if not path.path.startswith(CHALLENGE_PREFIX)
        for host in hosts
    )


def _secured(kingress: KIngress, entry: GatewayEntry, view: View) -> frozenset[str]:
    """The hosts that have a TLS listener on a Gateway, or get one."""
    tls = view.value(TLS, kingress.ref)
    if tls is None or tls.problem is not None:
        return frozenset()
    return frozenset(
        one.hostname
        for one in tls.listeners
        if one.gateway == entry.gateway and isinstance(place_of(tls, one, view), Place)
    )


def probed_hosts(wish: RouteWish) -> tuple[str, ...]:
    """The hosts to ask for: the names of one Service lead to the same place, so its full one stands for them."""
    hosts = wish.hosts[-1:] if wish.visibility == CLUSTER_LOCAL else wish.hosts
    return tuple(host.replace("*", WILDCARD_STAND_IN, 1) for host in hosts)


def why_not_passed(probe: Probe, view: View) -> Skipped | None:
    """Why a probe has not passed yet, None if it has. Asking has it sent."""
    state = view.value(PROBES, probe)
    if state.verdict is not None and state.verdict.passed:
        return None
    why = state.verdict.why if state.verdict is not None else "no answer to a probe yet"
    return Skipped(PROBE_WAITING, f"the gateway does not serve it yet: {why}", probe.route)


def is_stuck(probe: Probe, view: View) -> bool:
    """Whether waiting alone will not let a probe pass."""
    verdict = view.value(PROBES, probe).verdict
    return verdict is not None and verdict.is_lasting


def probe_state(probe: Probe, view: View) -> ProbeState:
    """What is known of a probe."""
    return ProbeState(_endpoints(probe, view), view.get(ProbeVerdict, probe.verdict_ref))


def _endpoints(probe: Probe, view: View) -> tuple[Endpoint, ...]:
    """The addresses of the data plane, sorted.

    | in front  | addresses and port                                                              |
    | a Service | every ready one of its EndpointSlices; the port by its name, else the first     |
    | a Gateway | the first of its status; the port of the first plain listener that the route is on, or that for TLS |
    """
    entry = probe.entry
    if entry.service is not None:
        found = view.select(FRONT_ENDPOINTS, (entry.service.namespace, entry.service.name))
        return tuple(sorted({e for by_kind in found for e in (by_kind.tls if probe.over_tls else by_kind.plain)}))
    gateway = view.get(Gateway, entry.gateway)
    if gateway is None or not gateway.status.addresses:
        return ()
    plain = [
        listener.port
        for listener in gateway.spec.listeners
        if listener.protocol == "HTTP" and (not probe.sections or listener.name in probe.sections)
    ]
    port = entry.https_port if probe.over_tls else next(iter(plain), 80)
    return (Endpoint(gateway.status.addresses[0].value, port),)


class FrontEndpoints(Struct, frozen=True):
    """The ready addresses of one EndpointSlice, with the port for plain requests and with that for TLS."""

    plain: tuple[Endpoint, ...]
    tls: tuple[Endpoint, ...]


def _front_endpoints(part: EndpointSlice) -> Iterable[tuple[Any, FrontEndpoints]]:
    service = part.metadata.labels.get(SERVICE_NAME)
    if service is None or not part.ports:
        return
    # An endpoint counts by its first address: the others are the same one. Source: EndpointSlice, addresses.
    ready = [one.addresses[0] for one in part.endpoints if one.conditions.ready is not False and one.addresses]
    plain, tls = (_port(part.ports, names) for names in (PLAIN_PORTS, TLS_PORTS))
    yield (
        (part.metadata.namespace, service),
        FrontEndpoints(tuple(Endpoint(a, plain) for a in ready), tuple(Endpoint(a, tls) for a in ready)),
    )


def _port(ports: tuple[SlicePort, ...], names: tuple[str, ...]) -> int:
    by_name = [port.port for port in ports if port.name in names]
    by_protocol = [port.port for port in ports if port.app_protocol in names]
    return (by_name + by_protocol + [ports[0].port])[0]


PROBES: Rule[ProbeState] = Rule("gateway-probes", probe_state, rank=7)

FRONT_ENDPOINTS = Index("gateway-front-endpoints", EndpointSlice, _front_endpoints)
"""(namespace, Service) -> the addresses behind it. Kept only while probes are sent."""
