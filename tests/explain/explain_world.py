"""Objects in their raw form as a cluster holds them, and the engine that explanations are made from."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from gatepost.cli.dns_input import DEFAULT_SOURCES
from gatepost.dns.settings import DnsSettings
from gatepost.explain.hostname import explain_hostname
from gatepost.explain.values import Explanation, Step
from gatepost.explain.way import all_steps
from gatepost.objects.refs import ref_of
from gatepost.runtime.offline.settle import Settled, settle
from gatepost.runtime.wiring import dns_part, reconcilers, together

Raw = dict[str, Any]

NAMESPACE = "shop"
GATEWAY_API = "gateway.networking.k8s.io/v1"
NETWORKING = "networking.internal.knative.dev/v1alpha1"
CLASS_ANNOTATION = "networking.knative.dev/ingress.class"
OUR_CLASS = "gateway-api.ingress.networking.knative.dev"
OLD, YOUNG = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"


def settled(*raws: Raw, **dns: Any) -> Settled:
    """The controllers and the DNS rules at rest over these objects."""
    wiring = together(reconcilers(), dns_part(DnsSettings(**{"sources": DEFAULT_SOURCES, **dns})))
    result = settle(raws, wiring.rules, wiring.indexes, now=datetime(2026, 3, 1, tzinfo=UTC))
    assert result.rendered.failures == []
    return result


def explained(name: str, *raws: Raw, **dns: Any) -> Explanation:
    result = settled(*raws, **dns)
    by_ref = {ref_of(raw): raw for raw in result.rendered.objects}
    return explain_hostname(result.engine, name, raw_of=by_ref.get, refusals=result.refusals)


def step(explanation: Explanation, about: str) -> Step:
    """The step of the object that is called so (`HTTPRoute shop/app`)."""
    found = {str(one.about): one for one in all_steps(explanation.way)}
    assert about in found, sorted(found)
    return found[about]


def meta(name: str, namespace: str = NAMESPACE, **more: Any) -> Raw:
    return {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}", "generation": 1, **more}


def owned_by(kind: str, api_version: str, name: str, uid: str) -> Raw:
    owner = {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": True}
    return {"ownerReferences": [{**owner, "blockOwnerDeletion": True}]}


def gateway(name: str = "public", *, addresses: tuple[str, ...] = ("192.0.2.1",), **more: Any) -> Raw:
    """A Gateway with one listener for HTTP; `hostname` restricts it, `conditions` are those of its status."""
    listener = {"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}
    if "hostname" in more:
        listener["hostname"] = more["hostname"]
    status = {
        "addresses": [{"type": "IPAddress", "value": address} for address in addresses],
        "conditions": more.get("conditions", [{"type": "Programmed", "status": "True", "reason": "Programmed"}]),
    }
    spec = {"gatewayClassName": "any", "listeners": [listener]}
    return {
        "apiVersion": GATEWAY_API,
        "kind": "Gateway",
        "metadata": meta(name, "infra"),
        "spec": spec,
        "status": status,
    }


def parent_ref(name: str = "public") -> Raw:
    return {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": name, "namespace": "infra"}


def answer(*conditions: tuple[str, str, str], parent: str = "public") -> Raw:
    """What a Gateway says of a route: (type, status, reason) of its conditions."""
    said = [{"type": type_, "status": status, "reason": reason} for type_, status, reason in conditions]
    return {"parents": [{"parentRef": parent_ref(parent), "controllerName": "example.com/any", "conditions": said}]}


ACCEPTED = answer(("Accepted", "True", "Accepted"), ("ResolvedRefs", "True", "ResolvedRefs"))


def http_route(name: str, *hostnames: str, status: Raw | None = ACCEPTED, parent: str = "public", **more: Any) -> Raw:
    backends = more.pop("backends", [{"name": "web", "port": 80}])
    rules = [{"matches": [{"path": {"type": "PathPrefix", "value": "/"}}], "backendRefs": backends}]
    spec = {"parentRefs": [parent_ref(parent)], "hostnames": list(hostnames), "rules": rules}
    return {
        "apiVersion": GATEWAY_API,
        "kind": "HTTPRoute",
        "metadata": {**meta(name, **more), "uid": f"uid-route-{name}"},
        "spec": spec,
        "status": status or {},
    }


def config_map(name: str, **data: str) -> Raw:
    """A ConfigMap of Knative; underscores in the keys stand for dashes."""
    metadata = meta(name, "knative-serving")
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {k.replace("_", "-"): v for k, v in data.items()},
    }


KNATIVE = (
    config_map("config-network", ingress_class=OUR_CLASS, autocreate_cluster_domain_claims="true"),
    config_map(
        "config-gateway",
        external_gateways="- class: any\n  gateway: infra/public\n",
        local_gateways="- class: any\n  gateway: infra/local\n",
    ),
    gateway("public"),
    gateway("local", addresses=("192.0.2.2",)),
)
"""The settings of Knative and the two Gateways that they name."""


def domain_mapping(name: str, service: str, *, api_version: str = "serving.knative.dev/v1", **more: Any) -> Raw:
    """`status` is that of the mapping; everything else goes into its metadata."""
    status = more.pop("status", {})
    spec = {"ref": {"apiVersion": api_version, "kind": "Service", "name": service}}
    metadata = meta(name, more.pop("namespace", NAMESPACE), **more)
    return {
        "apiVersion": "serving.knative.dev/v1beta1",
        "kind": "DomainMapping",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }


def knative_service(name: str) -> Raw:
    status = {"address": {"url": f"http://{name}.{NAMESPACE}.svc.cluster.local"}}
    return {"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": meta(name), "status": status}


def kingress(
    name: str, *splits: tuple[str, int], port: int | str = 80, ingress_class: str = OUR_CLASS, **more: Any
) -> Raw:
    """A KIngress that sends a host of its own name to these Services with their percentages."""
    backends = [
        {"serviceNamespace": NAMESPACE, "serviceName": service, "servicePort": port, "percent": percent}
        for service, percent in splits
    ]
    rule = {"hosts": [name], "visibility": "ExternalIP", "http": {"paths": [{"splits": backends}]}}
    status = more.pop("status", {})
    return {
        "apiVersion": NETWORKING,
        "kind": "Ingress",
        "metadata": meta(name, annotations={CLASS_ANNOTATION: ingress_class}, **more),
        "spec": {"rules": [rule]},
        "status": status,
    }


def core_service(name: str, **spec: Any) -> Raw:
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta(name), "spec": {"ports": [{"port": 80}], **spec}}


def endpoint_slice(service: str, *addresses: str, ready: bool = True) -> Raw:
    labels = {"kubernetes.io/service-name": service}
    endpoints = [{"addresses": [address], "conditions": {"ready": ready}} for address in addresses]
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": meta(f"{service}-1", labels=labels),
        "addressType": "IPv4",
        "endpoints": endpoints,
    }


def standing_domain(name: str, *splits: tuple[str, int], port: int | str = 80) -> list[Raw]:
    """The KIngress of a DomainMapping and its HTTPRoute, made before and accepted."""
    by_mapping = owned_by("DomainMapping", "serving.knative.dev/v1beta1", name, f"uid-{NAMESPACE}-{name}")
    by_kingress = owned_by("Ingress", NETWORKING, name, f"uid-{NAMESPACE}-ingress-{name}")
    ready = {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]}
    made = kingress(name, *splits, port=port, status=ready, **by_mapping)
    made["metadata"]["uid"] = f"uid-{NAMESPACE}-ingress-{name}"
    backends = [{"name": service, "port": 80, "weight": percent} for service, percent in splits]
    return [made, http_route(name, name, backends=backends, **by_kingress)]
