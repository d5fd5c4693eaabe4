"""Kinds of Gateway API, with the fields that routing to DNS and the KIngress controller read."""

from __future__ import annotations

from sys import intern
from typing import ClassVar

from msgspec import UNSET, UnsetType, field
from msgspec.structs import force_setattr

from gatepost.objects.meta import Condition, Kind, KubernetesObject, LabelSelector, Shape
from gatepost.objects.networking import KINGRESS_LABEL

GROUP = "gateway.networking.k8s.io"


class RouteNamespaces(Shape, frozen=True):
    from_: str = field(default="Same", name="from")
    selector: LabelSelector | None = None


class RouteGroupKind(Shape, frozen=True):
    kind: str = ""
    group: str = GROUP


class AllowedRoutes(Shape, frozen=True):
    namespaces: RouteNamespaces = RouteNamespaces()
    kinds: tuple[RouteGroupKind, ...] = ()


class SecretReference(Shape, frozen=True):
    """`namespace` "" means that of the object that refers to it."""

    name: str = ""
    namespace: str = ""
    group: str = ""
    kind: str = "Secret"


class ListenerTLS(Shape, frozen=True):
    certificate_refs: tuple[SecretReference, ...] = ()


class Listener(Shape, frozen=True):
    """A listener of a Gateway or ListenerSet."""

    name: str = ""
    port: int = 0
    protocol: str = ""
    hostname: str = ""
    tls: ListenerTLS = ListenerTLS()
    allowed_routes: AllowedRoutes = AllowedRoutes()


class GatewayAddress(Shape, frozen=True):
    """`type` is UNSET when the status does not say (it then counts by its value), not the API's default."""

    value: str = ""
    type: str | UnsetType = UNSET


class ListenerNamespaces(Shape, frozen=True):
    from_: str = field(default="None", name="from")
    selector: LabelSelector | None = None


class AllowedListeners(Shape, frozen=True):
    namespaces: ListenerNamespaces = ListenerNamespaces()


class GatewaySpec(Shape, frozen=True):
    gateway_class_name: str = ""
    listeners: tuple[Listener, ...] = ()
    allowed_listeners: AllowedListeners = AllowedListeners()


class ListenerStatus(Shape, frozen=True):
    name: str = ""
    conditions: tuple[Condition, ...] = ()


class GatewayStatus(Shape, frozen=True):
    addresses: tuple[GatewayAddress, ...] = ()
    conditions: tuple[Condition, ...] = ()
    listeners: tuple[ListenerStatus, ...] = ()


class Gateway(KubernetesObject, frozen=True, kw_only=True):
    KIND: ClassVar = Kind(GROUP, "Gateway", "gateways", ("v1", "v1beta1"))

    spec: GatewaySpec = GatewaySpec()
    status: GatewayStatus = GatewayStatus()


class GatewayClassSpec(Shape, frozen=True):
    controller_name: str = ""


class SupportedFeature(Shape, frozen=True):
    name: str = ""


class GatewayClassStatus(Shape, frozen=True):
    """`supported_features` are plain names in older versions of the API, objects with a name in newer ones."""

    conditions: tuple[Condition, ...] = ()
    supported_features: tuple[SupportedFeature | str, ...] = ()


class GatewayClass(KubernetesObject, frozen=True, kw_only=True):
    KIND: ClassVar = Kind(GROUP, "GatewayClass", "gatewayclasses", ("v1", "v1beta1"), namespaced=False)

    spec: GatewayClassSpec = GatewayClassSpec()
    status: GatewayClassStatus = GatewayClassStatus()


class ParentGatewayReference(Shape, frozen=True):
    name: str = ""
    namespace: str = ""
    group: str = GROUP
    kind: str = "Gateway"


class ListenerSetSpec(Shape, frozen=True):
    parent_ref: ParentGatewayReference = ParentGatewayReference()
    listeners: tuple[Listener, ...] = ()


class ListenerSetStatus(Shape, frozen=True):
    conditions: tuple[Condition, ...] = ()
    listeners: tuple[ListenerStatus, ...] = ()


class ListenerSet(KubernetesObject, frozen=True, kw_only=True):
    KIND: ClassVar = Kind(GROUP, "ListenerSet", "listenersets", ("v1",))

    spec: ListenerSetSpec = ListenerSetSpec()
    status: ListenerSetStatus = ListenerSetStatus()


class ParentReference(Shape, frozen=True):
    """`namespace` "" means that of the route; `port` 0 and `section_name` "" mean every listener."""

    name: str = ""
    namespace: str = ""
    group: str = GROUP
    kind: str = "Gateway"
    section_name: str = ""
    port: int = 0

    def __post_init__(self) -> None:
        # Many routes have few parents: each text is kept once.
        force_setattr(self, "name", intern(self.name))
        force_setattr(self, "namespace", intern(self.namespace))
        force_setattr(self, "group", intern(self.group))
        force_setattr(self, "kind", intern(self.kind))


class RouteParentStatus(Shape, frozen=True):
    parent_ref: ParentReference = ParentReference()
    controller_name: str = ""
    conditions: tuple[Condition, ...] = ()


class RouteStatus(Shape, frozen=True):
    parents: tuple[RouteParentStatus, ...] = ()


class RouteSpec(Shape, frozen=True):
    """What the routes of all kinds share. TCPRoute and UDPRoute have no hostnames."""

    parent_refs: tuple[ParentReference, ...] = ()
    hostnames: tuple[str, ...] = ()


class GatewayRoute(KubernetesObject, frozen=True, kw_only=True):
    """Base of HTTPRoute, GRPCRoute, TLSRoute, TCPRoute and UDPRoute.

    Rules and backends are left out, except for those of routes that belong to a KIngress: DNS does not need them, and
    they are most of the memory of a large cluster.
    """

    spec: RouteSpec = RouteSpec()
    status: RouteStatus = RouteStatus()


class HTTPHeaderMatch(Shape, frozen=True):
    name: str = ""


class HTTPRouteMatch(Shape, frozen=True):
    headers: tuple[HTTPHeaderMatch, ...] = ()


class BackendReference(Shape, frozen=True):
    name: str = ""
    port: int = 0


class HTTPRouteRule(Shape, frozen=True):
    """What tells the rules for probes from those for everybody, and where their requests go."""

    matches: tuple[HTTPRouteMatch, ...] = ()
    backend_refs: tuple[BackendReference, ...] = ()


class HTTPRouteSpec(RouteSpec, frozen=True):
    rules: tuple[HTTPRouteRule, ...] = ()


class HTTPRoute(GatewayRoute, frozen=True, kw_only=True):
    KIND: ClassVar = Kind(GROUP, "HTTPRoute", "httproutes", ("v1", "v1beta1"))

    spec: HTTPRouteSpec = HTTPRouteSpec()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.spec.rules and KINGRESS_LABEL not in self.metadata.labels:
            force_setattr(self.spec, "rules", ())


class GRPCRoute(GatewayRoute, frozen=True, kw_only=True):
    KIND: ClassVar = Kind(GROUP, "GRPCRoute", "grpcroutes", ("v1", "v1alpha2"))


class TLSRoute(GatewayRoute, frozen=True, kw_only=True):
    KIND: ClassVar = Kind(GROUP, "TLSRoute", "tlsroutes", ("v1", "v1alpha3", "v1alpha2"))


class TCPRoute(GatewayRoute, frozen=True, kw_only=True):
    KIND: ClassVar = Kind(GROUP, "TCPRoute", "tcproutes", ("v1", "v1alpha2"))


class UDPRoute(GatewayRoute, frozen=True, kw_only=True):
    KIND: ClassVar = Kind(GROUP, "UDPRoute", "udproutes", ("v1", "v1alpha2"))


class ReferenceGrantFrom(Shape, frozen=True):
    """Who may refer: all of a kind in a namespace."""

    group: str = ""
    kind: str = ""
    namespace: str = ""


class ReferenceGrantTo(Shape, frozen=True):
    """What may be referred to in the grant's namespace; `name` "" is all of the kind."""

    group: str = ""
    kind: str = ""
    name: str = ""


class ReferenceGrantSpec(Shape, frozen=True):
    from_: tuple[ReferenceGrantFrom, ...] = field(default=(), name="from")
    to: tuple[ReferenceGrantTo, ...] = ()


class ReferenceGrant(KubernetesObject, frozen=True, kw_only=True):
    """v1beta1 is written: v1 exists only since Gateway API 1.5."""

    KIND: ClassVar = Kind(GROUP, "ReferenceGrant", "referencegrants", ("v1beta1", "v1"))

    spec: ReferenceGrantSpec = ReferenceGrantSpec()
