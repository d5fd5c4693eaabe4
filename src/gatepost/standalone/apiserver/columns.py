"""Columns of the kinds that come without a CustomResourceDefinition, as kubectl users know them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from gatepost.kubernetes.values import Raw
from gatepost.objects.refs import GroupKind
from gatepost.standalone.apiserver.table import NAME, Cell, Column, age, age_of

_AGE = Column("Age", age_of)


def columns_of(kind: GroupKind) -> tuple[Column, ...]:
    """The columns of a built-in kind; NAME and AGE for one that has none of its own."""
    return _COLUMNS.get(kind, (NAME, _AGE))


def _column(name: str, read: Callable[[Raw], Cell], kind: str = "string", priority: int = 0) -> Column:
    return Column(name, lambda raw, _now: read(raw), type=kind, priority=priority)


def _joined(values: Any) -> str:
    return ",".join(str(value) for value in values)


def _service_ports(raw: Raw) -> Cell:
    ports = raw.get("spec", {}).get("ports") or []
    written = [
        f"{port['port']}{':' + str(port['nodePort']) if port.get('nodePort') else ''}/{port.get('protocol', 'TCP')}"
        for port in ports
    ]
    return _joined(written) or "<none>"


def _external_ip(raw: Raw) -> Cell:
    spec = raw.get("spec", {})
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName", "<none>"))
    addresses = [*(spec.get("externalIPs") or [])]
    for ingress in raw.get("status", {}).get("loadBalancer", {}).get("ingress") or []:
        addresses.append(ingress.get("ip") or ingress.get("hostname"))
    if addresses:
        return _joined(addresses)
    return "<pending>" if spec.get("type") == "LoadBalancer" else "<none>"


def _selector(raw: Raw) -> Cell:
    selector = raw.get("spec", {}).get("selector") or {}
    return _joined(f"{key}={value}" for key, value in sorted(selector.items())) or "<none>"


def _slice_addresses(raw: Raw) -> Cell:
    addresses = [address for item in raw.get("endpoints") or [] for address in item.get("addresses") or []]
    shown = _joined(addresses[:3])
    return f"{shown} + {len(addresses) - 3} more..." if len(addresses) > 3 else shown or "<unset>"


def _endpoint_addresses(raw: Raw) -> Cell:
    shown = [
        f"{address['ip']}:{port['port']}"
        for subset in raw.get("subsets") or []
        for address in subset.get("addresses") or []
        for port in subset.get("ports") or []
    ]
    return _joined(shown) or "<none>"


def _entries(raw: Raw) -> Cell:
    return len(raw.get("data") or {}) + len(raw.get("binaryData") or {})


def _last_seen(raw: Raw, now: datetime) -> Cell:
    series = raw.get("series") or {}
    for stamp in (series.get("lastObservedTime"), raw.get("lastTimestamp"), raw.get("eventTime")):
        if stamp:
            return age(stamp, now)
    return age_of(raw, now)


def _event_object(raw: Raw) -> Cell:
    involved = raw.get("involvedObject") or raw.get("regarding") or {}
    return f"{str(involved.get('kind', '')).lower()}/{involved.get('name', '')}"


def _ready_replicas(raw: Raw) -> Cell:
    return f"{raw.get('status', {}).get('readyReplicas', 0)}/{raw.get('spec', {}).get('replicas', 1)}"


_EVENT = (
    Column("Last Seen", _last_seen),
    _column("Type", lambda raw: raw.get("type")),
    _column("Reason", lambda raw: raw.get("reason")),
    _column("Object", _event_object),
    _column("Message", lambda raw: str(raw.get("message") or raw.get("note") or "").strip()),
    Column("Name", NAME.cell, priority=1, format="name"),
)

_COLUMNS: dict[GroupKind, tuple[Column, ...]] = {
    GroupKind("", "Namespace"): (NAME, _column("Status", lambda raw: raw.get("status", {}).get("phase")), _AGE),
    GroupKind("", "Service"): (
        NAME,
        _column("Type", lambda raw: raw.get("spec", {}).get("type", "ClusterIP")),
        _column("Cluster-IP", lambda raw: raw.get("spec", {}).get("clusterIP") or "<none>"),
        _column("External-IP", _external_ip),
        _column("Port(s)", _service_ports),
        _AGE,
        _column("Selector", _selector, priority=1),
    ),
    GroupKind("", "Endpoints"): (NAME, _column("Endpoints", _endpoint_addresses), _AGE),
    GroupKind("", "Secret"): (
        NAME,
        _column("Type", lambda raw: raw.get("type", "Opaque")),
        _column("Data", _entries, "integer"),
        _AGE,
    ),
    GroupKind("", "ConfigMap"): (NAME, _column("Data", _entries, "integer"), _AGE),
    GroupKind("", "Event"): _EVENT,
    GroupKind("events.k8s.io", "Event"): _EVENT,
    GroupKind("apps", "Deployment"): (NAME, _column("Ready", _ready_replicas), _AGE),
    GroupKind("discovery.k8s.io", "EndpointSlice"): (
        NAME,
        _column("AddressType", lambda raw: raw.get("addressType")),
        _column("Ports", lambda raw: _joined(port.get("port") for port in raw.get("ports") or []) or "<unset>"),
        _column("Endpoints", _slice_addresses),
        _AGE,
    ),
    GroupKind("coordination.k8s.io", "Lease"): (
        NAME,
        _column("Holder", lambda raw: raw.get("spec", {}).get("holderIdentity")),
        _AGE,
    ),
    GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"): (
        NAME,
        Column("Created At", lambda raw, _now: raw["metadata"].get("creationTimestamp"), type="date"),
    ),
}
