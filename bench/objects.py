"""Objects to measure with, as JSON bytes: sized and shaped like those of a cluster with Knative."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

GATEWAYS = 50
ROUTES_OF_SMALL_GATEWAY = 20
NAMESPACES = 200
MAPPINGS_PER_ROUTE = 0.05
CREATED = "2026-02-03T09:00:00Z"

Raw = dict[str, Any]
_encode = msgspec.json.Encoder().encode


def gateways() -> Iterator[bytes]:
    for number in range(GATEWAYS):
        yield gateway(number, f"203.0.113.{number}")


def gateway(number: int, address: str) -> bytes:
    """A Gateway with a plain and a TLS listener; every third has an IPv6 address as well."""
    addresses = [{"type": "IPAddress", "value": address}]
    if number % 3 == 0:
        addresses.append({"type": "IPAddress", "value": f"2001:db8::{number:x}"})
    everywhere = {"namespaces": {"from": "All"}}
    return _encode(
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": {"name": f"gateway-{number}", "namespace": "gateways", "uid": f"gw-{number}", "generation": 1},
            "spec": {
                "gatewayClassName": "edge",
                "listeners": [
                    {"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": everywhere},
                    {
                        "name": "https",
                        "port": 443,
                        "protocol": "HTTPS",
                        "hostname": f"*.g{number}.example.com",
                        "allowedRoutes": everywhere,
                    },
                ],
            },
            "status": {"addresses": addresses, "conditions": [condition("Accepted"), condition("Programmed")]},
        }
    )


def gateway_of(number: int) -> int:
    """The first Gateway has a fixed number of routes, whatever the size of the cluster."""
    return 0 if number < ROUTES_OF_SMALL_GATEWAY else 1 + number % (GATEWAYS - 1)


def http_route(number: int, hostname: str = "") -> bytes:
    """An HTTPRoute of about 4 KB: managed fields, an owner, three rules with weighted backends, a status."""
    name, gateway_number = f"route-{number}", gateway_of(number)
    hostnames = [hostname or f"app-{number}.g{gateway_number}.example.com"]
    if number % 2:
        hostnames.append(f"www-{number}.g{gateway_number}.example.com")
    parent = {
        "group": "gateway.networking.k8s.io",
        "kind": "Gateway",
        "name": f"gateway-{gateway_number}",
        "namespace": "gateways",
    }
    rules = [rule(name, path) for path in ("/", "/api", "/static")]
    return _encode(
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "HTTPRoute",
            "metadata": {
                "name": name,
                "namespace": f"team-{number % NAMESPACES}",
                "uid": f"62b7b80a-a6fe-5df4-af7a-{number:012d}",
                "generation": 3,
                "resourceVersion": str(1000 + number),
                "creationTimestamp": CREATED,
                "labels": {"app.kubernetes.io/name": name, "team": f"team-{number % NAMESPACES}"},
                "annotations": {"external-dns.kubernetes.io/ttl": "300"},
                "managedFields": [managed_fields(manager) for manager in ("gatepost", "edge-controller")],
            },
            "spec": {"parentRefs": [parent], "hostnames": hostnames, "rules": rules},
            "status": {
                "parents": [
                    {
                        "parentRef": parent,
                        "controllerName": "example.com/edge-controller",
                        "conditions": [condition("Accepted"), condition("ResolvedRefs")],
                    }
                ]
            },
        }
    )


def rule(name: str, path: str) -> Raw:
    backends = [
        {
            "group": "",
            "kind": "Service",
            "name": f"{name}-0000{revision}",
            "port": 80,
            "weight": weight,
            "filters": [
                {
                    "type": "RequestHeaderModifier",
                    "requestHeaderModifier": {
                        "set": [{"name": "Knative-Serving-Revision", "value": f"{name}-0000{revision}"}]
                    },
                }
            ],
        }
        for revision, weight in ((1, 80), (2, 20))
    ]
    return {"matches": [{"path": {"type": "PathPrefix", "value": path}}], "backendRefs": backends}


def condition(type_: str) -> Raw:
    return {
        "type": type_,
        "status": "True",
        "reason": type_,
        "message": "",
        "observedGeneration": 3,
        "lastTransitionTime": CREATED,
    }


def managed_fields(manager: str) -> Raw:
    fields: Raw = {
        f"f:{name}": {"f:value": {}, ".": {}} for name in ("matches", "filters", "backendRefs", "timeouts", "hostnames")
    }
    return {
        "manager": manager,
        "operation": "Apply",
        "apiVersion": "gateway.networking.k8s.io/v1",
        "time": CREATED,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": fields, "f:status": fields},
    }


def mapped_service(number: int, percent: int = 80) -> Iterator[bytes]:
    """A DomainMapping with all that it rests on: Knative Service, Route, the Route's KIngress, the claim."""
    name, namespace = f"web-{number}", f"team-{number % NAMESPACES}"
    host = f"{name}.{namespace}.svc.cluster.local"
    yield _encode(
        {
            "apiVersion": "serving.knative.dev/v1",
            "kind": "Service",
            "metadata": {"name": name, "namespace": namespace, "uid": f"ks-{number}", "generation": 1},
            "status": {"address": {"url": f"http://{host}"}, "observedGeneration": 1},
        }
    )
    yield _encode(
        {
            "apiVersion": "serving.knative.dev/v1",
            "kind": "Route",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": f"kr-{number}",
                "generation": 1,
                "ownerReferences": [owner("serving.knative.dev/v1", "Service", name, f"ks-{number}")],
            },
            "spec": {"traffic": []},
        }
    )
    yield route_kingress(number, percent)
    yield _encode(
        {
            "apiVersion": "networking.internal.knative.dev/v1alpha1",
            "kind": "ClusterDomainClaim",
            "metadata": {"name": f"{name}.example.com"},
            "spec": {"namespace": namespace},
        }
    )
    yield _encode(
        {
            "apiVersion": "serving.knative.dev/v1beta1",
            "kind": "DomainMapping",
            "metadata": {"name": f"{name}.example.com", "namespace": namespace, "uid": f"dm-{number}", "generation": 1},
            "spec": {"ref": {"apiVersion": "serving.knative.dev/v1", "kind": "Service", "name": name}},
        }
    )


def route_kingress(number: int, percent: int) -> bytes:
    """The KIngress of the Route of `mapped_service`, with `percent` on its first revision."""
    name, namespace = f"web-{number}", f"team-{number % NAMESPACES}"
    splits = [
        {"serviceNamespace": namespace, "serviceName": f"{name}-0000{revision}", "servicePort": 80, "percent": share}
        for revision, share in ((1, percent), (2, 100 - percent))
    ]
    hosts = [f"{name}.{namespace}", f"{name}.{namespace}.svc", f"{name}.{namespace}.svc.cluster.local"]
    return _encode(
        {
            "apiVersion": "networking.internal.knative.dev/v1alpha1",
            "kind": "Ingress",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": f"ki-{number}",
                "generation": 1,
                "ownerReferences": [owner("serving.knative.dev/v1", "Route", name, f"kr-{number}")],
            },
            "spec": {
                "rules": [{"hosts": hosts, "visibility": "ClusterLocal", "http": {"paths": [{"splits": splits}]}}]
            },
        }
    )


def owner(api_version: str, kind: str, name: str, uid: str) -> Raw:
    return {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": True}


def settings() -> Iterator[bytes]:
    data = {"ingress-class": "gateway-api.ingress.networking.knative.dev", "autocreate-cluster-domain-claims": "true"}
    metadata = {"name": "config-network", "namespace": "knative-serving"}
    yield _encode({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
