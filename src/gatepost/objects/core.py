"""Kinds of Kubernetes itself that gatepost reads."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from gatepost.objects.meta import Kind, KubernetesObject, Shape


class Namespace(KubernetesObject, frozen=True, kw_only=True):
    KIND: ClassVar = Kind("", "Namespace", "namespaces", ("v1",), namespaced=False)


class ConfigMap(KubernetesObject, frozen=True, kw_only=True):
    KIND: ClassVar = Kind("", "ConfigMap", "configmaps", ("v1",))

    data: dict[str, str] = field(default_factory=dict)


class ServicePort(Shape, frozen=True):
    port: int = 0
    name: str = ""
    protocol: str = "TCP"
    app_protocol: str = ""
    target_port: int | str = 0


class ServiceSpec(Shape, frozen=True):
    type: str = "ClusterIP"
    cluster_ip: str = field(default="", name="clusterIP")
    cluster_ips: tuple[str, ...] = field(default=(), name="clusterIPs")
    external_name: str = ""
    ports: tuple[ServicePort, ...] = ()
    selector: dict[str, str] = field(default_factory=dict)


class LoadBalancerIngress(Shape, frozen=True):
    ip: str = ""
    hostname: str = ""


class LoadBalancerStatus(Shape, frozen=True):
    ingress: tuple[LoadBalancerIngress, ...] = ()


class ServiceStatus(Shape, frozen=True):
    load_balancer: LoadBalancerStatus = LoadBalancerStatus()


class Service(KubernetesObject, frozen=True, kw_only=True):
    KIND: ClassVar = Kind("", "Service", "services", ("v1",))

    spec: ServiceSpec = ServiceSpec()
    status: ServiceStatus = ServiceStatus()


class EndpointAddress(Shape, frozen=True):
    ip: str = ""


class EndpointSubset(Shape, frozen=True):
    addresses: tuple[EndpointAddress, ...] = ()


class Endpoints(KubernetesObject, frozen=True, kw_only=True):
    """The deprecated form: read only to notice what stands under a wanted name."""

    KIND: ClassVar = Kind("", "Endpoints", "endpoints", ("v1",))

    subsets: tuple[EndpointSubset, ...] = ()


class SliceConditions(Shape, frozen=True):
    """`ready` None counts as true. Source: discovery.k8s.io/v1 EndpointConditions."""

    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class SliceEndpoint(Shape, frozen=True):
    addresses: tuple[str, ...] = ()
    conditions: SliceConditions = SliceConditions()


class SlicePort(Shape, frozen=True):
    name: str = ""
    port: int = 0
    protocol: str = "TCP"
    app_protocol: str = ""


class EndpointSlice(KubernetesObject, frozen=True, kw_only=True):
    KIND: ClassVar = Kind("discovery.k8s.io", "EndpointSlice", "endpointslices", ("v1",))

    address_type: str = ""
    endpoints: tuple[SliceEndpoint, ...] = ()
    ports: tuple[SlicePort, ...] = ()


class Secret(KubernetesObject, frozen=True, kw_only=True):
    """Only its metadata and type: what a Secret holds never enters gatepost."""

    KIND: ClassVar = Kind("", "Secret", "secrets", ("v1",))

    type: str = ""
