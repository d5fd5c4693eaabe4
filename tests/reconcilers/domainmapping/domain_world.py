"""DomainMappings in their raw form, and the world that their reconciler sees."""

from __future__ import annotations

from typing import Any

from knative_objects import MAPPINGS, NAMESPACE, NETWORKING, Raw, World, controlled_by, meta

from gatepost.reconcilers.domainmapping import INDEXES, RULES
from gatepost.reconcilers.domainmapping.reconcile import DOMAINMAPPING

DOMAIN = "app.example.com"
FINALIZER = "domainmappings.serving.knative.dev"
CORE_SERVICE = {"apiVersion": "v1", "kind": "Service", "name": "web"}


def domain_world(*raws: Raw) -> World:
    return World(DOMAINMAPPING, RULES, INDEXES, *raws)


def mapping(ref: Raw, name: str = DOMAIN, namespace: str = NAMESPACE, **more: Any) -> Raw:
    """A DomainMapping; `metadata` and `status` add to it, everything else goes into its spec."""
    metadata = meta(name, namespace, finalizers=[FINALIZER], **more.pop("metadata", {}))
    status = more.pop("status", {})
    spec = {"ref": ref, **more}
    return {"apiVersion": MAPPINGS, "kind": "DomainMapping", "metadata": metadata, "spec": spec, "status": status}


def knative_ref(name: str, kind: str = "Service", **more: str) -> Raw:
    return {"apiVersion": "serving.knative.dev/v1", "kind": kind, "name": name, **more}


def ready_before() -> Raw:
    """The status of a mapping that was ready in its present generation."""
    types = ("CertificateProvisioned", "DomainClaimed", "IngressReady", "Ready", "ReferenceResolved")
    return {"observedGeneration": 1, "conditions": [{"type": type_, "status": "True"} for type_ in types]}


def claim(name: str = DOMAIN, namespace: str = NAMESPACE) -> Raw:
    metadata = {"name": name, "uid": f"uid-claim-{name}"}
    spec = {"namespace": namespace}
    return {"apiVersion": NETWORKING, "kind": "ClusterDomainClaim", "metadata": metadata, "spec": spec}


def certificate(owner: Raw, *, name: str = DOMAIN, owned: bool = True, **status: Any) -> Raw:
    metadata = meta(name, uid=f"uid-certificate-{name}", ownerReferences=controlled_by(owner) if owned else [])
    spec = {"dnsNames": [owner["metadata"]["name"]], "domain": owner["metadata"]["name"], "secretName": name}
    return {"apiVersion": NETWORKING, "kind": "Certificate", "metadata": metadata, "spec": spec, "status": status}
