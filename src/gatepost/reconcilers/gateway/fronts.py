"""What a KIngress needs to know of a Gateway, and nothing else, so that other changes of the Gateway wake nobody."""

from __future__ import annotations

import ipaddress

from msgspec import UNSET, Struct

from gatepost.configmaps.gateway import REQUEST_TIMEOUT, GatewayEntry
from gatepost.kubernetes.selectors import BadSelector, matcher_of
from gatepost.objects.core import Namespace, Service
from gatepost.objects.gatewayapi import Gateway, GatewayAddress, GatewayClass, ListenerNamespaces
from gatepost.objects.meta import Condition, condition_of
from gatepost.objects.networking import CLUSTER_LOCAL, LoadBalancerIngress
from gatepost.objects.refs import Ref
from gatepost.objects.settings import settings_in
from gatepost.state.rule import Rule
from gatepost.state.view import View

LISTENER_SET = "ListenerSet"
"""The feature by which a GatewayClass claims that it knows ListenerSets."""

NO_NAMESPACES = ListenerNamespaces()


class Front(Struct, frozen=True):
    """A Gateway of config-gateway as a KIngress sees it.

    Attributes:
        exists: whether the Gateway is there.
        has_request_timeout: whether its HTTPRoutes may have `timeouts.request`.
        load_balancer: where requests go in, None while there is no address.
        why_not_programmed: what its controller says against it, or against all its plain listeners; "" for nothing.
        prefers_listener_sets: whether it claims to know ListenerSets.
        listener_namespaces: whose ListenerSets it takes.
        plain_listeners: names of its HTTP listeners with their hostnames, for redirects.
    """

    exists: bool
    has_request_timeout: bool
    load_balancer: LoadBalancerIngress | None
    plain_listeners: tuple[tuple[str, str], ...] = ()
    why_not_programmed: str = ""
    prefers_listener_sets: bool = False
    listener_namespaces: ListenerNamespaces = ListenerNamespaces()


def front_of(entry: GatewayEntry, view: View) -> Front:
    gateway = view.get(Gateway, entry.gateway)
    features = _features(entry, gateway, view)
    return Front(
        exists=gateway is not None,
        has_request_timeout=REQUEST_TIMEOUT in features,
        load_balancer=_load_balancer(entry, gateway, view),
        plain_listeners=tuple(
            (listener.name, listener.hostname)
            for listener in (gateway.spec.listeners if gateway is not None else ())
            if listener.protocol == "HTTP"
        ),
        why_not_programmed=_why_not_programmed(gateway) if gateway is not None else "",
        prefers_listener_sets=LISTENER_SET in features,
        listener_namespaces=gateway.spec.allowed_listeners.namespaces if gateway is not None else NO_NAMESPACES,
    )


def takes_listener_sets(front: Front, gateway: Ref, namespace: str, view: View) -> bool:
    """Whether a Gateway takes ListenerSets of a namespace. By default it takes none."""
    allowed = front.listener_namespaces
    if allowed.from_ != "Selector":
        return allowed.from_ == "All" or (allowed.from_ == "Same" and namespace == gateway.namespace)
    of_namespace = view.named(Namespace, "", namespace)
    # The API sets this label on every Namespace; in manifests it is left out.
    labels = {"kubernetes.io/metadata.name": namespace, **(of_namespace.metadata.labels if of_namespace else {})}
    try:
        return matcher_of(allowed.selector)(labels)
    except BadSelector:
        return False


def _why_not_programmed(gateway: Gateway) -> str:
    """What the controller of a Gateway says against it. What it does not speak of, it says nothing against.

    Unknown is what the API server writes before any controller has spoken (reason Pending, by default of the CRD).
    """
    programmed = condition_of(gateway.status.conditions, "Programmed")
    if programmed is not None and programmed.status == "False":
        return _told("Programmed", programmed)
    plain = {listener.name for listener in gateway.spec.listeners if listener.protocol == "HTTP"}
    told = {
        listener.name: condition_of(listener.conditions, "Programmed")
        for listener in gateway.status.listeners
        if listener.name in plain
    }
    against = {
        name: condition for name, condition in told.items() if condition is not None and condition.status == "False"
    }
    if not plain or set(against) != plain:
        return ""
    return "; ".join(_told(f"listener {name}: Programmed", against[name]) for name in sorted(against))


def _told(what: str, condition: Condition) -> str:
    return f"{what} is {condition.status} ({condition.reason}) {condition.message}".rstrip(". ")


def _features(entry: GatewayEntry, gateway: Gateway | None, view: View) -> tuple[str, ...]:
    """What the entry lists; where it does not say, what the GatewayClass claims."""
    if entry.supported_features is not None:
        return entry.supported_features
    class_name = gateway.spec.gateway_class_name if gateway is not None else entry.class_name
    gateway_class = view.named(GatewayClass, "", class_name)
    if gateway_class is None:
        return ()
    return tuple(
        feature if isinstance(feature, str) else feature.name for feature in gateway_class.status.supported_features
    )


def _load_balancer(entry: GatewayEntry, gateway: Gateway | None, view: View) -> LoadBalancerIngress | None:
    """One entry, since Knative reads no more.

    | in front               | entry                                                            |
    | a Service              | its cluster name, with an IP beside it when there is one         |
    | a Gateway, IP address  | that IP                                                          |
    | a Gateway, other type  | that name, as domainInternal                                     |
    """
    if entry.service is not None:
        settings = settings_in(view)
        name = f"{entry.service.name}.{entry.service.namespace}.svc.{settings.cluster_domain}"
        return LoadBalancerIngress(ip=_service_ip(entry, entry.service, gateway, view), domain_internal=name)
    if gateway is None or not gateway.status.addresses:
        return None
    first = gateway.status.addresses[0]
    if _is_ip_address(first):
        return LoadBalancerIngress(ip=first.value)
    return LoadBalancerIngress(domain_internal=first.value)


def _service_ip(entry: GatewayEntry, ref: Ref, gateway: Gateway | None, view: View) -> str:
    """The IP that Knative prefers to the name, so that its Services need no ExternalName. "" while there is none.

    Inside the cluster that is the cluster IP; outside it is the address of the load balancer, else of the Gateway.
    """
    service = view.get(Service, ref)
    if service is None:
        return ""
    if entry.visibility == CLUSTER_LOCAL:
        return service.spec.cluster_ip if service.spec.cluster_ip != "None" else ""
    balanced = [ingress.ip for ingress in service.status.load_balancer.ingress if ingress.ip]
    given = [address.value for address in gateway.status.addresses if _is_ip_address(address)] if gateway else []
    return next(iter(balanced + given), "")


def _is_ip_address(address: GatewayAddress) -> bool:
    """By its type; an address that does not say its type counts by its value."""
    if address.type is not UNSET:
        return address.type == "IPAddress"
    try:
        ipaddress.ip_address(address.value)
    except ValueError:
        return False
    return True


FRONT: Rule[Front] = Rule("gateway-front", front_of, rank=1)
