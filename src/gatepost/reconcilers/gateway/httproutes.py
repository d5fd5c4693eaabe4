"""The HTTPRoutes of one rule of a KIngress: probe rules first, then the same paths for everybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from gatepost.objects.gatewayapi import HTTPRoute, ParentReference
from gatepost.objects.meta import owner_reference
from gatepost.objects.networking import (
    CLUSTER_LOCAL,
    CLUSTER_LOCAL_VISIBILITY,
    KINGRESS_LABEL,
    VISIBILITY_LABEL,
    KIngress,
    KIngressPath,
    KIngressSplit,
)
from gatepost.reconcilers.gateway.limits import is_label_value, label_value
from gatepost.reconcilers.gateway.wishes import RouteWish
from gatepost.writes.outcome import object_fields

Raw = dict[str, Any]

TAG_LABEL = "networking.knative.dev/tag"
TAG_TO_HOST = "networking.internal.knative.dev/tag-to-host"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

HASH_HEADER = "K-Network-Hash"
HASH_OVERRIDE = "override"


def http_route(kingress: KIngress, wish: RouteWish) -> Raw:
    """The HTTPRoute in its raw form."""
    return object_fields(
        HTTPRoute,
        kingress.metadata.namespace,
        wish.name,
        owners=[owner_reference(kingress)],
        labels=_labels(kingress, wish),
        annotations={name: value for name, value in kingress.metadata.annotations.items() if name != LAST_APPLIED},
        spec={
            "parentRefs": [_parent_ref(parent) for parent in wish.parents],
            "hostnames": list(wish.hosts),
            "rules": _rules(wish),
        },
    )


def _parent_ref(parent: ParentReference) -> Raw:
    """A whole parent, unless a section is named: it attaches to every listener that lets it, 80 and 443 alike."""
    fields = {"group": parent.group, "kind": parent.kind, "namespace": parent.namespace, "name": parent.name}
    return {**fields, "sectionName": parent.section_name} if parent.section_name else fields


def _labels(kingress: KIngress, wish: RouteWish) -> dict[str, str]:
    labels = {
        **kingress.metadata.labels,
        KINGRESS_LABEL: label_for(kingress),
        VISIBILITY_LABEL: CLUSTER_LOCAL_VISIBILITY if wish.visibility == CLUSTER_LOCAL else "",
    }
    tag = _tag_of(wish.hosts, kingress.metadata.annotations.get(TAG_TO_HOST, ""))
    return {**labels, TAG_LABEL: tag} if tag else labels


def label_for(kingress: KIngress) -> str:
    """The value of the label that names a KIngress."""
    return label_value(kingress.metadata.name)


def _tag_of(hosts: Sequence[str], tag_to_host: str) -> str:
    """The tag whose hosts include one of these; "" if none can be read and written as a label."""
    try:
        hosts_by_tag = msgspec.json.decode(tag_to_host or "{}", type=dict[str, list[str]])
    except msgspec.DecodeError:
        return ""
    tags = (tag for tag, tagged in hosts_by_tag.items() if set(hosts) & set(tagged) and is_label_value(tag))
    return min(tags, default="")


def _rules(wish: RouteWish) -> list[Raw]:
    probes = [_rule(path, wish, version=wish.version) for path in wish.paths]
    rules = probes + [_rule(path, wish) for path in wish.paths]
    return [*rules, _redirect_rule(wish.redirect_port)] if wish.redirects else rules


def _redirect_rule(port: int) -> Raw:
    redirect = {"scheme": "https", "statusCode": 301, **({"port": port} if port else {})}
    to_https = {"type": "RequestRedirect", "requestRedirect": redirect}
    return {"matches": [{"path": {"type": "PathPrefix", "value": "/"}}], "filters": [to_https]}


def _rule(path: KIngressPath, wish: RouteWish, version: str = "") -> Raw:
    """One rule; with a version it is the probe's."""
    fields: Raw = {"matches": [_match(path, is_probe=bool(version))]}
    filters = _filters(path, version)
    if filters:
        fields["filters"] = filters
    fields["backendRefs"] = [_backend_ref(split) for split in path.splits]
    if wish.has_request_timeout:
        fields["timeouts"] = {"request": "0s"}  # none: Knative's queue-proxy times out, not the way to it
    return fields


def _match(path: KIngressPath, *, is_probe: bool) -> Raw:
    wanted = {name: match.exact for name, match in path.headers.items()}
    if is_probe:
        wanted[HASH_HEADER] = HASH_OVERRIDE
    match: Raw = {"path": {"type": "PathPrefix", "value": path.path or "/"}}
    if wanted:
        # Descending as net-gateway-api has it, so that a change of controller rewrites no route.
        match["headers"] = [
            {"type": "Exact", "name": name, "value": wanted[name]} for name in sorted(wanted, reverse=True)
        ]
    return match


def _filters(path: KIngressPath, version: str) -> list[Raw]:
    headers = {**path.append_headers, HASH_HEADER: version} if version else path.append_headers
    filters = [_set_headers(headers)] if headers else []
    if path.rewrite_host:
        filters.append({"type": "URLRewrite", "urlRewrite": {"hostname": path.rewrite_host}})
    return filters


def _set_headers(headers: Mapping[str, str]) -> Raw:
    modifier: Raw = {}
    if headers:
        modifier["set"] = [{"name": name, "value": headers[name]} for name in sorted(headers)]
    return {"type": "RequestHeaderModifier", "requestHeaderModifier": modifier}


def _backend_ref(split: KIngressSplit) -> Raw:
    return {
        "group": "",
        "kind": "Service",
        "name": split.service_name,
        "port": split.service_port,
        "weight": split.percent if split.percent is not UNSET else 0,
        "filters": [_set_headers(split.append_headers)],
    }
