"""Kinds of networking.internal.knative.dev. `KIngress` is the Ingress of Knative, never that of networking.k8s.io."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, UnsetType, field

from gatepost.objects.meta import Condition, Kind, KubernetesObject, Shape

GROUP = "networking.internal.knative.dev"

EXTERNAL_IP = "ExternalIP"
CLUSTER_LOCAL = "ClusterLocal"

VISIBILITY_LABEL = "networking.knative.dev/visibility"
CLUSTER_LOCAL_VISIBILITY = "cluster-local"
"""The one value of that label that has an effect: no name outside the cluster."""

KINGRESS_LABEL = "networking.internal.knative.dev/ingress"
"""On what is made from a KIngress: its name."""


class HeaderMatch(Shape, frozen=True, omit_defaults=False):
    exact: str = ""


class KIngressSplit(Shape, frozen=True):
    """One backend of a path. `percent` is UNSET where the object does not say; a lone split then gets all."""

    service_namespace: str = ""
    service_name: str = ""
    service_port: int | str = 0
    percent: int | UnsetType = UNSET
    append_headers: dict[str, str] = field(default_factory=dict)


def _none() -> tuple[()]:
    """Empty, and yet written out: the API says that the field is required."""
    return ()


class KIngressPath(Shape, frozen=True):
    """A path of a rule: `path` is a literal prefix, "" is everything. All `headers` must match."""

    path: str = ""
    rewrite_host: str = ""
    headers: dict[str, HeaderMatch] = field(default_factory=dict)
    splits: tuple[KIngressSplit, ...] = field(default_factory=_none)
    append_headers: dict[str, str] = field(default_factory=dict)


class KIngressHTTP(Shape, frozen=True):
    paths: tuple[KIngressPath, ...] = field(default_factory=_none)


class KIngressRule(Shape, frozen=True):
    """`visibility` "" counts as ExternalIP. `http` is None only where admission was off."""

    hosts: tuple[str, ...] = ()
    visibility: str = ""
    http: KIngressHTTP | None = None


class KIngressTLS(Shape, frozen=True):
    hosts: tuple[str, ...] = ()
    secret_name: str = ""
    secret_namespace: str = ""


class KIngressSpec(Shape, frozen=True):
    http_option: str = ""
    tls: tuple[KIngressTLS, ...] = ()
    rules: tuple[KIngressRule, ...] = ()


class LoadBalancerIngress(Shape, frozen=True):
    ip: str = ""
    domain: str = ""
    domain_internal: str = ""
    mesh_only: bool = False


class LoadBalancerStatus(Shape, frozen=True):
    ingress: tuple[LoadBalancerIngress, ...] = ()


class KIngressStatus(Shape, frozen=True):
    conditions: tuple[Condition, ...] = ()
    observed_generation: int = 0
    public_load_balancer: LoadBalancerStatus | None = None
    private_load_balancer: LoadBalancerStatus | None = None


class KIngress(KubernetesObject, frozen=True, kw_only=True):
    KIND: ClassVar = Kind(GROUP, "Ingress", "ingresses", ("v1alpha1",))

    spec: KIngressSpec = KIngressSpec()
    status: KIngressStatus = KIngressStatus()


class HTTP01Challenge(Shape, frozen=True):
    url: str = ""
    service_name: str = ""
    service_namespace: str = ""
    service_port: int | str = 0


class CertificateSpec(Shape, frozen=True):
    dns_names: tuple[str, ...] = ()
    domain: str = ""
    secret_name: str = ""


class CertificateStatus(Shape, frozen=True):
    conditions: tuple[Condition, ...] = ()
    observed_generation: int = 0
    http01_challenges: tuple[HTTP01Challenge, ...] = field(default=(), name="http01Challenges")


class Certificate(KubernetesObject, frozen=True, kw_only=True):
    KIND: ClassVar = Kind(GROUP, "Certificate", "certificates", ("v1alpha1",))

    spec: CertificateSpec = CertificateSpec()
    status: CertificateStatus = CertificateStatus()


class ClusterDomainClaimSpec(Shape, frozen=True):
    namespace: str = ""


class ClusterDomainClaim(KubernetesObject, frozen=True, kw_only=True):
    KIND: ClassVar = Kind(GROUP, "ClusterDomainClaim", "clusterdomainclaims", ("v1alpha1",), namespaced=False)

    spec: ClusterDomainClaimSpec = ClusterDomainClaimSpec()
