"""The story of one name: who mentions it, the way it takes, what DNS says, and the verdict."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from gatepost.dns.sources.attachment import PARENT_KINDS
from gatepost.explain.answers import dns_answers, failed_templates
from gatepost.explain.gone import gone_with
from gatepost.explain.names import Asked, all_names, asked, mentions
from gatepost.explain.scene import RawOf, Scene, nothing_raw
from gatepost.explain.values import DnsAnswer, Explanation, Step
from gatepost.explain.verdict import Judgement, is_local, judge
from gatepost.explain.way import STAGES, all_steps, way_of
from gatepost.objects.core import Service
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref
from gatepost.state.engine import Engine

_MOST_NEAR_NAMES = 5
_MOST_NAMED = 3


class NotAHostname(ValueError):
    """The text that was asked about is no hostname."""


def explain_hostname(
    engine: Engine,
    text: str,
    *,
    namespace: str = "",
    raw_of: RawOf = nothing_raw,
    refusals: Mapping[Ref, str] | None = None,
    gone: Sequence[KubernetesObject] = (),
) -> Explanation:
    """What serves a name, or why nothing does.

    Args:
        engine: with the rules at rest.
        text: a hostname, as people write it.
        namespace: looks at objects of this one only; "" for all. A bare `website` is the Service of that name in it.
        raw_of: gives raw objects, for the backends of routes.
        refusals: objects that could not be written, with what the API server said.
        gone: objects that were given and are not in the store any more.
    Raises: NotAHostname.
    """
    name = asked(f"{text}.{namespace}" if namespace and "." not in text else text, engine)
    if name is None:
        raise NotAHostname(f"found {text!r}, wanted a hostname like app.example.com, or KIND/NAME for one object")
    found = mentions(engine, name, namespace)
    scene = Scene(engine, name, raw_of, refusals or {})
    way = (*way_of(scene, found), *_unreadable_service(scene))
    dns = () if is_local(name, way) else dns_answers(engine, name)  # the cluster's own DNS answers for its names
    if not way and (namespace or not dns):
        return _unmentioned(engine, name, namespace, dns, gone_with(name, gone, namespace))
    judgement = judge(name, way, dns)
    return Explanation(
        name=name.name,
        verdict=judgement.verdict,
        summary=_summary(judgement, way, dns),
        reasons=judgement.reasons,
        served_by=judgement.served_by,
        way=way,
        dns=dns,
    )


def _unmentioned(
    engine: Engine, asked: Asked, namespace: str, dns: tuple[DnsAnswer, ...], gone: tuple[Skipped, ...]
) -> Explanation:
    name = asked.name
    near = () if dns or gone else _near(name, engine)
    summary = str(gone[0]) if gone else _unknown(name, namespace, engine)
    return Explanation(name=name, verdict="not served", summary=summary, reasons=gone, near=near, dns=dns)


def _near(name: str, engine: Engine) -> tuple[str, ...]:
    return tuple(difflib.get_close_matches(name, sorted(all_names(engine)), n=_MOST_NEAR_NAMES, cutoff=0.7))


def _unknown(name: str, namespace: str, engine: Engine) -> str:
    where = f"of namespace {namespace} " if namespace else ""
    kinds = {type_.KIND.group_kind for type_ in STAGES}
    unread = [problem.about for problem in engine.store.unreadables if problem.about.group_kind in kinds]
    but = f"; what {_listed(unread)} would say cannot be read" if unread else ""
    failed = failed_templates(engine)
    but += f"; --fqdn-template fails on {_listed(failed)}, which may be meant to have it" if failed else ""
    return f"no DomainMapping, Route, KIngress, Gateway API route or DNSEndpoint {where}mentions {name}{but}"


def _unreadable_service(scene: Scene) -> tuple[Step, ...]:
    """The step of the Service whose name in the cluster is asked about, if it is there and cannot be read."""
    if scene.asked.service is None:
        return ()
    problem = scene.engine.store.unreadable(Service.KIND.ref(*scene.asked.service))
    return (Step(about=problem.about, skipped=(problem.as_skipped(),), serves=False),) if problem is not None else ()


def _summary(judgement: Judgement, way: Sequence[Step], dns: Sequence[DnsAnswer]) -> str:
    if judgement.verdict == "unknown":
        waiting = [step.about for step in all_steps(way) if step.waiting and step.about.kind not in PARENT_KINDS]
        return f"nothing stands against it, but nothing has answered for {_listed(waiting)} yet"
    if judgement.verdict == "not served":
        if judgement.reasons:
            return str(judgement.reasons[0])
        return "no route for the name is in order" if way else "DNS has the name, but no route here takes its requests"
    by = f"by {_listed(judgement.served_by)}"
    parents = [step.about for step in all_steps(way) if step.about.kind in PARENT_KINDS and step.serves]
    on = f" on {_listed(parents)}" if parents else ""
    records = [f"{record.record_type} {', '.join(record.targets)}" for answer in dns for record in answer.records]
    return by + on + (f"; DNS: {'; '.join(records)}" if records else "")


def _listed(refs: Sequence[Ref]) -> str:
    names = [str(ref) for ref in dict.fromkeys(refs)]
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
