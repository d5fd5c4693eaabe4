"""Objects for the tests of the DNS part: complete enough to be real, with the defaults that most tests need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from hypothesis import settings as hypothesis_settings

from gatepost.dns.desired import desired_endpoints
from gatepost.dns.endpoint import Endpoint
from gatepost.dns.rules import rules
from gatepost.dns.settings import DnsSettings
from gatepost.objects.kinds import typed
from gatepost.objects.meta import KubernetesObject
from gatepost.state.engine import Engine

unhurried = hypothesis_settings(deadline=None)
"""For properties: a busy machine is no failure."""

START = datetime(2026, 1, 1, tzinfo=UTC)
HTTP_ROUTES = DnsSettings(sources=("gateway-httproute",))
_GATEWAY_API = "gateway.networking.k8s.io/v1"


def listener(name: str = "web", hostname: str = "", **fields: Any) -> dict[str, Any]:
    found = {"name": name, "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}, **fields}
    return {**found, "hostname": hostname} if hostname else found


def gateway(
    name: str = "edge",
    addresses: Iterable[str] = ("192.0.2.1",),
    listeners: Sequence[dict[str, Any]] | None = None,
    annotations: dict[str, str] | None = None,
    namespace: str = "infra",
    conditions: Sequence[dict[str, Any]] = (),
) -> KubernetesObject:
    return typed(
        {
            "apiVersion": _GATEWAY_API,
            "kind": "Gateway",
            "metadata": {"name": name, "namespace": namespace, "annotations": annotations or {}},
            "spec": {"gatewayClassName": "any", "listeners": [listener()] if listeners is None else list(listeners)},
            "status": {"addresses": [{"value": address} for address in addresses], "conditions": list(conditions)},
        }
    )


def parent(name: str = "edge", section: str = "", namespace: str = "infra") -> dict[str, Any]:
    found = {"name": name, "namespace": namespace}
    return {**found, "sectionName": section} if section else found


def route(
    name: str = "cart",
    hostnames: Iterable[str] = ("app.example.com",),
    parents: Sequence[dict[str, Any]] | None = None,
    *,
    namespace: str = "shop",
    created: str = "2026-01-01T00:00:00Z",
    annotations: dict[str, str] | None = None,
    answers: Sequence[tuple[dict[str, Any], str]] | None = None,
    generation: int = 1,
    observed: int = 1,
    kind: str = "HTTPRoute",
) -> KubernetesObject:
    """A Route whose parents have all accepted it, or have given the `answers` (parentRef, status of Accepted)."""
    asked = [parent()] if parents is None else list(parents)
    given = [(reference, "True") for reference in asked] if answers is None else answers
    return typed(
        {
            "apiVersion": _GATEWAY_API,
            "kind": kind,
            "metadata": {
                "name": name,
                "namespace": namespace,
                "creationTimestamp": created,
                "generation": generation,
                "annotations": annotations or {},
            },
            "spec": {"parentRefs": asked, "hostnames": list(hostnames)},
            "status": {
                "parents": [
                    {
                        "parentRef": reference,
                        "controllerName": "example.com/controller",
                        "conditions": [{"type": "Accepted", "status": status, "observedGeneration": observed}],
                    }
                    for reference, status in given
                ]
            },
        }
    )


def dns_endpoint(name: str, *endpoints: dict[str, Any], created: str = "2026-01-01T00:00:00Z") -> KubernetesObject:
    return typed(
        {
            "apiVersion": "externaldns.k8s.io/v1alpha1",
            "kind": "DNSEndpoint",
            "metadata": {"name": name, "namespace": "shop", "creationTimestamp": created},
            "spec": {"endpoints": list(endpoints)},
        }
    )


def engine_of(settings: DnsSettings, *objects: KubernetesObject) -> Engine:
    """An engine at rest that holds the objects, in which no rule has failed."""
    engine = Engine(*rules(settings), START)
    for obj in objects:
        engine.put(obj)
    engine.run_stale()
    assert not engine.failures
    return engine


def endpoints_of(settings: DnsSettings, *objects: KubernetesObject) -> tuple[Endpoint, ...]:
    return desired_endpoints(engine_of(settings, *objects))


def answers(endpoints: Iterable[Endpoint]) -> dict[tuple[str, str], tuple[str, ...]]:
    """(name, type) -> targets."""
    return {(endpoint.dns_name, endpoint.record_type): endpoint.targets for endpoint in endpoints}


def value_at(engine: Engine, rule: str, key: Any) -> Any:
    """What a rule says of a key. Raises: AssertionError if it says nothing."""
    found = engine.value(engine.rule(rule), key)
    assert found is not None
    return found
