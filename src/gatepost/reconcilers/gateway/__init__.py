"""KIngresses served by Gateway API: the work of net-gateway-api.

Reads: KIngresses of our class, Gateways, GatewayClasses, ListenerSets, HTTPRoutes, ReferenceGrants, Services,
    Namespaces, config-gateway, and config-network for cluster-local TLS.
Writes: HTTPRoutes, ReferenceGrants, TLS listeners on Gateways or in ListenerSets of its own, the finalizer and
    the status of a KIngress.
Owns the conditions NetworkConfigured, LoadBalancerReady and Ready.
Never: a Gateway's other listeners, a route or grant that the KIngress does not control, a KIngress of another class.
Readiness is what Gateways and HTTPRoutes say of themselves; with `Settings.probe` also what the data plane answers.

    KIngress -> routing (backends, redirects) -> httproutes        one HTTPRoute a rule, more where it is too large
             -> tls (a KIngress) -> admission -> listeners (a Gateway)   joined, so that no two KIngresses fight
    HTTPRoute status -> readiness, Gateway -> fronts -> status     and back up
    probes -> PROBES: what to ask the data plane; its verdicts -> readiness, and when traffic may move -> warmup

Read `reconcile.py` first.
"""

from gatepost.configmaps.gateway import CONFIG_GATEWAY, CONFIG_MAPS
from gatepost.reconcilers.gateway.admission import OVERFLOW
from gatepost.reconcilers.gateway.backends import EXTERNAL_NAMES, LOCAL_PATHS
from gatepost.reconcilers.gateway.fronts import FRONT
from gatepost.reconcilers.gateway.grants import GRANTS_BY_OWNER
from gatepost.reconcilers.gateway.listeners import LISTENERS
from gatepost.reconcilers.gateway.probes import FRONT_ENDPOINTS, PROBES
from gatepost.reconcilers.gateway.reconcile import KINGRESS
from gatepost.reconcilers.gateway.routing import ROUTE_CLAIMS, ROUTES_OF_KINGRESS
from gatepost.reconcilers.gateway.standing import (
    CERTIFICATES_IN_USE,
    GATEWAYS_BY_IDENTITY,
    LISTENER_PLACES,
    LISTENER_TROUBLE,
    PROGRAMMED_LISTENERS,
    REPORTING_GATEWAYS,
    SET_LISTENER_TROUBLE,
    SET_PROGRAMMED_LISTENERS,
    SETS_OF_KINGRESS,
)
from gatepost.reconcilers.gateway.tls import TLS, TLS_BY_GATEWAY, TLS_BY_IDENTITY, TLS_CLAIMS

RULES = (CONFIG_GATEWAY, FRONT, TLS, OVERFLOW, PROBES, KINGRESS, LISTENERS)
INDEXES = (
    CONFIG_MAPS,
    EXTERNAL_NAMES,
    LOCAL_PATHS,
    ROUTE_CLAIMS,
    ROUTES_OF_KINGRESS,
    LISTENER_PLACES,
    LISTENER_TROUBLE,
    PROGRAMMED_LISTENERS,
    REPORTING_GATEWAYS,
    SET_LISTENER_TROUBLE,
    SET_PROGRAMMED_LISTENERS,
    SETS_OF_KINGRESS,
    GATEWAYS_BY_IDENTITY,
    CERTIFICATES_IN_USE,
    GRANTS_BY_OWNER,
    TLS_BY_GATEWAY,
    TLS_BY_IDENTITY,
    TLS_CLAIMS,
)
PROBING_INDEXES = (FRONT_ENDPOINTS,)
"""Only where probes are sent: they have all EndpointSlices of a cluster read."""
