"""DomainMapping: a domain of its own for a Knative Service or Route, a Service of Kubernetes, or any Addressable.

In: the DomainMapping; ConfigMap config-network; the ClusterDomainClaim and the other DomainMappings of its name; its
    own Certificate and KIngress; what `spec.ref` names, and for Knative's Service and Route also the Route and its
    KIngress.
Out: ClusterDomainClaim, Certificate, KIngress; the finalizer; `status.url`, `status.address` and the conditions
    DomainClaimed, ReferenceResolved, IngressReady, CertificateProvisioned and Ready.
Never: it does not rewrite a KIngress or Certificate that it does not control, and while its source is unusable it
    leaves its KIngress as it is: a domain that serves keeps serving.
Read `reconcile.py` first.
"""

from __future__ import annotations

from typing import Any

from gatepost.configmaps.network import CONFIG_MAPS, CONFIG_NETWORK
from gatepost.reconcilers.domainmapping.claim import CONTENDERS
from gatepost.reconcilers.domainmapping.reconcile import DOMAINMAPPING
from gatepost.state.rule import Rule
from gatepost.state.store import Index

RULES: tuple[Rule[Any], ...] = (CONFIG_NETWORK, DOMAINMAPPING)
INDEXES: tuple[Index, ...] = (CONFIG_MAPS, CONTENDERS)
