"""What objects of Knative lead to from outside: Services with load balancers, and the Gateways of config-gateway.

Thousands of Routes share one Service and one ConfigMap. They read values made from these, so that a change that
matters to none of them wakes none of them.
"""

from __future__ import annotations

from gatepost.configmaps.gateway import CONFIG_GATEWAY, GatewayConfig
from gatepost.objects.core import ConfigMap, Service
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.state.rule import Rule
from gatepost.state.view import View

_RANK = 20


def _knative_gateways(ref: Ref, view: View) -> GatewayConfig | Problem | None:
    """What config-gateway says; None if it does not exist: Knative's defaults say nothing of who serves it here."""
    return view.value(CONFIG_GATEWAY, ref) if view.get(ConfigMap, ref) is not None else None


def _balancer_addresses(ref: Ref, view: View) -> tuple[str, ...]:
    service = view.get(Service, ref)
    if service is None:
        return ()
    balancers = service.status.load_balancer.ingress
    return tuple(address for entry in balancers for address in (entry.ip, entry.hostname) if address)


KNATIVE_GATEWAYS: Rule[GatewayConfig | Problem | None] = Rule("dns knative gateways", _knative_gateways, rank=_RANK)
"""The key is the Ref of the ConfigMap."""

BALANCER_ADDRESSES: Rule[tuple[str, ...]] = Rule("dns load balancers", _balancer_addresses, rank=_RANK)
"""IPs and hostnames of the load balancer of a Service; the key is its Ref."""
