"""The structural schemas of the kinds that are built in, in the same form as a CRD's.

They say which fields exist (others are unknown), what is required, what is filled in, how lists merge: by
`x-kubernetes-list-type` for server-side apply and by `x-kubernetes-patch-*` for strategic merge patches.

Source: the public Kubernetes API reference for these kinds. Pod and Node are open: of them only the parts that
merge by key are described.
"""

from __future__ import annotations

from gatepost.kubernetes.metadata_schema import OBJECT_META
from gatepost.kubernetes.schema_words import (
    BYTES,
    FLAG,
    INT32,
    INT64,
    INT_OR_STRING,
    OPEN,
    PORT,
    TEXT,
    TIME,
    atomic,
    atomic_map_of,
    keyed,
    list_of,
    map_of,
    object_with,
    one_of,
    open_with,
    set_of,
    with_default,
)

OBJECT_REFERENCE = atomic(
    object_with(apiVersion=TEXT, fieldPath=TEXT, kind=TEXT, name=TEXT, namespace=TEXT, resourceVersion=TEXT, uid=TEXT)
)

CONDITION = object_with(
    ("type", "status"),
    type=TEXT,
    status=TEXT,
    observedGeneration=INT64,
    lastTransitionTime=TIME,
    lastProbeTime=TIME,
    reason=TEXT,
    message=TEXT,
)

SERVICE_PORT = object_with(
    ("port",),
    appProtocol=TEXT,
    name=TEXT,
    nodePort=INT32,
    port=PORT,
    protocol=with_default(one_of("TCP", "UDP", "SCTP"), "TCP"),
    targetPort=INT_OR_STRING,
)

_LOAD_BALANCER = object_with(
    ingress=list_of(
        object_with(
            hostname=TEXT, ip=TEXT, ipMode=TEXT, ports=list_of(object_with(error=TEXT, port=INT32, protocol=TEXT))
        )
    )
)

SERVICE = object_with(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    spec=object_with(
        allocateLoadBalancerNodePorts=FLAG,
        clusterIP=TEXT,
        clusterIPs=list_of(TEXT),
        externalIPs=list_of(TEXT),
        externalName=TEXT,
        externalTrafficPolicy=TEXT,
        healthCheckNodePort=INT32,
        internalTrafficPolicy=TEXT,
        ipFamilies=list_of(TEXT),
        ipFamilyPolicy=TEXT,
        loadBalancerClass=TEXT,
        loadBalancerIP=TEXT,
        loadBalancerSourceRanges=list_of(TEXT),
        ports=keyed(SERVICE_PORT, "port", "protocol"),
        publishNotReadyAddresses=FLAG,
        selector=atomic_map_of(TEXT),
        sessionAffinity=with_default(one_of("None", "ClientIP"), "None"),
        sessionAffinityConfig=object_with(clientIP=object_with(timeoutSeconds=INT32)),
        trafficDistribution=TEXT,
        type=with_default(one_of("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"), "ClusterIP"),
    ),
    status=object_with(conditions=keyed(CONDITION, "type"), loadBalancer=_LOAD_BALANCER),
)

_ENDPOINT_ADDRESS = atomic(object_with(("ip",), hostname=TEXT, ip=TEXT, nodeName=TEXT, targetRef=OBJECT_REFERENCE))

ENDPOINTS = object_with(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    subsets=list_of(
        object_with(
            addresses=list_of(_ENDPOINT_ADDRESS),
            notReadyAddresses=list_of(_ENDPOINT_ADDRESS),
            ports=list_of(
                object_with(("port",), appProtocol=TEXT, name=TEXT, port=INT32, protocol=with_default(TEXT, "TCP"))
            ),
        )
    ),
)

_HINTS = object_with(
    forZones=list_of(object_with(("name",), name=TEXT)), forNodes=list_of(object_with(("name",), name=TEXT))
)

ENDPOINT_SLICE = object_with(
    ("addressType", "endpoints"),
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    addressType=one_of("IPv4", "IPv6", "FQDN"),
    endpoints={
        **list_of(
            object_with(
                ("addresses",),
                addresses={**set_of(TEXT), "minItems": 1, "maxItems": 100},
                conditions=object_with(ready=FLAG, serving=FLAG, terminating=FLAG),
                deprecatedTopology=map_of(TEXT),
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
        **list_of(
            object_with(
                appProtocol=TEXT,
                name=with_default(TEXT, ""),
                port=INT32,
                protocol=with_default(one_of("TCP", "UDP", "SCTP"), "TCP"),
            )
        ),
        "maxItems": 100,
    },
)

CONFIG_MAP = object_with(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    binaryData=map_of(BYTES),
    data=map_of(TEXT),
    immutable=FLAG,
)

SECRET = object_with(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    data=map_of(BYTES),
    immutable=FLAG,
    stringData=map_of(TEXT),
    type=with_default(TEXT, "Opaque"),
)

NAMESPACE = object_with(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    spec=object_with(finalizers=list_of(TEXT)),
    status=object_with(conditions=keyed(CONDITION, "type"), phase=TEXT),
)

SERVICE_ACCOUNT = object_with(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    automountServiceAccountToken=FLAG,
    imagePullSecrets=list_of(atomic(object_with(name=TEXT))),
    secrets=keyed(OBJECT_REFERENCE, "name"),
)

LEASE = object_with(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    spec=object_with(
        acquireTime=TIME,
        holderIdentity=TEXT,
        leaseDurationSeconds=INT32,
        leaseTransitions=INT32,
        preferredHolder=TEXT,
        renewTime=TIME,
        strategy=TEXT,
    ),
)

_EVENT_SOURCE = object_with(component=TEXT, host=TEXT)

CORE_EVENT = object_with(
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
    series=object_with(count=INT32, lastObservedTime=TIME),
    source=_EVENT_SOURCE,
    type=TEXT,
)

EVENT = object_with(
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
    series=object_with(count=INT32, lastObservedTime=TIME),
    type=TEXT,
)

_CONTAINER = open_with(
    env=keyed(open_with(name=TEXT), "name"),
    envFrom=list_of(OPEN),
    name=TEXT,
    ports=keyed(
        open_with(containerPort=INT32, name=TEXT, protocol=with_default(TEXT, "TCP")),
        "containerPort",
        "protocol",
    ),
    volumeDevices=keyed(open_with(devicePath=TEXT), "devicePath"),
    volumeMounts=keyed(open_with(mountPath=TEXT), "mountPath"),
)

POD = object_with(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    spec=open_with(
        containers=keyed(_CONTAINER, "name"),
        ephemeralContainers=keyed(_CONTAINER, "name"),
        hostAliases=keyed(open_with(ip=TEXT), "ip"),
        imagePullSecrets=keyed(open_with(name=with_default(TEXT, "")), "name"),
        initContainers=keyed(_CONTAINER, "name"),
        nodeSelector=atomic_map_of(TEXT),
        tolerations=list_of(OPEN),
        volumes={
            **keyed(open_with(name=TEXT), "name"),
            "x-kubernetes-patch-strategy": "merge,retainKeys",
        },
    ),
    status=open_with(
        conditions=keyed(open_with(type=TEXT), "type"),
        podIPs=keyed(open_with(ip=TEXT), "ip"),
    ),
)

NODE = object_with(
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    spec=open_with(taints=list_of(OPEN)),
    status=open_with(addresses=keyed(open_with(type=TEXT), "type"), conditions=keyed(open_with(type=TEXT), "type")),
)

CUSTOM_RESOURCE_DEFINITION = object_with(
    ("spec",),
    apiVersion=TEXT,
    kind=TEXT,
    metadata=OBJECT_META,
    spec=object_with(
        ("group", "names", "scope", "versions"),
        conversion=OPEN,
        group=TEXT,
        names=object_with(
            ("kind", "plural"),
            categories=list_of(TEXT),
            kind=TEXT,
            listKind=TEXT,
            plural=TEXT,
            shortNames=list_of(TEXT),
            singular=TEXT,
        ),
        preserveUnknownFields=FLAG,
        scope=one_of("Cluster", "Namespaced"),
        versions=list_of(
            object_with(
                ("name", "served", "storage"),
                additionalPrinterColumns=list_of(OPEN),
                deprecated=FLAG,
                deprecationWarning=TEXT,
                name=TEXT,
                schema=OPEN,
                selectableFields=list_of(OPEN),
                served=FLAG,
                storage=FLAG,
                subresources=OPEN,
            )
        ),
    ),
    status=object_with(
        acceptedNames=OPEN,
        conditions=keyed(CONDITION, "type"),
        observedGeneration=INT64,
        storedVersions=list_of(TEXT),
    ),
)
