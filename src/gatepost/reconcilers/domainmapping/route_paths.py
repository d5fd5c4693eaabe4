"""The paths of a Route inside the cluster, copied for a domain.

A request for the domain then goes straight to the revisions. Sent to the Route's placeholder Service instead, it would
pass a second gateway, and not at all where gateways refuse ExternalName backends.
Source: knative/serving pull request 16685.
"""

from __future__ import annotations

from msgspec import structs

from gatepost.objects.meta import is_controlled_by
from gatepost.objects.names import child_name
from gatepost.objects.networking import CLUSTER_LOCAL, KIngress, KIngressPath, KIngressRule
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.objects.serving import DomainMapping, KnativeService, Route
from gatepost.reconcilers.kingress import (
    INGRESS_NOT_CONFIGURED,
    INGRESS_READY,
    NOT_OWNED,
    kingress_ref,
    mark_not_configured,
)
from gatepost.reconcilers.passes import Pass
from gatepost.state.view import View

ORIGINAL_HOST = "K-Original-Host"

_RULE_WITHOUT_HTTP = "RuleWithoutHTTP"


def copied_paths(
    mapping: DomainMapping, target: KnativeService | Route, host: str, view: View, run: Pass
) -> tuple[KIngressPath, ...] | None:
    """The paths that the Route serves `host` with, made to carry the domain as original host.

    | situation                                                   | IngressReady                    | event |
    | Route or its KIngress is not there yet                      | Unknown IngressNotConfigured    |       |
    | Service does not control Route, or Route not its KIngress   | False NotOwned                  | yes   |
    | no cluster-local rule lists the host                        | Unknown IngressNotConfigured    |       |
    | the first rule that does has no `http`                      | as it was                       | yes   |

    Returns: None in all of these; the KIngress of the domain then stays as it is. Sums, emptiness and readiness of the
        source are not looked at: the Route answers for them.
    """
    found = _source_ingress(target, view)
    rule = _local_rule(found, host) if isinstance(found, KIngress) else found
    if isinstance(rule, Problem):
        _take_note(rule, run)
        return None
    assert rule.http is not None
    return tuple(_for_domain(path, mapping.metadata.name) for path in rule.http.paths)


def _source_ingress(target: KnativeService | Route, view: View) -> KIngress | Problem:
    """The Route's KIngress, by way of ownership alone: a name that anybody may use proves nothing."""
    route = target if isinstance(target, Route) else view.named(Route, *_child_of(target))
    if route is None:
        return _missing(Route.KIND.ref(*_child_of(target)), "the Route of the Service does not exist yet.")
    if isinstance(target, KnativeService) and not is_controlled_by(route, target):
        return _not_owned(route.ref, target.ref)
    ingress = view.get(KIngress, kingress_ref(route))
    if ingress is None:
        return _missing(kingress_ref(route), f"the KIngress of {route.ref} does not exist yet.")
    if not is_controlled_by(ingress, route):
        return _not_owned(ingress.ref, route.ref)
    return ingress


def _child_of(target: KnativeService | Route) -> tuple[str, str]:
    return target.metadata.namespace, child_name(target.metadata.name)


def _local_rule(ingress: KIngress, host: str) -> KIngressRule | Problem:
    """The first cluster-local rule for the host. If that one cannot be used, no later one is taken in its place."""
    for number, rule in enumerate(ingress.spec.rules):
        if rule.visibility == CLUSTER_LOCAL and host in rule.hosts:
            if rule.http is None:
                return Problem(
                    _RULE_WITHOUT_HTTP,
                    f"the rule for {host} has no http, wanted the paths to copy.",
                    ingress.ref,
                    f"spec.rules[{number}].http",
                    "The controller of the Route must write it again.",
                )
            return rule
    return _missing(ingress.ref, f"no rule of visibility {CLUSTER_LOCAL} lists host {host}.", "spec.rules")


def _for_domain(path: KIngressPath, domain: str) -> KIngressPath:
    """The path without rewriteHost; everything else stays, so that applications see what they see on the Route."""
    splits = tuple(
        structs.replace(split, append_headers={**split.append_headers, ORIGINAL_HOST: domain}) for split in path.splits
    )
    return structs.replace(path, rewrite_host="", splits=splits)


def _take_note(problem: Problem, run: Pass) -> None:
    if problem.reason == NOT_OWNED:
        run.fail(INGRESS_READY, problem)
    elif problem.reason == INGRESS_NOT_CONFIGURED:
        mark_not_configured(run.conditions, str(problem))
        run.wait(problem)
    else:
        run.stop(problem)


def _missing(at: Ref, message: str, field: str = "") -> Problem:
    return Problem(INGRESS_NOT_CONFIGURED, message, at, field, "What serves the domain now stays until it is there.")


def _not_owned(child: Ref, owner: Ref) -> Problem:
    return Problem(
        NOT_OWNED,
        f"{owner} does not control it, wanted one that it controls.",
        child,
        "metadata.ownerReferences",
        f"Delete or rename it, so that {owner} can make its own.",
    )
