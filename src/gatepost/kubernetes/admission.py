"""What else must hold for a write to be let in: its namespace, the name of its kind, the addresses of others."""

from __future__ import annotations

from gatepost.kubernetes.crds import resource_from_crd
from gatepost.kubernetes.defaults import NAMESPACE, SERVICE
from gatepost.kubernetes.errors import Cause, forbidden, invalid, not_found
from gatepost.kubernetes.resources import Resource, Resources
from gatepost.kubernetes.store import ObjectStore
from gatepost.kubernetes.values import Raw, mapping_at
from gatepost.objects.refs import Ref, ref_of


def check_namespace(ref: Ref, resource: Resource, store: ObjectStore, *, must_exist: bool) -> None:
    """Nothing new is made in a namespace that is being deleted, nor, with `must_exist`, in one that is not there.

    Raises: ApiError: 403 with the cause NamespaceTerminating, 404 naming the namespace.
    """
    if not ref.namespace:
        return
    namespace = store.find(Ref(NAMESPACE.group, NAMESPACE.kind, "", ref.namespace))
    if namespace is None:
        if must_exist:
            raise not_found("", "namespaces", ref.namespace)
    elif namespace["metadata"].get("deletionTimestamp"):
        why = f"namespace {ref.namespace} is being terminated"
        cause = Cause("metadata.namespace", "NamespaceTerminating", why)
        raise forbidden(ref.group, resource.plural, ref.name, f"{why}: nothing new may be created", [cause])


def check_kind_is_free(crd: Raw, resources: Resources) -> None:
    """A CRD may not describe a kind or plural that another CRD, or the server itself, serves already.

    Raises: ApiError (422)
    """
    wanted = resource_from_crd(crd)
    there = resources.of(wanted.group_kind)
    if there is not None and (not there.custom or there.plural != wanted.plural):
        why = f"Invalid value: kind {wanted.group_kind} is served already, as {there.plural}"
        raise invalid(ref_of(crd), [Cause("spec.names.kind", "FieldValueInvalid", why)])
    for other in resources:
        same = (other.group, other.plural) == (wanted.group, wanted.plural)
        if same and other.group_kind != wanted.group_kind:
            why = f"Invalid value: {wanted.plural!r} is the plural of kind {other.group_kind} already"
            raise invalid(ref_of(crd), [Cause("spec.names.plural", "FieldValueInvalid", why)])


def taken_ips(ref: Ref, store: ObjectStore) -> frozenset[str]:
    """The cluster IPs of all Services but this one; empty for objects of other kinds, which need none."""
    if ref.group_kind != SERVICE:
        return frozenset()
    others = (raw for raw in store.of_kind(SERVICE) if ref_of(raw) != ref)
    return frozenset(str(mapping_at(raw, "spec").get("clusterIP") or "") for raw in others) - {"", "None"}
