"""KIngresses served by Gateway API: the work of net-gateway-api.

Reads: KIngresses of our class, Gateways, GatewayClasses, HTTPRoutes, ReferenceGrants, Services, config-gateway.
Writes: HTTPRoutes, ReferenceGrants, TLS listeners on the external Gateway, the finalizer and the status of a KIngress.
Owns the conditions NetworkConfigured, LoadBalancerReady and Ready.
Never: a Gateway's other listeners, a route or grant that the KIngress does not control, a KIngress of another class.
Nor is the data plane asked: readiness is what Gateways and HTTPRoutes say of themselves.

    KIngress -> routing (backends, redirects) -> httproutes      one HTTPRoute a rule, and more where it is too large
             -> tls (per KIngress) -> listeners (per Gateway)    joined, so that two KIngresses never fight
    HTTPRoute status -> readiness, fronts -> status              back up

Read `reconcile.py` first.
"""

from gatepost.reconcilers.config_gateway import CONFIG_GATEWAY, CONFIG_MAPS
from gatepost.reconcilers.gateway.backends import EXTERNAL_NAMES, LOCAL_PATHS
from gatepost.reconcilers.gateway.fronts import FRONT
from gatepost.reconcilers.gateway.listeners import LISTENERS
from gatepost.reconcilers.gateway.reconcile import KINGRESS
from gatepost.reconcilers.gateway.routing import ROUTE_CLAIMS, ROUTES_OF_KINGRESS
from gatepost.reconcilers.gateway.tls import (
    CERTIFICATES_IN_USE,
    GATEWAYS_BY_IDENTITY,
    GRANTS_BY_OWNER,
    LISTENER_PLACES,
    TLS,
    TLS_BY_GATEWAY,
    TLS_BY_IDENTITY,
    TLS_CLAIMS,
)

RULES = (CONFIG_GATEWAY, FRONT, TLS, KINGRESS, LISTENERS)
INDEXES = (
    CONFIG_MAPS,
    EXTERNAL_NAMES,
    LOCAL_PATHS,
    ROUTE_CLAIMS,
    ROUTES_OF_KINGRESS,
    LISTENER_PLACES,
    GATEWAYS_BY_IDENTITY,
    CERTIFICATES_IN_USE,
    GRANTS_BY_OWNER,
    TLS_BY_GATEWAY,
    TLS_BY_IDENTITY,
    TLS_CLAIMS,
)
