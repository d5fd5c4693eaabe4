"""The objects in the Kubernetes API that make Traefik the gateway, for outside and for cluster-local routes."""

from __future__ import annotations

from typing import Any

from gatepost.standalone.dataplane.traefik import DataplanePorts

GATEWAY_CLASS = "traefik"
GATEWAY_NAMESPACE = "gatepost-system"
EXTERNAL_GATEWAY = "external"
LOCAL_GATEWAY = "local"
_SETTINGS_NAMESPACE = "knative-serving"
_INGRESS_CLASS = "gateway-api.ingress.networking.knative.dev"


def gateway_objects(ports: DataplanePorts, domain: str = "example.test") -> list[dict[str, Any]]:
    """Namespaces, GatewayClass, Gateways and the settings that name them, in the order in which to create them.

    Args:
        ports: those that the Dataplane listens on: a listener is served where its port is that of an entry point.
        domain: the domain of Routes that name none (ConfigMap config-domain).
    """
    return [
        _object("v1", "Namespace", "", GATEWAY_NAMESPACE),
        _object("v1", "Namespace", "", _SETTINGS_NAMESPACE),
        _object(
            "gateway.networking.k8s.io/v1",
            "GatewayClass",
            "",
            GATEWAY_CLASS,
            spec={"controllerName": "traefik.io/gateway-controller"},
        ),
        _gateway(EXTERNAL_GATEWAY, ports.external),
        _gateway(LOCAL_GATEWAY, ports.local),
        _settings(
            "config-network",
            {"ingress-class": _INGRESS_CLASS, "autocreate-cluster-domain-claims": "true"},
        ),
        _settings("config-domain", {domain: ""}),
        _settings(
            "config-gateway",
            {
                "external-gateways": _gateway_setting(EXTERNAL_GATEWAY, ports.tls),
                "local-gateways": _gateway_setting(LOCAL_GATEWAY, ports.local_tls),
            },
        ),
    ]


def _gateway(name: str, port: int) -> dict[str, Any]:
    listener = {
        "name": "http",
        "port": port,
        "protocol": "HTTP",
        "allowedRoutes": {"namespaces": {"from": "All"}},
    }
    return _object(
        "gateway.networking.k8s.io/v1",
        "Gateway",
        GATEWAY_NAMESPACE,
        name,
        spec={"gatewayClassName": GATEWAY_CLASS, "listeners": [listener]},
    )


def _gateway_setting(name: str, tls_port: int | None) -> str:
    # No `supported-features`: the GatewayClass says what Traefik can do.
    entry = f"- class: {GATEWAY_CLASS}\n  gateway: {GATEWAY_NAMESPACE}/{name}\n"
    return entry if tls_port is None else f"{entry}  https-port: {tls_port}\n  redirect-port: {tls_port}\n"


def _settings(name: str, values: dict[str, str]) -> dict[str, Any]:
    return _object("v1", "ConfigMap", _SETTINGS_NAMESPACE, name, data=values)


def _object(api_version: str, kind: str, namespace: str, name: str, **content: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **content}
