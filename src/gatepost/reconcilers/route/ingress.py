"""The KIngress of a Route: a rule inside the cluster for each target, and one for its public name if it has one."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct, structs

from gatepost.objects.networking import (
    CLUSTER_LOCAL,
    EXTERNAL_IP,
    HeaderMatch,
    KIngressHTTP,
    KIngressPath,
    KIngressRule,
    KIngressSpec,
    KIngressSplit,
    KIngressTLS,
)
from gatepost.objects.serving import ROUTE_LABEL, Route
from gatepost.reconcilers.annotations import INGRESS_CLASS, ingress_class, passed_on
from gatepost.reconcilers.certificates import Challenge
from gatepost.reconcilers.kingress import kingress
from gatepost.reconcilers.route.names import RouteSettings, TargetNames
from gatepost.reconcilers.route.rollout import ROLLOUT_ANNOTATION, Rollout, annotation_text
from gatepost.reconcilers.route.traffic import MAIN, RevisionShare, Traffic
from gatepost.writes.outcome import Apply

ROUTE_NAMESPACE_LABEL = "serving.knative.dev/routeNamespace"
TAG_TO_HOST_ANNOTATION = "networking.internal.knative.dev/tag-to-host"

_TAG_HEADER = "Knative-Serving-Tag"
_DEFAULT_ROUTE_HEADER = "Knative-Serving-Default-Route"
_REVISION_HEADER = "Knative-Serving-Revision"
_NAMESPACE_HEADER = "Knative-Serving-Namespace"

_HTTP_PORT, _H2C_PORT, _TLS_PORT = 80, 81, 443


class Plan(Struct, frozen=True):
    """All that the rules of a Route's KIngress are made from."""

    traffic: Traffic
    names: Mapping[str, TargetNames]
    rollout: Rollout
    settings: RouteSettings
    namespace: str


def ingress_spec(
    plan: Plan, tls: tuple[KIngressTLS, ...], challenges: tuple[Challenge, ...], http_option: str
) -> KIngressSpec:
    """The rules of every target, sorted by tag. Public hosts have a rule each, because TLS is chosen by whole rules."""
    rules: list[KIngressRule] = []
    for tag in sorted(plan.traffic.targets):
        names, paths = plan.names[tag], _paths_of(plan, tag)
        rules.append(_rule(names.local_hosts, CLUSTER_LOCAL, paths))
        if names.public:
            proofs = tuple(challenge.path for challenge in challenges if challenge.host == names.public)
            rules.append(_rule((names.public,), EXTERNAL_IP, proofs + paths))
    return KIngressSpec(http_option=http_option, tls=tls, rules=tuple(rules))


def ingress_for(route: Route, plan: Plan, spec: KIngressSpec) -> Apply:
    """The KIngress with the Route's labels and annotations, its class, and the state of its rollouts."""
    labels = {
        **route.metadata.labels,
        ROUTE_LABEL: route.metadata.name,
        ROUTE_NAMESPACE_LABEL: route.metadata.namespace,
    }
    annotations = {
        INGRESS_CLASS: ingress_class(route, plan.settings.network),
        ROLLOUT_ANNOTATION: annotation_text(plan.rollout),
        **_tag_to_host(plan.names),
        **passed_on(route.metadata.annotations),
    }
    return kingress(route, labels, annotations, spec)


def _tag_to_host(names: Mapping[str, TargetNames]) -> dict[str, str]:
    """The hosts of each tag, from which a gateway labels what it makes for a tag."""
    hosts = {
        tag: [one.cluster, one.public] if one.public else [one.cluster] for tag, one in sorted(names.items()) if tag
    }
    return {TAG_TO_HOST_ANNOTATION: msgspec.json.encode(hosts).decode()} if hosts else {}


def _rule(hosts: tuple[str, ...], visibility: str, paths: tuple[KIngressPath, ...]) -> KIngressRule:
    return KIngressRule(hosts=hosts, visibility=visibility, http=KIngressHTTP(paths=paths))


def _paths_of(plan: Plan, tag: str) -> tuple[KIngressPath, ...]:
    """The traffic path of a target; with tag header routing, the main hosts lead to every tag by its header too."""
    path = KIngressPath(splits=_splits(plan, tag))
    if not plan.settings.tag_header_based_routing:
        return (path,)
    if tag != MAIN:
        # Requests to a tag's own host look to the application like those that chose the tag by header.
        return (structs.replace(path, append_headers={_TAG_HEADER: tag}),)
    by_header = tuple(
        KIngressPath(headers={_TAG_HEADER: HeaderMatch(exact=one)}, splits=_splits(plan, one))
        for one in sorted(plan.traffic.targets)
        if one != MAIN
    )
    return (*by_header, structs.replace(path, append_headers={_DEFAULT_ROUTE_HEADER: "true"}))


def _splits(plan: Plan, tag: str) -> tuple[KIngressSplit, ...]:
    return tuple(
        KIngressSplit(
            service_namespace=plan.namespace,
            service_name=revision_name,
            service_port=_port(share, plan.settings),
            percent=percent,
            append_headers={_REVISION_HEADER: revision_name, _NAMESPACE_HEADER: plan.namespace},
        )
        for share in plan.traffic.targets[tag]
        for revision_name, percent in spread(share, tag, plan.rollout)
        if percent > 0
    )


def spread(share: RevisionShare, tag: str, rollout: Rollout) -> list[tuple[str, int]]:
    """The revisions that serve a share under a tag: several while a rollout runs, else its own alone."""
    revisions = rollout.revisions_of(tag, share.configuration_name) if share.latest_revision else ()
    if not revisions:
        return [(share.revision_name, share.percent)]
    return [(revision.revision_name, revision.percent) for revision in revisions]


def _port(share: RevisionShare, settings: RouteSettings) -> int:
    if settings.network.system_internal_tls:
        return _TLS_PORT
    return _H2C_PORT if share.is_h2c else _HTTP_PORT
