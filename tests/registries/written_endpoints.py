"""DNSEndpoints, by which the tests of registries ask for records."""

from __future__ import annotations

from typing import Any

GROUP = "/apis/externaldns.k8s.io/v1alpha1/namespaces"


def dns_endpoint(name: str, namespace: str, target: str) -> dict[str, Any]:
    """One that asks for an A record below example.com."""
    endpoint = {"dnsName": f"{name}.example.com", "recordType": "A", "targets": [target], "recordTTL": 60}
    return {
        "apiVersion": "externaldns.k8s.io/v1alpha1",
        "kind": "DNSEndpoint",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"endpoints": [endpoint]},
    }
