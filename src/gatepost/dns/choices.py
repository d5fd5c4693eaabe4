"""What the flags of the DNS part can be set to."""

from __future__ import annotations

SOURCES = (
    "gateway-httproute",
    "gateway-grpcroute",
    "gateway-tlsroute",
    "gateway-tcproute",
    "gateway-udproute",
    "gateway-listener",
    "knative",
    "crd",
)
SOURCES_OF_EXTERNAL_DNS = frozenset(
    (
        "ambassador-host",
        "connector",
        "contour-httpproxy",
        "empty",
        "f5-transportserver",
        "f5-virtualserver",
        "fake",
        "gloo-proxy",
        "ingress",
        "istio-gateway",
        "istio-virtualservice",
        "kong-tcpingress",
        "node",
        "openshift-route",
        "pod",
        "service",
        "skipper-routegroup",
        "traefik-proxy",
        "unstructured",
    )
)
"""A Gateway or a Knative Route covers most of them; external-dns may run beside gatepost for the rest."""
FORMER_SOURCES = ("cloudfoundry", "contour-ingressroute")
"""Those that external-dns had in earlier versions."""

CONFLICT_CHOICES = ("oldest", "refuse", "merge")
FALLBACK_CHOICES = ("all", "exact", "none")
POLICIES = ("sync", "upsert-only", "create-only")
RECORD_TYPES = ("A", "AAAA", "CNAME", "TXT", "SRV", "NS", "PTR", "MX", "NAPTR", "DNAME")
REGISTRIES = ("txt", "noop", "dynamodb", "crd")
EVENTS = ("RecordReady", "RecordDeleted", "RecordError")
