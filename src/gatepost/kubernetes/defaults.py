"""What a server fills in and refuses for the built-in kinds, beyond their schema.

Not done: node ports, load balancer addresses and everything that needs a controller.
"""

from __future__ import annotations

import base64
from collections.abc import Collection

from gatepost.kubernetes.crds import CRD, InvalidCrd, resource_from_crd, with_crd_defaults
from gatepost.kubernetes.errors import Cause
from gatepost.kubernetes.metadata import invalid_value, required_value
from gatepost.kubernetes.service_ips import cluster_ip_for, is_cluster_ip
from gatepost.kubernetes.values import Raw, list_at, mapping_at
from gatepost.objects.refs import GroupKind, ref_of

NAMESPACE = GroupKind("", "Namespace")
SERVICE = GroupKind("", "Service")
SECRET = GroupKind("", "Secret")
_CORE_EVENT = GroupKind("", "Event")
_EVENT = GroupKind("events.k8s.io", "Event")

_ALLOCATED = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")

NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name"


def with_kind_defaults(raw: Raw, live: Raw | None, taken_ips: Collection[str]) -> Raw:
    """The object as its kind's own rules complete it; `raw` itself where there are none.

    Args:
        raw: the object as wanted, schema defaults already in it.
        live: what is stored under that name now, None when it is created.
        taken_ips: the cluster IPs of other Services.
    """
    match ref_of(raw).group_kind:
        case GroupKind("", "Service"):
            return _service(raw, live, taken_ips)
        case GroupKind("", "Secret"):
            return _secret(raw)
        case GroupKind("", "Namespace"):
            return _namespace(raw)
        case GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"):
            return with_crd_defaults(raw)
    return raw


def without_allocated(filled: Raw, stated: Raw) -> Raw:
    """The completed object without what the server handed out, which the writer of `stated` does not own."""
    group_kind = ref_of(filled).group_kind
    if group_kind not in (SERVICE, NAMESPACE):
        return filled
    kept = {key: value for key, value in filled.items() if key != "status" or "status" in stated}
    if group_kind == SERVICE:
        asked = mapping_at(stated, "spec")
        spec = mapping_at(filled, "spec")
        kept["spec"] = {key: value for key, value in spec.items() if key not in _ALLOCATED or key in asked}
    return kept


def kind_problems(raw: Raw, live: Raw | None, taken_ips: Collection[str]) -> list[Cause]:
    """What the kind's own rules refuse in the completed object."""
    group_kind = ref_of(raw).group_kind
    if group_kind == SERVICE:
        return _service_problems(raw, live, taken_ips)
    if group_kind == CRD:
        return _crd_problems(raw)
    if group_kind in (_CORE_EVENT, _EVENT):
        return _event_problems(raw)
    if live is not None and (live.get("immutable") is True or group_kind == SECRET):
        return _frozen_data_problems(raw, live)
    return []


def _service(raw: Raw, live: Raw | None, taken_ips: Collection[str]) -> Raw:
    spec = dict(mapping_at(raw, "spec"))
    was = mapping_at(live or {}, "spec")
    spec["ports"] = [_service_port(port) for port in list_at(spec, "ports")]
    if not spec["ports"]:
        del spec["ports"]
    if spec.get("type") == "ExternalName":
        _drop_inherited_ips(spec, was)
    else:
        ip = spec.get("clusterIP") or _inherited_ip(was) or cluster_ip_for(ref_of(raw), taken_ips)
        spec["clusterIP"] = ip
        spec["clusterIPs"] = spec.get("clusterIPs") or [ip]
        spec.setdefault("ipFamilies", ["IPv4"])
        spec.setdefault("ipFamilyPolicy", "SingleStack")
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec.get("type") in ("NodePort", "LoadBalancer"):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if spec.get("type") == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
    completed = {**raw, "spec": spec}
    completed.setdefault("status", {"loadBalancer": {}})
    return completed


def _service_port(port: Raw) -> Raw:
    """A port with its targetPort; an empty one counts as missing."""
    if not isinstance(port, dict) or port.get("targetPort") not in (None, "", 0) or "port" not in port:
        return port
    return {**port, "targetPort": port["port"]}


def _inherited_ip(was: Raw) -> str:
    return "" if was.get("type") == "ExternalName" else str(was.get("clusterIP") or "")


def _drop_inherited_ips(spec: Raw, was: Raw) -> None:
    """A Service that becomes an ExternalName gives its address back; one that still asks for another is refused."""
    if spec.get("clusterIP") == was.get("clusterIP"):
        for field in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"):
            spec.pop(field, None)


def _service_problems(raw: Raw, live: Raw | None, taken_ips: Collection[str]) -> list[Cause]:
    spec, was = mapping_at(raw, "spec"), mapping_at(live or {}, "spec")
    ip = spec.get("clusterIP") or ""
    if spec.get("type") == "ExternalName":
        return _external_name_problems(spec, ip)
    problems = _port_problems(spec, headless=ip == "None")
    kept = _inherited_ip(was)
    if kept and ip != kept:
        problems.append(invalid_value(("spec", "clusterIPs", 0), ip, "may not change once set"))
    elif ip != "None" and ip in taken_ips:
        problems.append(invalid_value(("spec", "clusterIPs"), ip, "provided IP is already allocated"))
    elif ip != "None" and not kept and not is_cluster_ip(ip):
        problems.append(invalid_value(("spec", "clusterIPs"), ip, "must be None or an address in 10.96.0.0/12"))
    elif list_at(spec, "clusterIPs")[:1] != [ip]:
        found = (list_at(spec, "clusterIPs") or [""])[0]
        problems.append(invalid_value(("spec", "clusterIPs", 0), found, "must match clusterIP"))
    return problems


def _external_name_problems(spec: Raw, ip: str) -> list[Cause]:
    problems = []
    if not spec.get("externalName"):
        problems.append(required_value(("spec", "externalName")))
    if ip:
        problems.append(invalid_value(("spec", "clusterIPs"), ip, "may not be set for ExternalName services"))
    return problems


def _port_problems(spec: Raw, *, headless: bool) -> list[Cause]:
    problems: list[Cause] = []
    ports = [port for port in list_at(spec, "ports") if isinstance(port, dict)]
    if not ports and not headless:
        problems.append(required_value(("spec", "ports")))
    names: set[str] = set()
    for index, port in enumerate(ports):
        name = port.get("name") or ""
        if not name and len(ports) > 1:
            problems.append(required_value(("spec", "ports", index, "name")))
        elif name and name in names:
            message = f'Duplicate value: "{name}"'
            problems.append(Cause(f"spec.ports[{index}].name", "FieldValueDuplicate", message))
        names.add(name)
    return problems


def _secret(raw: Raw) -> Raw:
    """`stringData` is written only: it goes into `data`, over what is there."""
    if "stringData" not in raw:
        return raw
    stored = {key: value for key, value in raw.items() if key != "stringData"}
    encoded = {
        key: base64.b64encode(str(value).encode()).decode() for key, value in mapping_at(raw, "stringData").items()
    }
    return {**stored, "data": {**mapping_at(raw, "data"), **encoded}}


def _namespace(raw: Raw) -> Raw:
    metadata = raw["metadata"]
    labels = {**mapping_at(metadata, "labels"), NAMESPACE_NAME_LABEL: metadata["name"]}
    status = mapping_at(raw, "status") or {"phase": "Active"}
    return {**raw, "metadata": {**metadata, "labels": labels}, "status": status}


def _crd_problems(raw: Raw) -> list[Cause]:
    try:
        resource_from_crd(raw)
    except InvalidCrd as error:
        return [Cause(error.field, "FieldValueInvalid", f"Invalid value: {error.why}")]
    return []


def _event_problems(raw: Raw) -> list[Cause]:
    involved = mapping_at(raw, "involvedObject") or mapping_at(raw, "regarding")
    namespace = involved.get("namespace") or "default"
    if raw["metadata"].get("namespace") in (namespace, None) or not involved.get("kind"):
        return []
    field = "involvedObject" if "involvedObject" in raw else "regarding"
    return [invalid_value((field, "namespace"), involved.get("namespace", ""), "does not match event.namespace")]


def _frozen_data_problems(raw: Raw, live: Raw) -> list[Cause]:
    problems = []
    if "type" in live and raw.get("type") != live["type"]:
        problems.append(invalid_value(("type",), raw.get("type"), "field is immutable"))
    if live.get("immutable") is True:
        for field in ("immutable", "data", "binaryData"):
            if raw.get(field) != live.get(field):
                why = "field is immutable when `immutable` is set"
                problems.append(Cause(field, "FieldValueForbidden", f"Forbidden: {why}"))
    return problems
