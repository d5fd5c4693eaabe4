"""Route: which revisions serve a Knative Service's hosts, in public and inside the cluster.

In: the Route; ConfigMaps config-network, config-domain, config-features and config-gateway; the Configurations and
    Revisions that its traffic names; its own KIngress, Certificates, Services and slices; the Services that the status
    of its KIngress leads to, and what DNS says of names in it.
Out: KIngress, Certificates, a Service for each target with EndpointSlices of the gateway; `status.url`,
    `status.address`, `status.traffic` and the conditions AllTrafficAssigned, CertificateProvisioned, IngressReady and
    Ready.
Never: it does not delete or rewrite what it does not control, does not delete a Service to change its form, and leaves
    everything as it is while a target cannot be served.
Read `reconcile.py` first.
"""

from __future__ import annotations

from typing import Any

from gatepost.configmaps import domain, features, gateway, network
from gatepost.reconcilers.lookups import NAME_LOOKUPS
from gatepost.reconcilers.route.addresses import SLICES_OF_SERVICE
from gatepost.reconcilers.route.certificate import ROUTE_CERTIFICATES, WILDCARD_CERTIFICATES
from gatepost.reconcilers.route.placeholders import PLACEHOLDERS
from gatepost.reconcilers.route.reconcile import ROUTE
from gatepost.state.rule import Rule
from gatepost.state.store import Index

RULES: tuple[Rule[Any], ...] = (
    network.CONFIG_NETWORK,
    domain.CONFIG_DOMAIN,
    features.CONFIG_FEATURES,
    gateway.CONFIG_GATEWAY,
    NAME_LOOKUPS,
    ROUTE,
)
INDEXES: tuple[Index, ...] = (
    network.CONFIG_MAPS,
    domain.CONFIG_MAPS,
    gateway.CONFIG_MAPS,
    PLACEHOLDERS,
    ROUTE_CERTIFICATES,
    WILDCARD_CERTIFICATES,
    SLICES_OF_SERVICE,
)
