"""What --fqdn-template makes of a Route: names, separated by commas, in the language of Go's text/template.

A template sees the Route as Go has it (`.Spec.Hostnames`); if that fails, it is executed once more on the Route as YAML
has it (`.Spec.hostnames`). The rules and backends of a Route are not kept, so no template can read them.
Source: external-dns, FQDN templates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from gatepost.dns.sources.hostnames import TemplateFailed
from gatepost.dns.template_functions import functions_for
from gatepost.gotemplate import Fields, Strings, Template, TemplateError
from gatepost.objects.gatewayapi import GROUP, GatewayRoute, ParentReference, RouteParentStatus
from gatepost.objects.meta import Condition, ObjectMeta, OwnerReference

FLAG = "--fqdn-template"

_NOT_KEPT = "gatepost does not keep it"
_REF_DEFAULTS = {"group": GROUP, "kind": "Gateway"}
_NO_TIME = "0001-01-01 00:00:00 +0000 UTC"


class FqdnTemplates:
    """The texts of --fqdn-template, ready to be executed for Routes of these sources.

    Raises: gotemplate.TemplateSyntaxError for the first text that is no template, or defines what another one does.
    """

    def __init__(self, texts: Sequence[str], sources: Sequence[str]) -> None:
        for count in range(
            1, len(texts)
        ):  # the texts before the last must make templates too, each with those before it
            _parse(texts[:count], "")
        self._by_source = {source: _parse(texts, source) for source in sources}

    def __call__(self, route: GatewayRoute, source: str) -> str:
        """The text for a Route of that source. Raises: TemplateFailed"""
        as_in_go, as_in_yaml = self._by_source[source]
        try:
            return as_in_go.execute(go_view(route))
        except TemplateError as error:
            try:
                return as_in_yaml.execute(yaml_view(route))
            except TemplateError as second:
                where = f"{error.line}:{error.column}: at {error.action}"
                message = f"{where}: {error.reason}; with the keys of YAML instead: {second.reason}"
                raise TemplateFailed(message) from error


def _parse(texts: Sequence[str], source: str) -> tuple[Template, Template]:
    """The template as it is executed on each of the two views: only in the second a missing key is an error."""
    text, functions = ",".join(texts), functions_for(source)
    return (
        Template.parse(text, name=FLAG, functions=functions, missing_key="zero"),
        Template.parse(text, name=FLAG, functions=functions, missing_key="error"),
    )


def go_view(route: GatewayRoute) -> Fields:
    """The Route with the names of Go's fields. Pointers that are not set are nil, as in Go."""
    kind = route.KIND.kind
    metadata = _metadata(route.metadata)
    spec: dict[str, Any] = {"ParentRefs": [_parent_ref(ref) for ref in route.spec.parent_refs]}
    if route.spec.hostnames or kind not in ("TCPRoute", "UDPRoute"):
        spec["Hostnames"] = list(route.spec.hostnames)
    not_kept = dict.fromkeys(("Rules", "UseDefaultGateways"), _NOT_KEPT)
    status = Fields("v1.RouteStatus", {"Parents": [_parent_status(parent) for parent in route.status.parents]})
    return Fields(
        f"v1.{kind}",
        {
            "Kind": kind,
            "APIVersion": route.api_version,
            **metadata.values,
            "ObjectMeta": metadata,
            "TypeMeta": Fields("v1.TypeMeta", {"Kind": kind, "APIVersion": route.api_version}),
            "Spec": Fields(f"v1.{kind}Spec", spec, not_kept),
            "Status": Fields(f"v1.{kind}Status", {"Parents": status.values["Parents"], "RouteStatus": status}),
        },
        metadata.withheld,
    )


def yaml_view(route: GatewayRoute) -> Fields:
    """The Route with the keys of YAML below .Spec, .Status, .Metadata and .Object."""
    raw = _in_yaml(route)
    metadata = route.metadata
    return Fields(
        "unstructured",
        {
            "Name": metadata.name,
            "Namespace": metadata.namespace,
            "Kind": route.KIND.kind,
            "APIVersion": route.api_version,
            "Labels": Strings(metadata.labels),
            "Annotations": Strings(metadata.annotations),
            "Metadata": raw.get("metadata", {}),
            "Spec": raw.get("spec", {}),
            "Status": raw.get("status", {}),
            "Object": raw,
        },
    )


def _in_yaml(route: GatewayRoute) -> dict[str, Any]:
    """The Route as the API gives it, with the defaults that the API writes out and our structs leave out."""
    raw: dict[str, Any] = msgspec.to_builtins(route)
    spec, status = raw.get("spec", {}), raw.get("status", {})
    spec.pop("rules", None)  # of some HTTPRoutes a part is kept, for other ends
    if "parentRefs" in spec:
        spec["parentRefs"] = [{**_REF_DEFAULTS, **ref} for ref in spec["parentRefs"]]
    for parent in status.get("parents", ()):
        parent["parentRef"] = {**_REF_DEFAULTS, **parent.get("parentRef", {})}
        parent["conditions"] = [{"status": "Unknown", **condition} for condition in parent.get("conditions", ())]
    return {"apiVersion": route.api_version, "kind": route.KIND.kind, **raw}


def _metadata(metadata: ObjectMeta) -> Fields:
    return Fields(
        "v1.ObjectMeta",
        {
            "Name": metadata.name,
            "GenerateName": metadata.generate_name,
            "Namespace": metadata.namespace,
            "UID": metadata.uid,
            "Generation": metadata.generation,
            "CreationTimestamp": _time(metadata.creation_timestamp) or _NO_TIME,
            "DeletionTimestamp": _time(metadata.deletion_timestamp),
            "Labels": Strings(metadata.labels),
            "Annotations": Strings(metadata.annotations),
            "OwnerReferences": [_owner(owner) for owner in metadata.owner_references],
            "Finalizers": list(metadata.finalizers),
        },
        dict.fromkeys(("ResourceVersion", "ManagedFields", "SelfLink", "DeletionGracePeriodSeconds"), _NOT_KEPT),
    )


def _time(timestamp: str | None) -> str | None:
    """A moment as Go prints it: 2026-02-03 09:00:00 +0000 UTC."""
    if timestamp is None:
        return None
    day, _, rest = timestamp.partition("T")
    return f"{day} {rest[:-1]} +0000 UTC" if rest.endswith("Z") else timestamp


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
            "Group": ref.group,
            "Kind": ref.kind,
            "Namespace": ref.namespace or None,
            "Name": ref.name,
            "SectionName": ref.section_name or None,
            "Port": ref.port or None,
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
            "LastTransitionTime": _time(condition.last_transition_time) or _NO_TIME,
            "Reason": condition.reason,
            "Message": condition.message,
        },
    )
