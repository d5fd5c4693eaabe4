"""The DNSEndpoint of externaldns.k8s.io: records that a user wrote down as such."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from gatepost.objects.meta import Condition, Kind, KubernetesObject, Shape


class ProviderSpecific(Shape, frozen=True):
    name: str = ""
    value: str = ""


class WrittenEndpoint(Shape, frozen=True):
    """An entry of `spec.endpoints`, as the user wrote it."""

    dns_name: str = ""
    record_type: str = ""
    targets: tuple[str, ...] = ()
    record_ttl: int = field(default=0, name="recordTTL")
    set_identifier: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    provider_specific: tuple[ProviderSpecific, ...] = ()


class DNSEndpointSpec(Shape, frozen=True):
    endpoints: tuple[WrittenEndpoint | None, ...] = ()


class DNSEndpointStatus(Shape, frozen=True):
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


class DNSEndpoint(KubernetesObject, frozen=True, kw_only=True):
    KIND: ClassVar = Kind("externaldns.k8s.io", "DNSEndpoint", "dnsendpoints", ("v1alpha1",))

    spec: DNSEndpointSpec = DNSEndpointSpec()
    status: DNSEndpointStatus = DNSEndpointStatus()
