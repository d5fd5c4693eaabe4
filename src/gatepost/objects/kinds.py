"""The table of kinds that gatepost reads, and the one way from raw objects and bytes to typed ones."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import Any

import msgspec

from gatepost.objects import core, dnsendpoint, dnsrecord, gatewayapi, networking, serving
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import UNREADABLE, Problem, UnreadableObject
from gatepost.objects.refs import GroupKind, Ref, group_of, ref_of
from gatepost.objects.route_rules import with_rules

TYPES: tuple[type[KubernetesObject], ...] = (
    core.Namespace,
    core.ConfigMap,
    core.Service,
    core.Endpoints,
    core.EndpointSlice,
    core.Secret,
    gatewayapi.GatewayClass,
    gatewayapi.Gateway,
    gatewayapi.ListenerSet,
    gatewayapi.HTTPRoute,
    gatewayapi.GRPCRoute,
    gatewayapi.TLSRoute,
    gatewayapi.TCPRoute,
    gatewayapi.UDPRoute,
    gatewayapi.ReferenceGrant,
    serving.KnativeService,
    serving.Route,
    serving.Configuration,
    serving.Revision,
    serving.DomainMapping,
    networking.KIngress,
    networking.Certificate,
    networking.ClusterDomainClaim,
    dnsendpoint.DNSEndpoint,
    dnsrecord.DNSRecord,
)

BY_GROUP_KIND: Mapping[GroupKind, type[KubernetesObject]] = {type_.KIND.group_kind: type_ for type_ in TYPES}


def type_for(group_kind: GroupKind) -> type[KubernetesObject]:
    """The struct for a kind; a kind that gatepost does not know is read for its address alone."""
    return BY_GROUP_KIND.get(group_kind, serving.Addressable)


def typed(raw: Mapping[str, Any], whole: Container[GroupKind] = ()) -> KubernetesObject:
    """The typed view of a raw object without nulls.

    Args:
        whole: the kinds of Routes that keep their rules.
    Raises: UnreadableObject if a field that rules read has another type than its kind gives it.
    """
    ref = ref_of(raw)
    group_kind = GroupKind(group_of(raw["apiVersion"]), raw["kind"])
    try:
        obj = msgspec.convert(raw, type_for(group_kind))
    except msgspec.ValidationError as error:
        raise _with_key_named(unreadable(ref, error).problem, raw) from error
    if group_kind in whole and isinstance(obj, gatewayapi.GatewayRoute):
        return with_rules(obj, msgspec.json.encode(raw))
    return obj


def unreadable(ref: Ref, error: msgspec.ValidationError, hint: str = "") -> UnreadableObject:
    """What is to be raised for an object that msgspec refused."""
    message, _, path = str(error).partition(" - at `$")
    if _UNQUOTED.fullmatch(message) and not hint:
        hint = "Write it in quotes."
    return UnreadableObject(Problem(UNREADABLE, f"cannot be read: {message}", ref, path.rstrip("`").lstrip("."), hint))


_UNQUOTED = re.compile("Expected `str( \\| null)?`, got `(int|float|bool)`")
_ANY_KEY = "[...]"
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")
_TYPE_NAMES = {bool: "bool", int: "int", float: "float", str: "str", list: "array", dict: "object"}


def _with_key_named(problem: Problem, raw: Mapping[str, Any]) -> UnreadableObject:
    """The same with the key of a mapping written out, for which msgspec puts `[...]`: the first of the type it met."""
    path = problem.field.removesuffix(_ANY_KEY)
    if path == problem.field or _ANY_KEY in path:
        return UnreadableObject(problem)
    at: Any = raw
    for name, index in _STEP.findall(path):
        at = at[int(index)] if index else at[name]
    fitting = (key for key, value in at.items() if f"got `{_TYPE_NAMES.get(type(value))}`" in problem.message)
    key = next(fitting, None)
    field = problem.field if key is None else f'{path}["{key}"]'
    return UnreadableObject(msgspec.structs.replace(problem, field=field))
