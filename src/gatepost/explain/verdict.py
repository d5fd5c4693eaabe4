"""From the steps and the DNS answers to the verdict, and to the reason that should be looked at first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct

from gatepost.dns.sources.attachment import PARENT_KINDS
from gatepost.explain.gateway_steps import NO_LISTENER, NO_SUCH_PARENT
from gatepost.explain.names import Asked
from gatepost.explain.service_steps import why_no_cluster_dns
from gatepost.explain.values import DnsAnswer, Step, Verdict, Why
from gatepost.explain.way import all_steps, paths
from gatepost.objects.core import Service
from gatepost.objects.dnsendpoint import DNSEndpoint
from gatepost.objects.networking import KIngress
from gatepost.objects.problems import Problem, Skipped
from gatepost.objects.refs import Ref
from gatepost.objects.serving import Route

NOT_CLAIMED = "NotClaimedInDNS"

REMARKS = ("MisplacedAnnotation", "InvalidAnnotation", "AddressType", "InvalidAddress", "OneName")
"""Reasons of things that have no effect, but keep nothing from working."""

_WITHOUT_OUR_DNS = (Service.KIND.kind, KIngress.KIND.kind)


class Judgement(Struct, frozen=True):
    verdict: Verdict
    reasons: tuple[Why, ...] = ()
    served_by: tuple[Ref, ...] = ()


def judge(asked: Asked, way: Sequence[Step], dns: Sequence[DnsAnswer]) -> Judgement:
    """Whether requests for the name reach something.

    | routes that serve | record                 | above them  | verdict         |
    | some              | published, or no need  | in order    | served          |
    | some              | published, or no need  | stopped     | last known good |
    | none, one waiting |                        | no problems | unknown         |
    | anything else     |                        |             | not served      |

    Names of the cluster need no record of ours but a Service: the cluster's own DNS answers for it. Nor does a KIngress
    of another class.
    """
    serving = _serving(way, dns)
    lost = why_no_cluster_dns(asked, all_steps(way)) if is_local(asked, way) else None
    is_published = lost is None if is_local(asked, way) else any(answer.records for answer in dns)
    reached = [path for path in serving if is_published or path[-1].about.kind in _WITHOUT_OUR_DNS]
    if reached:
        return _served(reached)
    unpublished = [lost] if lost is not None else [] if is_published else _unpublished(serving, dns)
    reasons = tuple(dict.fromkeys(_reasons(way, dns, unpublished)))
    is_waiting = any(step.waiting for step in all_steps(way))
    if is_waiting and not any(isinstance(why, Problem) for why in reasons):
        return Judgement("unknown", reasons)
    return Judgement("not served", reasons)


def _serving(way: Sequence[Step], dns: Sequence[DnsAnswer]) -> list[tuple[Step, ...]]:
    """The steps that answer requests, each below those above it.

    Records written by hand say where a name leads, not that the routes here which want it are reached: a DNSEndpoint
    counts only where nothing else takes the name in, and only one that has the name.
    """
    serving = [path for path in paths(way) if path[-1].serves and path[-1].about.kind not in PARENT_KINDS]
    if any(path[-1].about.kind != DNSEndpoint.KIND.kind for path in paths(way)):
        return [path for path in serving if path[-1].about.kind != DNSEndpoint.KIND.kind]
    winners = {claim.claimant for answer in dns for claim in answer.claims if claim.won}
    return [path for path in serving if path[-1].about in winners]


def is_local(asked: Asked, way: Sequence[Step]) -> bool:
    """Whether the name is one that only the cluster knows."""
    local_kinds = (Service.KIND.group_kind, Route.KIND.group_kind)
    return asked.is_certainly_local or (
        asked.service is not None
        and any(
            step.about.group_kind in local_kinds and (step.about.namespace, step.about.name) == asked.service
            for step in all_steps(way)
        )
    )


def _served(reached: list[tuple[Step, ...]]) -> Judgement:
    served_by = tuple(dict.fromkeys(path[-1].about for path in reached))
    stopped = [_stopped_above(path) for path in reached]
    if not all(stopped):
        return Judgement("served", (), served_by)
    reasons = dict.fromkeys(problem for steps in stopped for step in steps for problem in step.problems)
    return Judgement("last known good", tuple(reasons), served_by)


def _stopped_above(path: tuple[Step, ...]) -> list[Step]:
    """The steps that stopped before they could say what should stand below them, though it does stand there."""
    return [above for above, below in pairwise(path) if above.blocked and below.about not in above.wants]


def _unpublished(serving: list[tuple[Step, ...]], dns: Sequence[DnsAnswer]) -> list[Skipped]:
    """Why there is no record where no rule has left a reason: wishes that were filtered out, or that nobody has."""
    if not dns:
        message = "takes requests for the name, but asks for other names in DNS, or for none"
        silent = [path[-1] for path in serving if all(_rank(why) > 1 for why in path[-1].skipped)]
        return [Skipped(NOT_CLAIMED, message, step.about) for step in silent]
    return [note for answer in dns if not answer.records for note in answer.notes]


def _reasons(way: Sequence[Step], dns: Sequence[DnsAnswer], unpublished: Sequence[Skipped]) -> Iterable[Why]:
    """Why the name is not served, the most telling first.

    Problems in the order of the way: what stops an earlier step explains the later ones. Then what was left out: a
    parent that is not there, which nobody can answer for, what DNS waits for, whole parents and their listeners for the
    name, the hostname, other listeners; remarks, which keep nothing from working, come last.
    """
    steps = list(all_steps(way))
    for blocked_first in (True, False):
        for step in steps:
            if step.blocked == blocked_first:
                yield from step.problems
    for answer in dns:
        yield from answer.problems
    skipped = [why for step in steps for why in step.skipped]
    skipped += [claim.doubt for answer in dns for claim in answer.claims if claim.doubt is not None]
    told = {problem.message for answer in dns for problem in answer.problems}
    skipped += [answer.hold for answer in dns if answer.hold is not None and answer.hold.message not in told]
    skipped += unpublished
    doubts = {claim.doubt for answer in dns for claim in answer.claims}
    by_parents = {why for step in steps if step.about.kind in PARENT_KINDS for why in step.skipped}
    yield from sorted(
        skipped,
        key=lambda why: (
            why.reason != NO_SUCH_PARENT,
            why not in doubts and 1 + _rank(why, is_of_a_parent=why in by_parents),
        ),
    )


def _rank(why: Skipped, *, is_of_a_parent: bool = False) -> int:
    """How little a reason explains: a listener that takes other names is often there for them.

    Args:
        is_of_a_parent: a parent has found it for the name that is asked about.
    """
    if why.reason in REMARKS:
        return 3
    if why.field.startswith("spec.listeners[") and not is_of_a_parent:
        return 2
    return 1 if why.reason == NO_LISTENER else 0
