"""What every server has from the start: definitions of kinds, two namespaces, and the Service of the API itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from gatepost.kubernetes.api import ApiModel
from gatepost.kubernetes.crds import CRD
from gatepost.kubernetes.values import Raw, canonical, mapping_at
from gatepost.objects.refs import Ref, ref_of
from gatepost.standalone.apiserver.definitions import COMPACT_ANNOTATION, compact_crds
from gatepost.standalone.apiserver.storage import Storage

MANAGER = "gatepost"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
NAMESPACES = ("default", "kube-system")


def seed(storage: Storage, crds: Iterable[Raw]) -> None:
    """Puts in what is missing.

    A compact definition gives way to one of `crds`, and to one that somebody has applied in an earlier run; a newer
    compact one takes the place of an older one.
    Raises: ApiError if one of `crds` is refused.
    """
    for crd in compact_crds():
        storage.write_now(lambda model, crd=crd: _put_compact(model, crd))  # type: ignore[misc]
    for crd in crds:
        storage.write_now(lambda model, crd=crd: _put(model, crd))  # type: ignore[misc]
    for name in NAMESPACES:
        storage.write_now(lambda model, name=name: _create_missing(model, _namespace(name)))  # type: ignore[misc]
    storage.write_now(lambda model: _create_missing(model, _api_service()))


def _put_compact(model: ApiModel, crd: Raw) -> None:
    live = model.find(_crd_ref(crd))
    if live is not None and not _is_untouched_compact(live):
        return
    digest = _digest(crd)
    if live is not None and digest == _annotation(live):
        return
    annotations = {COMPACT_ANNOTATION: digest}
    # kubectl takes away what stands here and not in what it applies: the mark goes when a published CRD is applied.
    annotations[LAST_APPLIED] = canonical({"metadata": {"annotations": annotations}})
    _put(model, {**crd, "metadata": {**crd["metadata"], "annotations": annotations}})


def _put(model: ApiModel, crd: Raw) -> None:
    if model.find(_crd_ref(crd)) is None:
        model.create(crd, MANAGER)
    else:
        model.replace(crd, MANAGER)


def _create_missing(model: ApiModel, raw: Raw) -> None:
    if model.find(ref_of(raw)) is None:
        model.create(raw, MANAGER)


def _is_untouched_compact(live: Raw) -> bool:
    """Whether a stored definition is one of gatepost's, as gatepost made it.

    Others may change a definition and leave the mark on it, so the mark holds what it stands for.
    """
    return _annotation(live) == _digest(live)


def _annotation(crd: Raw) -> str:
    return str(mapping_at(crd["metadata"], "annotations").get(COMPACT_ANNOTATION, ""))


def _digest(crd: Raw) -> str:
    """Stands for the versions of a definition; a server fills nothing in there."""
    return hashlib.sha256(canonical(crd["spec"]["versions"]).encode()).hexdigest()[:16]


def _crd_ref(crd: Raw) -> Ref:
    return Ref(CRD.group, CRD.kind, "", crd["metadata"]["name"])


def _namespace(name: str) -> Raw:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _api_service() -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {"type": "ClusterIP", "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}]},
    }
