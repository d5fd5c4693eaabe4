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

from gatepost.objects.core import EndpointSlice, SlicePort
from gatepost.objects.gatewayapi import Gateway, HTTPRoute
from gatepost.objects.networking import CLUSTER_LOCAL, KIngress
from gatepost.objects.probes import ProbeVerdict, verdict_ref
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref
from gatepost.objects.settings import SETTINGS_REF, Settings
from gatepost.reconcilers.config_gateway import GatewayEntry
from gatepost.reconcilers.gateway.httproutes import RouteWish
from gatepost.reconcilers.gateway.problems import PROBE_WAITING
from gatepost.reconcilers.gateway.redirects import CHALLENGE_PREFIX
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
    settings = view.get(Settings, SETTINGS_REF)
    return settings is not None and settings.probe


def probe_of(kingress: KIngress, wish: RouteWish, entry: GatewayEntry) -> Probe | None:
    """The probe of a route, None if it has nothing that can be asked.

    A path of a challenge is left out: its solver answers the challenge and nothing else. A route that names sections
    and does not redirect is the one that is redirected to, so it is asked over TLS.
    """
    hosts = probed_hosts(wish)
    paths = [path for path in wish.paths if not path.path.startswith(CHALLENGE_PREFIX)]
    if wish.redirects:
        urls = tuple(ProbeURL(host, "/") for host in hosts)
    else:
        urls = tuple(
            ProbeURL(host, path.path or "/", tuple((name, match.exact) for name, match in sorted(path.headers.items())))
            for path in paths
            for host in hosts
        )
    if not urls:
        return None
    return Probe(
        HTTPRoute.KIND.ref(kingress.metadata.namespace, wish.name),
        "" if wish.redirects else wish.version,
        urls,
        entry,
        wish.sections,
        over_tls=bool(wish.sections) and not wish.redirects,
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
    | a Gateway | the first of its status; the port of the first listener that the route is on    |
    """
    entry = probe.entry
    if entry.service is not None:
        found = view.select(FRONT_ENDPOINTS, (entry.service.namespace, entry.service.name))
        return tuple(sorted({e for by_kind in found for e in (by_kind.tls if probe.over_tls else by_kind.plain)}))
    gateway = view.get(Gateway, entry.gateway)
    if gateway is None or not gateway.status.addresses:
        return ()
    protocol = "HTTPS" if probe.over_tls else "HTTP"
    ports = [
        listener.port
        for listener in gateway.spec.listeners
        if (listener.name in probe.sections if probe.sections else listener.protocol == protocol)
    ]
    default = 443 if probe.over_tls else 80
    return (Endpoint(gateway.status.addresses[0].value, next(iter(ports), default)),)


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
