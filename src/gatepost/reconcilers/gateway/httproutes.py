"""The HTTPRoutes of one rule of a KIngress: probe rules first, then the same paths for everybody."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Struct, structs

from gatepost.objects.gatewayapi import HTTPRoute, ListenerSet, ParentReference
from gatepost.objects.meta import owner_reference
from gatepost.objects.networking import CLUSTER_LOCAL, KINGRESS_LABEL, KIngress, KIngressPath, KIngressSplit
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.reconcilers.gateway.problems import TOO_LARGE, CannotServe
from gatepost.writes.outcome import object_fields

Raw = dict[str, Any]

VISIBILITY_LABEL = "networking.knative.dev/visibility"
TAG_LABEL = "networking.knative.dev/tag"
TAG_TO_HOST = "networking.internal.knative.dev/tag-to-host"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

HASH_HEADER = "K-Network-Hash"
HASH_OVERRIDE = "override"

# Limits of the HTTPRoute schema. Each path takes two rules: one for probes, one for everybody.
PATHS_PER_ROUTE = 8
HOSTNAMES_PER_ROUTE = 16
HEADERS_PER_MATCH = 16
HEADERS_PER_FILTER = 16
BACKENDS_PER_RULE = 16
LABEL_LENGTH = 63


class RouteWish(Struct, frozen=True):
    """One HTTPRoute to be: which hosts, on which Gateway, and where their requests go.

    Attributes:
        name: of the HTTPRoute.
        hosts: sorted.
        visibility: of the rule that it is made from.
        paths: with ports as numbers, in the order of the rule.
        version: what a probe gets back.
        gateway: the Gateway that it attaches to.
        namespace: of the KIngress, and of its ListenerSets.
        sections: the listeners of the Gateway that it attaches to, () for all of them.
        sets: listeners in ListenerSets of its namespace that it attaches to as well, by set and section; no section
            is all of the set.
        is_redirected_to: it attaches to TLS listeners only, for another route redirects to it.
        has_request_timeout: whether the Gateway knows `timeouts.request`.
        redirects: whether all that `paths` do not take is sent to https.
    """

    name: str
    hosts: tuple[str, ...]
    visibility: str
    paths: tuple[KIngressPath, ...]
    version: str
    gateway: Ref
    namespace: str = ""
    sections: tuple[str, ...] = ()
    sets: tuple[tuple[str, str], ...] = ()
    is_redirected_to: bool = False
    has_request_timeout: bool = False
    redirects: bool = False

    @property
    def parents(self) -> tuple[ParentReference, ...]:
        """The Gateway, whole or by sections, and the ListenerSets: a Gateway lets no route into those by itself."""
        gateway = self.gateway
        sections = self.sections or (() if self.is_redirected_to else ("",))
        on_gateway = [
            ParentReference(gateway.name, gateway.namespace, gateway.group, gateway.kind, section)
            for section in sections
        ]
        sets = [
            ParentReference(name, self.namespace, ListenerSet.KIND.group, ListenerSet.KIND.kind, section)
            for name, section in self.sets
        ]
        return tuple(on_gateway + sets)


def route_name(hosts: Iterable[str]) -> str:
    """The last of the hosts in byte order, which for the names of a Service is its full one.

    A wildcard is no object name: it becomes a name of its own, that no host has.
    Source: net-gateway-api calls this the longest host, which it is not.
    """
    last = max(hosts)
    if not last.startswith("*."):
        return last
    return f"wildcard-{hashlib.sha256(last.encode()).hexdigest()[:8]}.{last.removeprefix('*.')}"


def within_limits(kingress: KIngress, wish: RouteWish) -> list[RouteWish]:
    """The same wish as HTTPRoutes that the API takes: long lists of hosts or paths are divided, in order.

    A Gateway merges the rules of all routes for one host, the most specific first, so dividing changes nothing.
    Raises: CannotServe if a single path is too large to be divided.
    """
    for path in wish.paths:
        _check_size(kingress, path)
    room = PATHS_PER_ROUTE - 1 if wish.redirects else PATHS_PER_ROUTE
    return [
        structs.replace(wish, hosts=hosts, paths=paths)
        for hosts in _chunks(wish.hosts, HOSTNAMES_PER_ROUTE)
        for paths in _chunks(wish.paths, room) or [()]
    ]


def with_distinct_names(wishes: Iterable[RouteWish]) -> list[RouteWish]:
    """The second wish of a name gets it with `-02`, and so on: two rules can share a host."""
    seen: Counter[str] = Counter()
    distinct = []
    for wish in wishes:
        seen[wish.name] += 1
        number = seen[wish.name]
        distinct.append(wish if number == 1 else structs.replace(wish, name=f"{wish.name}-{number:02}"))
    return distinct


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
        VISIBILITY_LABEL: "cluster-local" if wish.visibility == CLUSTER_LOCAL else "",
    }
    tag = _tag_of(wish.hosts, kingress.metadata.annotations.get(TAG_TO_HOST, ""))
    return {**labels, TAG_LABEL: tag} if tag else labels


def label_for(kingress: KIngress) -> str:
    """The value of the label that names a KIngress. That of a domain can be longer than a label may be."""
    name = kingress.metadata.name
    if len(name) <= LABEL_LENGTH:
        return name
    return f"{name[: LABEL_LENGTH - 9].rstrip('.-')}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _tag_of(hosts: Sequence[str], tag_to_host: str) -> str:
    """The tag whose hosts include one of these; "" if there is none or the annotation cannot be read."""
    try:
        hosts_by_tag = msgspec.json.decode(tag_to_host or "{}", type=dict[str, list[str]])
    except msgspec.DecodeError:
        return ""
    return min((tag for tag, tagged in hosts_by_tag.items() if set(hosts) & set(tagged)), default="")


def _rules(wish: RouteWish) -> list[Raw]:
    probes = [_rule(path, wish, version=wish.version) for path in wish.paths]
    rules = probes + [_rule(path, wish) for path in wish.paths]
    return [*rules, _redirect_rule()] if wish.redirects else rules


def _redirect_rule() -> Raw:
    to_https = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}
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


def _check_size(kingress: KIngress, path: KIngressPath) -> None:
    counts = (
        ("headers", len(path.headers) + 1, HEADERS_PER_MATCH),
        ("appendHeaders", len(path.append_headers) + 1, HEADERS_PER_FILTER),
        ("splits", len(path.splits), BACKENDS_PER_RULE),
        ("splits[].appendHeaders", max(len(split.append_headers) for split in path.splits), HEADERS_PER_FILTER),
    )
    for field, count, limit in counts:
        if count > limit:
            raise CannotServe(
                Problem(
                    TOO_LARGE,
                    f'path "{path.path or "/"}" needs {count} entries for {field}, an HTTPRoute takes {limit}.',
                    kingress.ref,
                    f"spec.rules[].http.paths[].{field}",
                )
            )


def _chunks(items: tuple[Any, ...], size: int) -> list[tuple[Any, ...]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
