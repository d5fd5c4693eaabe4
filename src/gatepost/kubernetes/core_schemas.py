"""The structural schemas of the kinds that are built in, in the same form as a CRD's.

They say which fields exist (others are unknown), what is required, what is filled in, how lists merge: by
`x-kubernetes-list-type` for server-side apply and by `x-kubernetes-patch-*` for strategic merge patches.

Source: the public Kubernetes API reference for these kinds. Pod and Node are open: of them only the parts that
merge by key are described.
"""

from __future__ import annotations

from typing import Any

from gatepost.kubernetes.values import Raw

TEXT: Raw = {"type": "string"}
FLAG: Raw = {"type": "boolean"}
INT32: Raw = {"type": "integer", "format": "int32"}
INT64: Raw = {"type": "integer", "format": "int64"}
TIME: Raw = {"type": "string", "format": "date-time", "nullable": True}
BYTES: Raw = {"type": "string", "format": "byte"}
INT_OR_STRING: Raw = {"x-kubernetes-int-or-string": True}
PORT: Raw = {"type": "integer", "format": "int32", "minimum": 1, "maximum": 65535}
OPEN: Raw = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _object(required: tuple[str, ...] = (), **properties: Raw) -> Raw:
    schema: Raw = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    return schema


def _open(**properties: Raw) -> Raw:
    return {"type": "object", "properties": properties, "x-kubernetes-preserve-unknown-fields": True}


def _map_of(value: Raw) -> Raw:
    return {"type": "object", "additionalProperties": value}


def _atomic_map_of(value: Raw) -> Raw:
    return {"type": "object", "additionalProperties": value, "x-kubernetes-map-type": "atomic"}


def _list_of(item: Raw) -> Raw:
    return {"type": "array", "items": item, "x-kubernetes-list-type": "atomic"}


def _set_of(item: Raw, *, patch: bool = False) -> Raw:
    schema = {"type": "array", "items": item, "x-kubernetes-list-type": "set"}
    return {**schema, "x-kubernetes-patch-strategy": "merge"} if patch else schema


def _keyed(item: Raw, *keys: str, patch_key: str = "") -> Raw:
    """A list whose items are told apart by `keys`; strategic patches tell them apart by `patch_key`."""
    return {
        "type": "array",
        "items": item,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": list(keys),
        "x-kubernetes-patch-strategy": "merge",
        "x-kubernetes-patch-merge-key": patch_key or keys[0],
    }


def _default(schema: Raw, value: Any) -> Raw:
    return {**schema, "default": value}


def _one_of(*values: str) -> Raw:
    return {"type": "string", "enum": list(values)}


def _atomic(schema: Raw) -> Raw:
    return {**schema, "x-kubernetes-map-type": "atomic"}


OBJECT_REFERENCE = _atomic(
    _object(apiVersion=TEXT, fieldPath=TEXT, kind=TEXT, name=TEXT, namespace=TEXT, resourceVersion=TEXT, uid=TEXT)
)

OWNER_REFERENCE = _atomic(
    _object(
        ("apiVersion", "kind", "name", "uid"),
        apiVersion=TEXT,
        blockOwnerDeletion=FLAG,
        controller=FLAG,
        kind=TEXT,
        name=TEXT,
        uid=TEXT,
    )
)

OBJECT_META = _object(
    annotations=_map_of(TEXT),
    creationTimestamp=TIME,
    deletionGracePeriodSeconds=INT64,
    deletionTimestamp=TIME,
    finalizers=_set_of(TEXT, patch=True),
    generateName=TEXT,
    generation=INT64,
    labels=_map_of(TEXT),
    managedFields=_list_of(OPEN),
    name=TEXT,
    namespace=TEXT,
    ownerReferences=_keyed(OWNER_REFERENCE, "uid"),
    resourceVersion=TEXT,
    selfLink=TEXT,
    uid=TEXT,
)

CONDITION = _object(
    ("type", "status"),
    type=TEXT,
    status=TEXT,
    observedGeneration=INT64,
    lastTransitionTime=TIME,
    lastProbeTime=TIME,
    reason=TEXT,
    message=TEXT,
)

SERVICE_PORT = _object(
    ("port",),
    appProtocol=TEXT,
    name=TEXT,
    nodePort=INT32,
    port=PORT,
    protocol=_default(_one_of("TCP", "UDP", "SCTP"), "TCP"),
    targetPort=INT_OR_STRING,
)

_LOAD_BALANCER = _object(
    ingress=_list_of(
        _object(hostname=TEXT, ip=TEXT, ipMode=TEXT, ports=_list_of(_object(error=TEXT, port=INT32, protocol=TEXT)))
    )
)

SERVICE = _object(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    spec=_object(
        allocateLoadBalancerNodePorts=FLAG,
        clusterIP=TEXT,
        clusterIPs=_list_of(TEXT),
        externalIPs=_list_of(TEXT),
        externalName=TEXT,
        externalTrafficPolicy=TEXT,
        healthCheckNodePort=INT32,
        internalTrafficPolicy=TEXT,
        ipFamilies=_list_of(TEXT),
        ipFamilyPolicy=TEXT,
        loadBalancerClass=TEXT,
        loadBalancerIP=TEXT,
        loadBalancerSourceRanges=_list_of(TEXT),
        ports=_keyed(SERVICE_PORT, "port", "protocol"),
        publishNotReadyAddresses=FLAG,
        selector=_atomic_map_of(TEXT),
        sessionAffinity=_default(_one_of("None", "ClientIP"), "None"),
        sessionAffinityConfig=_object(clientIP=_object(timeoutSeconds=INT32)),
        trafficDistribution=TEXT,
        type=_default(_one_of("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"), "ClusterIP"),
    ),
    status=_object(conditions=_keyed(CONDITION, "type"), loadBalancer=_LOAD_BALANCER),
)

_ENDPOINT_ADDRESS = _atomic(_object(("ip",), hostname=TEXT, ip=TEXT, nodeName=TEXT, targetRef=OBJECT_REFERENCE))

ENDPOINTS = _object(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    subsets=_list_of(
        _object(
            addresses=_list_of(_ENDPOINT_ADDRESS),
            notReadyAddresses=_list_of(_ENDPOINT_ADDRESS),
            ports=_list_of(_object(("port",), appProtocol=TEXT, name=TEXT, port=INT32, protocol=_default(TEXT, "TCP"))),
        )
    ),
)

_HINTS = _object(forZones=_list_of(_object(("name",), name=TEXT)), forNodes=_list_of(_object(("name",), name=TEXT)))

ENDPOINT_SLICE = _object(
    ("addressType", "endpoints"),
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    addressType=_one_of("IPv4", "IPv6", "FQDN"),
    endpoints={
        **_list_of(
            _object(
                ("addresses",),
                addresses={**_set_of(TEXT), "minItems": 1, "maxItems": 100},
                conditions=_object(ready=FLAG, serving=FLAG, terminating=FLAG),
                deprecatedTopology=_map_of(TEXT),
                hints=_HINTS,
                hostname=TEXT,
                nodeName=TEXT,
                targetRef=OBJECT_REFERENCE,
                zone=TEXT,
            )
        ),
        "maxItems": 1000,
        "nullable": True,
    },
    ports={
        **_list_of(
            _object(
                appProtocol=TEXT,
                name=_default(TEXT, ""),
                port=INT32,
                protocol=_default(_one_of("TCP", "UDP", "SCTP"), "TCP"),
            )
        ),
        "maxItems": 100,
    },
)

CONFIG_MAP = _object(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    binaryData=_map_of(BYTES),
    data=_map_of(TEXT),
    immutable=FLAG,
)

SECRET = _object(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    data=_map_of(BYTES),
    immutable=FLAG,
    stringData=_map_of(TEXT),
    type=_default(TEXT, "Opaque"),
)

NAMESPACE = _object(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    spec=_object(finalizers=_list_of(TEXT)),
    status=_object(conditions=_keyed(CONDITION, "type"), phase=TEXT),
)

SERVICE_ACCOUNT = _object(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    automountServiceAccountToken=FLAG,
    imagePullSecrets=_list_of(_atomic(_object(name=TEXT))),
    secrets=_keyed(OBJECT_REFERENCE, "name"),
)

LEASE = _object(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    spec=_object(
        acquireTime=TIME,
        holderIdentity=TEXT,
        leaseDurationSeconds=INT32,
        leaseTransitions=INT32,
        preferredHolder=TEXT,
        renewTime=TIME,
        strategy=TEXT,
    ),
)

_EVENT_SOURCE = _object(component=TEXT, host=TEXT)

CORE_EVENT = _object(
    ("metadata", "involvedObject"),
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    action=TEXT,
    count=INT32,
    eventTime=TIME,
    firstTimestamp=TIME,
    involvedObject=OBJECT_REFERENCE,
    lastTimestamp=TIME,
    message=TEXT,
    reason=TEXT,
    related=OBJECT_REFERENCE,
    reportingComponent=TEXT,
    reportingInstance=TEXT,
    series=_object(count=INT32, lastObservedTime=TIME),
    source=_EVENT_SOURCE,
    type=TEXT,
)

EVENT = _object(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    action=TEXT,
    deprecatedCount=INT32,
    deprecatedFirstTimestamp=TIME,
    deprecatedLastTimestamp=TIME,
    deprecatedSource=_EVENT_SOURCE,
    eventTime=TIME,
    note=TEXT,
    reason=TEXT,
    regarding=OBJECT_REFERENCE,
    related=OBJECT_REFERENCE,
    reportingController=TEXT,
    reportingInstance=TEXT,
    series=_object(count=INT32, lastObservedTime=TIME),
    type=TEXT,
)

_CONTAINER = _open(
    env=_keyed(_open(name=TEXT), "name"),
    envFrom=_list_of(OPEN),
    name=TEXT,
    ports=_keyed(
        _open(containerPort=INT32, name=TEXT, protocol=_default(TEXT, "TCP")),
        "containerPort",
        "protocol",
    ),
    volumeDevices=_keyed(_open(devicePath=TEXT), "devicePath"),
    volumeMounts=_keyed(_open(mountPath=TEXT), "mountPath"),
)

POD = _object(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    spec=_open(
        containers=_keyed(_CONTAINER, "name"),
        ephemeralContainers=_keyed(_CONTAINER, "name"),
        hostAliases=_keyed(_open(ip=TEXT), "ip"),
        imagePullSecrets=_keyed(_open(name=_default(TEXT, "")), "name"),
        initContainers=_keyed(_CONTAINER, "name"),
        nodeSelector=_atomic_map_of(TEXT),
        tolerations=_list_of(OPEN),
        volumes={
            **_keyed(_open(name=TEXT), "name"),
            "x-kubernetes-patch-strategy": "merge,retainKeys",
        },
    ),
    status=_open(
        conditions=_keyed(_open(type=TEXT), "type"),
        podIPs=_keyed(_open(ip=TEXT), "ip"),
    ),
)

NODE = _object(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    spec=_open(taints=_list_of(OPEN)),
    status=_open(addresses=_keyed(_open(type=TEXT), "type"), conditions=_keyed(_open(type=TEXT), "type")),
)

CUSTOM_RESOURCE_DEFINITION = _object(
    ("spec",),
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    spec=_object(
        ("group", "names", "scope", "versions"),
        conversion=OPEN,
        group=TEXT,
        names=_object(
            ("kind", "plural"),
            categories=_list_of(TEXT),
            kind=TEXT,
            listKind=TEXT,
            plural=TEXT,
            shortNames=_list_of(TEXT),
            singular=TEXT,
        ),
        preserveUnknownFields=FLAG,
        scope=_one_of("Cluster", "Namespaced"),
        versions=_list_of(
            _object(
                ("name", "served", "storage"),
                additionalPrinterColumns=_list_of(OPEN),
                deprecated=FLAG,
                deprecationWarning=TEXT,
                name=TEXT,
                schema=OPEN,
                selectableFields=_list_of(OPEN),
                served=FLAG,
                storage=FLAG,
                subresources=OPEN,
            )
        ),
    ),
    status=_object(
        acceptedNames=OPEN,
        conditions=_keyed(CONDITION, "type"),
        observedGeneration=INT64,
        storedVersions=_list_of(TEXT),
    ),
)
