"""The kinds that every API server has, as far as gateways, Knative and gatepost use them."""

from __future__ import annotations

from gatepost.kubernetes import core_schemas as schemas
from gatepost.kubernetes.resources import PrinterColumn, Resource, Resources, Version
from gatepost.kubernetes.values import Raw

_AGE = PrinterColumn("Age", "date", ".metadata.creationTimestamp")

_REFERENCE = ("apiVersion", "fieldPath", "kind", "name", "namespace", "resourceVersion", "uid")
_SELECTABLE_FIELDS = {
    ("", "Event"): (
        *(f"involvedObject.{field}" for field in _REFERENCE),
        *("reason", "reportingComponent", "type"),
    ),
    ("", "Namespace"): ("status.phase",),
    ("", "Node"): ("spec.unschedulable",),
    ("", "Pod"): (
        *("spec.hostNetwork", "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName"),
        *("status.nominatedNodeName", "status.phase", "status.podIP"),
    ),
    ("", "Secret"): ("type",),
    ("", "Service"): ("spec.clusterIP", "spec.type"),
    ("events.k8s.io", "Event"): (
        *(f"regarding.{field}" for field in _REFERENCE),
        *("reason", "reportingController", "type"),
    ),
}
"""Besides name and namespace. Source: kubernetes/kubernetes, the field labels of the core and events groups."""


def builtin_resources() -> Resources:
    """A fresh table with the built-in kinds; the caller may add to it.

    SelfSubjectAccessReview is not among them: it is answered, never stored.
    """
    return Resources([*_core_kinds(), *_grouped_kinds()])


def _core_kinds() -> list[Resource]:
    return [
        _kind(
            "",
            "v1",
            "Namespace",
            "namespaces",
            schemas.NAMESPACE,
            (PrinterColumn("Status", "string", ".status.phase"), _AGE),
            namespaced=False,
            short="ns",
            status=True,
        ),
        _kind(
            "",
            "v1",
            "Service",
            "services",
            schemas.SERVICE,
            (
                PrinterColumn("Type", "string", ".spec.type"),
                PrinterColumn("Cluster-IP", "string", ".spec.clusterIP"),
                PrinterColumn("External-Name", "string", ".spec.externalName"),
                PrinterColumn("Ports", "string", ".spec.ports[*].port"),
                _AGE,
            ),
            short="svc",
            categories=("all",),
            status=True,
        ),
        _kind("", "v1", "Endpoints", "endpoints", schemas.ENDPOINTS, (_AGE,), short="ep"),
        _kind("", "v1", "ConfigMap", "configmaps", schemas.CONFIG_MAP, (_AGE,), short="cm"),
        _kind(
            "",
            "v1",
            "Secret",
            "secrets",
            schemas.SECRET,
            (PrinterColumn("Type", "string", ".type"), _AGE),
        ),
        _kind(
            "",
            "v1",
            "Event",
            "events",
            schemas.CORE_EVENT,
            (
                PrinterColumn("Last Seen", "date", ".lastTimestamp"),
                PrinterColumn("Type", "string", ".type"),
                PrinterColumn("Reason", "string", ".reason"),
                PrinterColumn("Object", "string", ".involvedObject.name"),
                PrinterColumn("Message", "string", ".message"),
            ),
            short="ev",
        ),
        _kind("", "v1", "ServiceAccount", "serviceaccounts", schemas.SERVICE_ACCOUNT, (_AGE,), short="sa"),
        _kind(
            "",
            "v1",
            "Pod",
            "pods",
            schemas.POD,
            (PrinterColumn("Status", "string", ".status.phase"), _AGE),
            short="po",
            categories=("all",),
            status=True,
            has_generation=True,
        ),
        _kind("", "v1", "Node", "nodes", schemas.NODE, (_AGE,), namespaced=False, short="no", status=True),
    ]


def _grouped_kinds() -> list[Resource]:
    return [
        _kind(
            "discovery.k8s.io",
            "v1",
            "EndpointSlice",
            "endpointslices",
            schemas.ENDPOINT_SLICE,
            (
                PrinterColumn("AddressType", "string", ".addressType"),
                PrinterColumn("Ports", "string", ".ports[*].port"),
                PrinterColumn("Endpoints", "string", ".endpoints[*].addresses[*]"),
                _AGE,
            ),
            has_generation=True,
        ),
        _kind(
            "events.k8s.io",
            "v1",
            "Event",
            "events",
            schemas.EVENT,
            (
                PrinterColumn("Type", "string", ".type"),
                PrinterColumn("Reason", "string", ".reason"),
                PrinterColumn("Object", "string", ".regarding.name"),
                PrinterColumn("Note", "string", ".note"),
            ),
            short="ev",
        ),
        _kind(
            "coordination.k8s.io",
            "v1",
            "Lease",
            "leases",
            schemas.LEASE,
            (PrinterColumn("Holder", "string", ".spec.holderIdentity"), _AGE),
        ),
        _kind(
            "apiextensions.k8s.io",
            "v1",
            "CustomResourceDefinition",
            "customresourcedefinitions",
            schemas.CUSTOM_RESOURCE_DEFINITION,
            (PrinterColumn("Created At", "date", ".metadata.creationTimestamp"),),
            namespaced=False,
            short="crd,crds",
            categories=("api-extensions",),
            status=True,
            has_generation=True,
        ),
    ]


def _kind(
    group: str,
    version: str,
    kind: str,
    plural: str,
    schema: Raw,
    columns: tuple[PrinterColumn, ...],
    *,
    namespaced: bool = True,
    short: str = "",
    categories: tuple[str, ...] = (),
    status: bool = False,
    has_generation: bool = False,
) -> Resource:
    return Resource(
        group=group,
        kind=kind,
        plural=plural,
        singular=kind.lower(),
        namespaced=namespaced,
        versions=(
            Version(
                name=version,
                schema=schema,
                status_subresource=status,
                printer_columns=columns,
                selectable_fields=_SELECTABLE_FIELDS.get((group, kind), ()),
            ),
        ),
        short_names=tuple(short.split(",")) if short else (),
        categories=categories,
        has_generation=has_generation,
    )
