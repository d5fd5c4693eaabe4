"""A model of an API with one custom kind, a clock that the test moves, and uids in the order of creation."""

from __future__ import annotations

import copy
from typing import Any

from gatepost.kubernetes.api import ApiModel
from gatepost.kubernetes.builtin import builtin_resources
from gatepost.kubernetes.crds import resource_from_crd
from gatepost.objects.refs import Ref

Raw = dict[str, Any]

GADGET_CRD: Raw = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Gadget", "plural": "gadgets"},
        "versions": [
            {
                "name": name,
                "served": True,
                "storage": name == "v1",
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer", "maximum": 10},
                                    "mode": {"type": "string", "default": "Fast"},
                                    "names": {"type": "array", "items": {"type": "string"}},
                                },
                            },
                            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                        },
                    }
                },
            }
            for name in ("v1", "v1beta1")
        ],
    },
}


class Clock:
    """Stands still until a test sets `time`."""

    def __init__(self) -> None:
        self.time = "2026-01-01T00:00:00Z"

    def __call__(self) -> str:
        return self.time


class Uids:
    """uid-1, uid-2, ... in the order in which they are asked for."""

    def __init__(self) -> None:
        self.given = 0

    def __call__(self, ref: Ref) -> str:
        self.given += 1
        return f"uid-{self.given}"


def new_model(clock: Clock | None = None, *, namespaces_must_exist: bool = False) -> ApiModel:
    resources = builtin_resources()
    resources.add(resource_from_crd(GADGET_CRD))
    return ApiModel(resources, clock or Clock(), Uids(), namespaces_must_exist=namespaces_must_exist)


def gadget(name: str = "g", namespace: str = "x", /, **spec: Any) -> Raw:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Gadget",
        "metadata": {"name": name, "namespace": namespace},
        "spec": copy.deepcopy(spec),
    }


def gadget_ref(name: str = "g", namespace: str = "x") -> Ref:
    return Ref("example.com", "Gadget", namespace, name)


def core(kind: str, name: str, namespace: str = "x", /, **fields: Any) -> Raw:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **fields}


def core_ref(kind: str, name: str, namespace: str = "x") -> Ref:
    return Ref("", kind, namespace, name)
