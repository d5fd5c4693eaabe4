"""A cluster with two Gateways, KIngresses on them, and what a Gateway's controller writes into a HTTPRoute."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from knative_objects import GATEWAY_CLASS, NETWORKING, World, config_map, meta

from gatepost.objects.refs import Ref, ref_of
from gatepost.reconcilers import gateway as controller
from gatepost.reconcilers.gateway.listeners import LISTENERS
from gatepost.reconcilers.gateway.reconcile import KINGRESS
from gatepost.runtime.offline.settle import render
from gatepost.writes.compare import wanted_object
from gatepost.writes.outcome import Outcome
from published_crds import assert_valid

Raw = dict[str, Any]

GATEWAY_API = "gateway.networking.k8s.io"
HTTP = {"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}
SERVED = (("Accepted", "True"), ("ResolvedRefs", "True"))


def world(*raws: Raw) -> World:
    """A store with the KIngress reconciler on it."""
    return World(KINGRESS, controller.RULES, controller.INDEXES, *raws)


def rendered(*raws: Raw) -> dict[Ref, Raw]:
    """The objects once all rules of this controller have come to rest. Events are left out."""
    result = render(raws, controller.RULES, controller.INDEXES, now=datetime(2026, 3, 1, tzinfo=UTC))
    assert not result.failures, result.failures
    return {ref_of(raw): raw for raw in result.objects if raw["kind"] != "Event"}


def config(external: str = "edge/public", local: str = "edge/inside", **more: Any) -> Raw:
    """A config-gateway without Services; `more` are fields of the external entry, underscores for dashes."""
    lines = [f"- class: traefik\n  gateway: {external}\n"]
    lines += [f"  {key.replace('_', '-')}: {value}\n" for key, value in more.items()]
    return config_map(
        "config-gateway",
        external_gateways="".join(lines),
        local_gateways=f"- class: traefik\n  gateway: {local}\n",
    )


def gateway(name: str, *listeners: Raw, address: str | None = "192.0.2.10") -> Raw:
    status = {"addresses": [{"type": "IPAddress", "value": address}]} if address else {}
    return {
        "apiVersion": f"{GATEWAY_API}/v1",
        "kind": "Gateway",
        "metadata": meta(name, "edge"),
        "spec": {"gatewayClassName": "traefik", "listeners": [HTTP, *listeners]},
        "status": status,
    }


PUBLIC = gateway("public")
INSIDE = gateway("inside", address="198.51.100.20")
EDGE = (config(), PUBLIC, INSIDE)


def ingress(name: str, *rules: Raw, namespace: str = "shop", uid: str | None = None, **more: Any) -> Raw:
    """A KIngress of our class. `more` are fields of its spec, or `metadata` to add to that."""
    metadata = meta(name, namespace, **more.pop("metadata", {}))
    metadata["uid"] = uid if uid is not None else f"uid-{namespace}-{name}"
    metadata.setdefault("annotations", {"networking.knative.dev/ingress.class": GATEWAY_CLASS})
    return {"apiVersion": NETWORKING, "kind": "Ingress", "metadata": metadata, "spec": {"rules": list(rules), **more}}


def public_rule(host: str, *paths: Raw) -> Raw:
    return {"hosts": [host], "visibility": "ExternalIP", "http": {"paths": list(paths) or [path("app-00001")]}}


def path(*services: str, port: int | str = 80, **more: Any) -> Raw:
    share = 100 // len(services)
    backends = [{"serviceNamespace": "shop", "serviceName": s, "servicePort": port, "percent": share} for s in services]
    return {"splits": backends, **more}


def tls(host: str, secret: str, namespace: str = "shop") -> Raw:
    return {"hosts": [host], "secretName": secret, "secretNamespace": namespace}


def route_of(owner: Raw, name: str, *, parent: str = "public", hosts: list[str] | None = None, **more: Any) -> Raw:
    """A HTTPRoute as this controller would have made it, without rules: those are not read."""
    reference = {key: owner[key] for key in ("apiVersion", "kind")}
    reference |= {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], "controller": True}
    labels = {"networking.internal.knative.dev/ingress": owner["metadata"]["name"]}
    metadata = meta(name, owner["metadata"]["namespace"], ownerReferences=[reference], labels=labels)
    return {
        "apiVersion": f"{GATEWAY_API}/v1",
        "kind": "HTTPRoute",
        "metadata": metadata,
        "spec": {"parentRefs": [parent_ref(parent)], "hostnames": hosts or [name]},
        **more,
    }


def parent_ref(name: str) -> Raw:
    return {"group": GATEWAY_API, "kind": "Gateway", "namespace": "edge", "name": name}


def verdict(*conditions: tuple[str, str], parent: str = "public", generation: int = 1) -> Raw:
    """What one Gateway says of a route."""
    return {
        "controllerName": "traefik.io/gateway-controller",
        "parentRef": parent_ref(parent),
        "conditions": [
            {"type": type_, "status": status, "reason": type_, "observedGeneration": generation}
            for type_, status in conditions
        ],
    }


def parents(*verdicts: Raw) -> Raw:
    return {"parents": list(verdicts)}


def seen(kingress: Raw) -> Raw:
    """The KIngress after a first pass, so that the next one may report readiness."""
    return {**kingress, "status": {"observedGeneration": 1}}


def routes_wanted(outcome: Outcome) -> dict[str, Raw]:
    """Name -> spec of the HTTPRoutes that are to be applied. All of the outcome must be valid."""
    for apply in outcome.applies:
        assert_valid(apply.fields)
    fields = [apply.fields for apply in outcome.applies if apply.fields["kind"] == "HTTPRoute"]
    return {route["metadata"]["name"]: route["spec"] for route in fields}


def listener_names(found: World, owner: Raw) -> list[str]:
    """The names of the listeners of a Gateway once the wish for it is carried out."""
    outcome = found.engine.value(LISTENERS, ref_of(owner))
    assert outcome is not None
    wanted: Raw = found.raws[ref_of(owner)]
    for apply in outcome.applies:
        fulfilled = wanted_object(apply, wanted)
        assert fulfilled is not None
        wanted = fulfilled
        if len(wanted["spec"]["listeners"]) <= 16:  # the rules about pairs of listeners take seconds for 64
            assert_valid(wanted)
    return [listener["name"] for listener in wanted["spec"]["listeners"]]
