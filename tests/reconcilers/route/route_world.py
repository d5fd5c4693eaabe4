"""Routes in their raw form with what their traffic names, and the world that their reconciler sees."""

from __future__ import annotations

import json
from typing import Any

from knative_objects import (
    GATEWAY_CLASS,
    NAMESPACE,
    NETWORKING,
    SERVING,
    Raw,
    World,
    config_map,
    controlled_by,
    meta,
    network,
)

from gatepost.reconcilers.route import INDEXES, RULES
from gatepost.reconcilers.route.reconcile import ROUTE

PUBLIC = "web.shop.example.com"
LOCAL = ["web.shop", "web.shop.svc", "web.shop.svc.cluster.local"]
DOMAINS = config_map("config-domain", **{"example.com": ""})
READY = [{"type": "Ready", "status": "True"}]


def route_world(*raws: Raw) -> World:
    """A world with the settings of a public cluster and revisions web-00001 and web-00002, and these objects."""
    settings = (network(), DOMAINS, configuration("web", "web-00002"), revision("web-00001"), revision("web-00002"))
    return World(ROUTE, RULES, INDEXES, *settings, *raws)


def latest(name: str = "web", percent: int = 100, **more: Any) -> Raw:
    return {"configurationName": name, "percent": percent, **more}


def pinned(name: str, percent: int = 100, **more: Any) -> Raw:
    return {"revisionName": name, "percent": percent, **more}


def route(*traffic: Raw, name: str = "web", status: Raw | None = None, **metadata: Any) -> Raw:
    """A Route; all to the latest revision of `web` unless traffic is given."""
    return {
        "apiVersion": SERVING,
        "kind": "Route",
        "metadata": meta(name, **{"uid": f"uid-route-{name}", **metadata}),
        "spec": {"traffic": list(traffic or (latest(),))},
        "status": status or {},
    }


def ready_before() -> Raw:
    types = ("AllTrafficAssigned", "CertificateProvisioned", "IngressReady", "Ready")
    return {"observedGeneration": 1, "conditions": [{"type": type_, "status": "True"} for type_ in types]}


def revision(name: str, *, conditions: Any = READY, containers: Any = ({},), observed: int = 1, **labels: str) -> Raw:
    named = {"serving.knative.dev/configuration": name.rpartition("-")[0]}
    named |= {f"serving.knative.dev/{key}": value for key, value in labels.items()}
    return {
        "apiVersion": SERVING,
        "kind": "Revision",
        "metadata": meta(name, labels=named),
        "spec": {"containers": list(containers)},
        "status": {"observedGeneration": observed, "conditions": conditions},
    }


def configuration(name: str, latest_ready: str = "", conditions: Any = ()) -> Raw:
    status = {"latestReadyRevisionName": latest_ready, "conditions": list(conditions)}
    return {"apiVersion": SERVING, "kind": "Configuration", "metadata": meta(name), "status": status}


def own_ingress(owner: Raw, *, rollout: Raw | str | None = None, generation: int = 1, **status: Any) -> Raw:
    """The Route's KIngress. Its spec is none that a Route would want, unless one is put in."""
    text = rollout if isinstance(rollout, str) else json.dumps(rollout or {})
    annotations = {
        "networking.knative.dev/ingress.class": GATEWAY_CLASS,
        "networking.internal.knative.dev/rollout": text,
    }
    return {
        "apiVersion": NETWORKING,
        "kind": "Ingress",
        "metadata": meta(
            owner["metadata"]["name"],
            uid="uid-ingress",
            generation=generation,
            annotations=annotations,
            ownerReferences=controlled_by(owner),
        ),
        "spec": {"rules": []},
        "status": status,
    }


def balancers(*, private: list[Raw] | None = None, public: list[Raw] | None = None) -> Raw:
    """The load balancers in the status of a KIngress."""
    found = {"privateLoadBalancer": private, "publicLoadBalancer": public}
    return {key: {"ingress": entries} for key, entries in found.items() if entries is not None}


def placeholder(owner: Raw, name: str = "web", labels: Raw | None = None, **spec: Any) -> Raw:
    """A Service of the Route, with these fields in its spec."""
    route_label = {"serving.knative.dev/route": owner["metadata"]["name"]}
    metadata = meta(
        name, uid=f"uid-service-{name}", labels={**route_label, **(labels or {})}, ownerReferences=controlled_by(owner)
    )
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def backend(revision_name: str, percent: int, port: int = 80) -> Raw:
    return {
        "serviceNamespace": NAMESPACE,
        "serviceName": revision_name,
        "servicePort": port,
        "percent": percent,
        "appendHeaders": {"Knative-Serving-Namespace": NAMESPACE, "Knative-Serving-Revision": revision_name},
    }


def hosts_of(ingress: Raw) -> list[tuple[str, list[str]]]:
    """(visibility, hosts) of each rule."""
    return [(rule["visibility"], rule["hosts"]) for rule in ingress["spec"]["rules"]]


def splits_of(ingress: Raw, rule: int = 0, path: int = 0) -> list[tuple[str, int]]:
    """(revision, percent) of each split of a path."""
    splits = ingress["spec"]["rules"][rule]["http"]["paths"][path]["splits"]
    return [(split["serviceName"], split["percent"]) for split in splits]
