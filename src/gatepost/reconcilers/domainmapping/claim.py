"""ClusterDomainClaims: which namespace may serve a domain. A claim belongs to a namespace, not to one mapping."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from msgspec import Struct

from gatepost.configmaps.network import NetworkConfig
from gatepost.objects.networking import ClusterDomainClaim
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.objects.serving import DomainMapping
from gatepost.reconcilers.domainmapping.conditions import (
    DOMAIN_ALREADY_CLAIMED,
    DOMAIN_CLAIM_FAILED,
    DOMAIN_CLAIMED,
)
from gatepost.reconcilers.passes import Pass
from gatepost.state.store import Index
from gatepost.state.view import View
from gatepost.writes.outcome import Apply, Outcome, object_fields, subject


class Contender(Struct, frozen=True, order=True):
    """A DomainMapping that may claim its domain, ordered by who comes first."""

    created: str
    namespace: str


def _contenders(mapping: DomainMapping) -> Iterable[tuple[Hashable, Any]]:
    metadata = mapping.metadata
    if metadata.deletion_timestamp is None:
        yield metadata.name, Contender(metadata.creation_timestamp or "", metadata.namespace)


CONTENDERS = Index("domainmappings-by-domain", DomainMapping, _contenders)


def claim_domain(mapping: DomainMapping, config: NetworkConfig, view: View, run: Pass) -> bool:
    """Marks DomainClaimed, and wants the claim made where that is left to us.

    | claim                | autocreation | result                                                        |
    | of this namespace    |              | True                                                          |
    | of another namespace |              | False DomainAlreadyClaimed, stop                              |
    | absent               | off          | False DomainAlreadyClaimed, stop: an administrator delegates  |
    | absent               | on           | oldest mapping of the name: makes it and waits; others: False |

    Until the claim has been seen nothing else is wanted: there is no certificate or KIngress for a domain that is not
    ours. While the claim is refused, an event of the mapping says why, and DomainClaimed is Unknown: the domain is not
    somebody else's, and what serves it goes on.

    Returns: whether the domain is ours to serve.
    """
    name, namespace = mapping.metadata.name, mapping.metadata.namespace
    existing = view.named(ClusterDomainClaim, "", name)
    if existing is None and config.autocreate_cluster_domain_claims:
        # One of several mappings makes the claim, the same one whoever is looked at first.
        holder = min(view.select(CONTENDERS, name)).namespace
    else:
        holder = existing.spec.namespace if existing is not None else ""
    if holder != namespace:
        run.fail(DOMAIN_CLAIMED, _refused(ClusterDomainClaim.KIND.ref("", name), holder, namespace))
        return False
    if existing is None:
        wanted = _claim(mapping)
        run.out.want(wanted)
        run.if_refused(wanted, DOMAIN_CLAIMED, _unmade(wanted.ref), is_failure=False)
        run.put_off("waits for its claim")
        return False
    run.conditions.mark_true(DOMAIN_CLAIMED)
    return True


def release_claim(mapping: DomainMapping, config: NetworkConfig, view: View, out: Outcome) -> None:
    """Deletes the claim of a mapping that goes, if claims are made by us and this one is of its namespace."""
    if not config.autocreate_cluster_domain_claims:
        return
    existing = view.named(ClusterDomainClaim, "", mapping.metadata.name)
    if existing is not None and existing.spec.namespace == mapping.metadata.namespace:
        out.remove(existing, f"{mapping.ref} is being deleted and releases its domain")


def _claim(mapping: DomainMapping) -> Apply:
    """The claim, without owner: it is cluster-scoped. A claim that appeared meanwhile keeps its namespace."""
    namespace = mapping.metadata.namespace
    fields = object_fields(ClusterDomainClaim, "", mapping.metadata.name, spec={"namespace": namespace})
    return Apply(fields, whole=(), at_creation=("spec",), announce=subject(mapping))


def _unmade(claim: Ref) -> Problem:
    return Problem(
        DOMAIN_CLAIM_FAILED,
        "the API server refuses to create it.",
        claim,
        "",
        "The event CreationFailed says why; an administrator may also create it for this namespace.",
    )


def _refused(claim: Ref, holder: str, namespace: str) -> Problem:
    if holder:
        return Problem(
            DOMAIN_ALREADY_CLAIMED,
            f"the domain is claimed for namespace {holder!r}, wanted {namespace!r}.",
            claim,
            "spec.namespace",
            "Delete the mapping there, or let an administrator delegate the domain here.",
        )
    return Problem(
        DOMAIN_ALREADY_CLAIMED,
        f"no ClusterDomainClaim delegates the domain to namespace {namespace!r}, and none is made automatically.",
        claim,
        "",
        "Create it with that spec.namespace, or set autocreate-cluster-domain-claims in ConfigMap config-network.",
    )
