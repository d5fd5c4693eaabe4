"""What the steps of an explanation are made from: the engine at rest, the name asked about, and raw objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from gatepost.dns.claims import CLAIMS
from gatepost.explain.findings import findings_about
from gatepost.explain.names import Asked, Mention
from gatepost.explain.values import Finding, Step
from gatepost.objects.dnsendpoint import DNSEndpoint
from gatepost.objects.gatewayapi import GatewayRoute
from gatepost.objects.meta import Condition, KubernetesObject
from gatepost.objects.problems import Problem, Skipped
from gatepost.objects.refs import Ref
from gatepost.reconcilers.route.addresses import ADDRESS_GONE, NO_ADDRESS
from gatepost.state.engine import Engine

RawOf = Callable[[Ref], Mapping[str, Any] | None]
"""The raw form of an object, None where it is not kept: backends of routes are in no typed object."""

NOT_WRITTEN = "NotWritten"
NOTHING_WANTED = "NothingWanted"
SOURCE_NOT_READ = "SourceNotRead"


def nothing_raw(_: Ref) -> None:
    """For where no raw object is kept."""


class Scene(Struct, frozen=True):
    """`refusals`: objects that could not be written, with what the API server said."""

    engine: Engine
    asked: Asked
    raw_of: RawOf = nothing_raw
    refusals: Mapping[Ref, str] = {}


def step_of(scene: Scene, mention: Mention, **more: Any) -> Step:
    """The step of an object with all that the rules have left about it; `more` are fields of `Step`."""
    findings = findings_about(scene.engine, mention.ref)
    skipped = [why for finding in findings for why in finding.skipped if _concerns(why, mention.ref, scene)]
    skipped += _not_a_source(scene, mention, findings)
    skipped += [
        Skipped(NOTHING_WANTED, finding.note, mention.ref)
        for finding in findings
        if finding.note and not finding.writes
    ]
    skipped += [
        Skipped(NOT_WRITTEN, f"is wanted by {mention.ref}, and {_why_not_written(scene, write.about)}", write.about)
        for finding in findings
        for write in finding.writes
        if write.verb == "apply" and not write.is_there
    ]
    return Step(
        about=mention.ref,
        host=mention.host.name,
        field=mention.host.field,
        conditions=conditions_of(mention.obj),
        problems=unique(
            [problem for finding in findings for problem in finding.problems if _is_on_the_way(problem, scene.asked)]
        ),
        skipped=tuple(dict.fromkeys([*more.pop("skipped", ()), *skipped])),
        blocked=any(finding.blocked for finding in findings),
        wants=tuple(write.about for finding in findings for write in finding.writes if write.verb == "apply"),
        **more,
    )


def _not_a_source(scene: Scene, mention: Mention, findings: Sequence[Finding]) -> list[Skipped]:
    """That DNS does not look at an object: its kind could be a source, and --source names others."""
    if isinstance(mention.obj, GatewayRoute):
        source = f"gateway-{mention.ref.kind.lower()}"
    elif isinstance(mention.obj, DNSEndpoint):
        source = "crd"
    else:
        return []
    makes_claims = any(rule.name == CLAIMS for rule in scene.engine.rules)
    if not makes_claims or any(finding.rule == CLAIMS for finding in findings):
        return []
    return [Skipped(SOURCE_NOT_READ, f"is not looked at for DNS: --source does not name {source}", mention.ref)]


def _why_not_written(scene: Scene, ref: Ref) -> str:
    refusal = scene.refusals.get(ref)
    return f"could not be written: {refusal}" if refusal else "nobody has written it yet"


def conditions_of(obj: KubernetesObject) -> tuple[Condition, ...]:
    """The conditions in the status of an object; routes of Gateway API have theirs by parent, and none here."""
    found: tuple[Condition, ...] = getattr(getattr(obj, "status", None), "conditions", ())
    return found


def unique(problems: list[Problem]) -> tuple[Problem, ...]:
    return tuple(dict.fromkeys(problems))


def _concerns(why: Skipped, about: Ref, scene: Scene) -> bool:
    """Whether a reason says something of the name. Those of other hostnames quote them, and only them.

    A KIngress has a HTTPRoute for each of its rules: what one of other hosts waits for does not hold this name back.
    """
    if why.reason in _ABOUT_ONE_HOST and why.at == about:
        return any(repr(form) in why.message.lower() for form in scene.asked.forms)
    other = scene.engine.store.get(why.at) if why.at != about else None
    if not isinstance(other, GatewayRoute) or not other.spec.hostnames:
        return True
    return any(scene.asked.is_taken_in_by(host) for host in other.spec.hostnames)


def _is_on_the_way(problem: Problem, asked: Asked) -> bool:
    """Whether a problem can keep the name from being served. No name from outside goes by the Services of a Route."""
    return asked.service is not None or problem.reason not in _ABOUT_NAMES_OF_THE_CLUSTER


_ABOUT_ONE_HOST = ("NoMatchingListener", "InvalidHostname", "IgnoredHostname")
_ABOUT_NAMES_OF_THE_CLUSTER = (NO_ADDRESS, ADDRESS_GONE)
