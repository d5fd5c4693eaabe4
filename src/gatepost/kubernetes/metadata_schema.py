"""The structural schema of `metadata`, which all objects have. Source: meta/v1, ObjectMeta."""

from __future__ import annotations

from gatepost.kubernetes.schema_words import (
    FLAG,
    INT64,
    OPEN,
    TEXT,
    TIME,
    atomic,
    keyed,
    list_of,
    map_of,
    object_with,
    set_of,
)

OWNER_REFERENCE = atomic(
    object_with(
        ("apiVersion", "kind", "name", "uid"),
        apiVersion=TEXT,
        blockOwnerDeletion=FLAG,
        controller=FLAG,
        kind=TEXT,
        name=TEXT,
        uid=TEXT,
    )
)

OBJECT_META = object_with(
    annotations=map_of(TEXT),
    creationTimestamp=TIME,
    deletionGracePeriodSeconds=INT64,
    deletionTimestamp=TIME,
    finalizers=set_of(TEXT, patch=True),
    generateName=TEXT,
    generation=INT64,
    labels=map_of(TEXT),
    managedFields=list_of(OPEN),
    name=TEXT,
    namespace=TEXT,
    ownerReferences=keyed(OWNER_REFERENCE, "uid"),
    resourceVersion=TEXT,
    selfLink=TEXT,
    uid=TEXT,
)
