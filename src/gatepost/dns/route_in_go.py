"""A Route as Go has it: what `.Spec.ParentRefs` or `.GetName` in a template asks for.

Pointers stand for what they point to, where `eq` and `printf` of Go would see an address; one that is not set is nil.
Source: Gateway API and Kubernetes apimachinery, Go types and their methods.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from gatepost.dns.route_rules_in_go import rules_in_go, with_defaults
from gatepost.gotemplate import NIL_POINTER, Fields, Function, Strings, pointer_to
from gatepost.gotemplate.times import NO_TIME, time_fields
from gatepost.objects.gatewayapi import GatewayRoute, ParentReference, RouteParentStatus
from gatepost.objects.meta import Condition, ObjectMeta, OwnerReference
from gatepost.objects.refs import group_of
from gatepost.objects.route_rules import has_rules_kept, rules_in

_NOT_KEPT = "gatepost does not keep it"
_WITHOUT_HOSTNAMES = ("TCPRoute", "UDPRoute")
_NOT_KEPT_METADATA = ("ResourceVersion", "ManagedFields", "SelfLink", "DeletionGracePeriodSeconds")


def go_view(route: GatewayRoute) -> Fields:
    """The Route with the names of Go's fields.

    Raises: TemplateFailed if its rules are kept and not of the types that Go gives them.
    """
    kind = route.KIND.kind
    metadata, type_meta = _metadata(route.metadata), _type_meta(kind, route.api_version)
    parents = {"Parents": [_parent_status(parent) for parent in route.status.parents]}
    status = {"RouteStatus": Fields("v1.RouteStatus", parents)}
    return Fields(
        f"v1.{kind}",
        {
            "TypeMeta": type_meta,
            "ObjectMeta": metadata,
            "Spec": _spec(route),
            "Status": Fields(f"v1.{kind}Status", status, promoted=parents),
        },
        metadata.withheld,
        promoted={**type_meta.values, **metadata.values},
        methods={**type_meta.methods, **metadata.methods},
    )


def _spec(route: GatewayRoute) -> Fields:
    kind, spec = route.KIND.kind, route.spec
    common = {"ParentRefs": [_parent_ref(ref) for ref in spec.parent_refs]}
    withheld = {"UseDefaultGateways": _NOT_KEPT}
    values: dict[str, Any] = {"CommonRouteSpec": Fields("v1.CommonRouteSpec", common, withheld)}
    if spec.hostnames or kind not in _WITHOUT_HOSTNAMES:
        values["Hostnames"] = list(spec.hostnames)
    if has_rules_kept(route):
        values["Rules"] = rules_in_go(with_defaults(rules_in(route), kind), kind)
    else:
        withheld = {**withheld, "Rules": _NOT_KEPT}
    return Fields(f"v1.{kind}Spec", values, withheld, promoted=common)


def _type_meta(kind: str, api_version: str) -> Fields:
    values = {"Kind": kind, "APIVersion": api_version}
    methods: dict[str, Function] = {"GroupVersionKind": Function(partial(_group_version_kind, kind, api_version))}
    type_meta = Fields("v1.TypeMeta", values, methods=methods)
    methods["GetObjectKind"] = Function(lambda: type_meta)
    return type_meta


def _group_version_kind(kind: str, api_version: str) -> Fields:
    values = {"Group": group_of(api_version), "Version": api_version.rpartition("/")[2], "Kind": kind}
    return Fields("schema.GroupVersionKind", values, text=f"{api_version}, Kind={kind}")


def _metadata(metadata: ObjectMeta) -> Fields:
    values = {
        "Name": metadata.name,
        "GenerateName": metadata.generate_name,
        "Namespace": metadata.namespace,
        "UID": metadata.uid,
        "Generation": metadata.generation,
        "CreationTimestamp": _time(metadata.creation_timestamp),
        "DeletionTimestamp": _time(metadata.deletion_timestamp) if metadata.deletion_timestamp else NIL_POINTER,
        "Labels": Strings(metadata.labels),
        "Annotations": Strings(metadata.annotations),
        "OwnerReferences": [_owner(owner) for owner in metadata.owner_references],
        "Finalizers": list(metadata.finalizers),
    }
    methods: dict[str, Function] = {f"Get{name}": Function(_giver(value)) for name, value in values.items()}
    getters = (f"Get{name}" for name in _NOT_KEPT_METADATA)
    withheld = dict.fromkeys((*_NOT_KEPT_METADATA, *getters), _NOT_KEPT)
    found = Fields("v1.ObjectMeta", values, withheld, methods=methods)
    methods["GetObjectMeta"] = Function(lambda: found)
    return found


def _giver(value: Any) -> Callable[[], Any]:
    return lambda: value


def _time(timestamp: str | None) -> Fields | str:
    """A moment, Go's zero time for None. What is none, which only manifests can hold, stays as it is written."""
    try:
        at = NO_TIME if timestamp is None else datetime.fromisoformat(timestamp).astimezone(UTC)
    except (ValueError, OverflowError):
        return timestamp or ""
    return time_fields(at, "v1.Time", {"Time": time_fields(at)})


def _owner(owner: OwnerReference) -> Fields:
    values: Mapping[str, Any] = {
        "APIVersion": owner.api_version,
        "Kind": owner.kind,
        "Name": owner.name,
        "UID": owner.uid,
        "Controller": owner.controller,
        "BlockOwnerDeletion": owner.block_owner_deletion,
    }
    return Fields("v1.OwnerReference", values)


def _parent_ref(ref: ParentReference) -> Fields:
    return Fields(
        "v1.ParentReference",
        {
            "Group": pointer_to(ref.group),
            "Kind": pointer_to(ref.kind),
            "Namespace": ref.namespace or NIL_POINTER,
            "Name": ref.name,
            "SectionName": ref.section_name or NIL_POINTER,
            "Port": ref.port or NIL_POINTER,
        },
    )


def _parent_status(parent: RouteParentStatus) -> Fields:
    return Fields(
        "v1.RouteParentStatus",
        {
            "ParentRef": _parent_ref(parent.parent_ref),
            "ControllerName": parent.controller_name,
            "Conditions": [_condition(condition) for condition in parent.conditions],
        },
    )


def _condition(condition: Condition) -> Fields:
    return Fields(
        "v1.Condition",
        {
            "Type": condition.type,
            "Status": condition.status,
            "ObservedGeneration": condition.observed_generation,
            "LastTransitionTime": _time(condition.last_transition_time),
            "Reason": condition.reason,
            "Message": condition.message,
        },
    )
