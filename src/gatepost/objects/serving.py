"""Kinds of serving.knative.dev, and any other kind that has an address."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import UNSET, UnsetType, field

from gatepost.objects.meta import Condition, Kind, KubernetesObject, Shape

GROUP = "serving.knative.dev"

ROUTE_LABEL = "serving.knative.dev/route"
"""On what is made for a Route: its name."""


class Address(Shape, frozen=True):
    """An entry of `status.addresses`, or `status.address`."""

    url: str = ""
    name: str = ""


class AddressableStatus(Shape, frozen=True):
    url: str = ""
    address: Address | None = None
    addresses: tuple[Address, ...] = ()
    conditions: tuple[Condition, ...] = ()
    observed_generation: int = 0


class AnyStatus(Shape, frozen=True):
    """The fields of a status that may tell an address. Kinds that are not made for this may hold anything there."""

    address: Any = None
    addresses: Any = ()


class Addressable(KubernetesObject, frozen=True, kw_only=True):
    """Any object, of whatever kind, seen through its address. Its `ref` cannot tell its kind: the store knows it."""

    KIND: ClassVar = Kind("", "Addressable", "addressables", ("v1",))

    kind: str = ""
    status: AnyStatus = AnyStatus()


class KnativeService(KubernetesObject, frozen=True, kw_only=True):
    """The Service of Knative; `gatepost.objects.core.Service` is the one of Kubernetes."""

    KIND: ClassVar = Kind(GROUP, "Service", "services", ("v1",))

    status: AddressableStatus = AddressableStatus()


class TrafficTarget(Shape, frozen=True):
    """One entry of a Route's traffic. `latest_revision` is UNSET where the object does not say."""

    tag: str = ""
    revision_name: str = ""
    configuration_name: str = ""
    latest_revision: bool | UnsetType = UNSET
    percent: int | UnsetType = UNSET
    url: str = ""


class RouteSpec(Shape, frozen=True):
    traffic: tuple[TrafficTarget, ...] = ()


class RouteStatus(Shape, frozen=True):
    url: str = ""
    address: Address | None = None
    addresses: tuple[Address, ...] = ()
    traffic: tuple[TrafficTarget, ...] = ()
    conditions: tuple[Condition, ...] = ()
    observed_generation: int = 0


class Route(KubernetesObject, frozen=True, kw_only=True):
    """The Route of Knative."""

    KIND: ClassVar = Kind(GROUP, "Route", "routes", ("v1",))

    spec: RouteSpec = RouteSpec()
    status: RouteStatus = RouteStatus()


class ConfigurationStatus(Shape, frozen=True):
    latest_ready_revision_name: str = ""
    conditions: tuple[Condition, ...] = ()
    observed_generation: int = 0


class Configuration(KubernetesObject, frozen=True, kw_only=True):
    KIND: ClassVar = Kind(GROUP, "Configuration", "configurations", ("v1",))

    status: ConfigurationStatus = ConfigurationStatus()


class ContainerPort(Shape, frozen=True):
    name: str = ""


class Container(Shape, frozen=True):
    name: str = ""
    ports: tuple[ContainerPort, ...] = ()


class RevisionSpec(Shape, frozen=True):
    containers: tuple[Container, ...] = ()


class RevisionStatus(Shape, frozen=True):
    conditions: tuple[Condition, ...] = ()
    observed_generation: int = 0


class Revision(KubernetesObject, frozen=True, kw_only=True):
    KIND: ClassVar = Kind(GROUP, "Revision", "revisions", ("v1",))

    spec: RevisionSpec = RevisionSpec()
    status: RevisionStatus = RevisionStatus()


class KReference(Shape, frozen=True):
    """`spec.ref` of a DomainMapping."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    address: str = ""
    group: str = ""


class SecretTLS(Shape, frozen=True):
    secret_name: str = ""


class DomainMappingSpec(Shape, frozen=True):
    ref: KReference = KReference()
    tls: SecretTLS | None = None


class DomainMappingStatus(Shape, frozen=True):
    url: str = ""
    address: Address | None = None
    conditions: tuple[Condition, ...] = ()
    observed_generation: int = 0
    annotations: dict[str, Any] = field(default_factory=dict)


class DomainMapping(KubernetesObject, frozen=True, kw_only=True):
    KIND: ClassVar = Kind(GROUP, "DomainMapping", "domainmappings", ("v1beta1",))

    spec: DomainMappingSpec = DomainMappingSpec()
    status: DomainMappingStatus = DomainMappingStatus()
