"""Explanations as lines of text: the verdict and the reason first, then the way as a tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct, structs

from gatepost.explain.values import (
    Backend,
    DnsAnswer,
    DnsClaim,
    Explanation,
    Finding,
    ObjectExplanation,
    Step,
    Told,
    Verdict,
    Why,
)
from gatepost.explain.way import all_steps
from gatepost.objects.meta import Condition
from gatepost.objects.networking import KIngress
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.objects.serving import KnativeService

Tone = Literal["title", "good", "bad", "doubt", "object", "detail"]

_TONES: dict[Verdict, Tone] = {"served": "good", "last known good": "good", "not served": "bad", "unknown": "doubt"}
_VERDICTS: dict[Verdict, str] = {
    "served": "served",
    "last known good": "served from the last known good configuration",
    "not served": "not served",
    "unknown": "not known to be served",
}
_MOST_OTHER_REASONS = 4
_MOST_READERS = 20
_TOP_CONDITIONS = ("Ready", "Accepted", "Programmed")


class Line(Struct, frozen=True):
    """A line of text, how deep it stands in the tree, and its tone, from which a terminal may take a colour."""

    depth: int
    tone: Tone
    text: str


def plain(lines: Iterable[Line]) -> str:
    """The lines as text without colours, each level indented by two blanks."""
    return "".join(f"{'  ' * line.depth}{line.text}\n" for line in lines)


# One hostname


def hostname_lines(explanation: Explanation) -> Iterator[Line]:
    """The verdict; the reasons; the way; DNS."""
    tone = _TONES[explanation.verdict]
    yield Line(0, tone, f"{explanation.name}: {_VERDICTS[explanation.verdict]}")
    if explanation.verdict != "not served" or not explanation.reasons:
        yield Line(1, "detail", explanation.summary)
    if explanation.near:
        yield Line(1, "detail", f"known names near it: {', '.join(explanation.near)}")
    yield from _reasons(explanation)
    if explanation.way:
        yield Line(0, "title", "The way of the name")
    for step in explanation.way:
        yield from _step(step, 1)
    if explanation.dns:
        yield Line(0, "title", "DNS")
    for answer in explanation.dns:
        yield from _answer(answer)
    yield from _told(explanation.told)


def _reasons(explanation: Explanation) -> Iterator[Line]:
    if explanation.verdict == "last known good":
        yield Line(1, "doubt", "What it was made from cannot be used, so what was configured before stays:")
    conditions = {problem: step.conditions for step in all_steps(explanation.way) for problem in step.problems}
    first, *others = explanation.reasons or (None,)
    if first is not None:
        yield from why_lines(first, 1, conditions.get(first, ()) if isinstance(first, Problem) else ())
    for why in others[:_MOST_OTHER_REASONS]:
        if why is not None:
            yield Line(1, "detail", f"also: {why}")
    if len(others) > _MOST_OTHER_REASONS:
        yield Line(1, "detail", f"and {len(others) - _MOST_OTHER_REASONS} more, told below at their objects")


def why_lines(why: Why, depth: int, conditions: Sequence[Condition] = ()) -> Iterator[Line]:
    """A reason as people act on it: object, field, what was found and wanted; then what to do, and the condition."""
    field = f"{why.field}: " if why.field else ""
    yield Line(depth, "bad", f"{_about(why)}: {field}{why.message}")
    hint = f"{why.hint} " if isinstance(why, Problem) and why.hint else ""
    yield Line(depth + 1, "detail", f"{hint}[{_tag(why, conditions)}]")


def _tag(why: Why, conditions: Sequence[Condition]) -> str:
    marked = next((c for c in conditions if c.reason == why.reason and c.type not in _TOP_CONDITIONS), None)
    return f"{marked.type}={marked.status}, {why.reason}" if marked is not None else why.reason


def _about(why: Why) -> Ref:
    return why.about if isinstance(why, Problem) else why.at


def _step(step: Step, depth: int) -> Iterator[Line]:
    conditions = _conditions(step.conditions)
    state = "does not exist" if not step.exists else conditions
    yield Line(depth, "object", f"{_named(step.about)}{f'  {state}' if state else ''}")
    if step.host and step.field:
        said = f": {step.says}" if step.says else ""
        yield Line(depth + 1, "detail", f"{step.field} has {step.host}{said}")
    else:
        claims = [f"has {step.host} by annotation, template or listener"] if step.host else []
        said_here = [*claims, *([step.says] if step.says else [])]
        if said_here:
            yield Line(depth + 1, "detail", ": ".join(said_here))
    yield from _backends(step.backends, depth + 1)
    for problem in step.problems:
        yield Line(depth + 1, "bad", f"problem: {_without(problem, step)}")
    for skipped in step.skipped:
        yield Line(depth + 1, "doubt", f"left out: {_without(skipped, step)}")
    for below in step.leads_to:
        # A route that sends requests where its KIngress wants them need not say so again.
        is_same = set(below.backends) == set(step.backends)
        yield from _step(structs.replace(below, backends=()) if is_same else below, depth + 1)


def _named(ref: Ref) -> str:
    """The object with the kind that people say: two kinds each are called Ingress and Service."""
    text = str(ref)
    if ref.group_kind == KIngress.KIND.group_kind:
        return f"K{text}"
    return f"Knative {text}" if ref.group_kind == KnativeService.KIND.group_kind else text


def _without(why: Why, step: Step) -> str:
    """The reason without its object where that is the one it stands under."""
    text = str(why)
    return text.removeprefix(f"{step.about}: ") if _about(why) == step.about else text


def _conditions(conditions: Sequence[Condition]) -> str:
    """The top condition with its reason, and every other that is not True."""
    shown = [c for c in conditions if c.type in _TOP_CONDITIONS or c.status == "False"]
    return " ".join(f"{c.type}={c.status}{f' ({c.reason})' if c.reason and c.status != 'True' else ''}" for c in shown)


def _backends(backends: Sequence[Backend], depth: int) -> Iterator[Line]:
    for backend in dict.fromkeys(backends):
        where = (backend.path or "/") + "".join(f" with {header}" for header in backend.headers)
        share = f"{backend.percent:g} % to " if backend.percent is not None else "to "
        yield Line(depth, "detail", f"{where}: {share}{backend.service}")


def _told(told: Sequence[Told]) -> Iterator[Line]:
    if told:
        yield Line(0, "title", "Told by gatepost run (it may be mended since)")
    for one in told:
        yield Line(1, "doubt", f"{_ago(one.minutes_ago)}, {_named(one.about)}: {one.message}  [{one.reason}]")


def _ago(minutes: int) -> str:
    if minutes == 0:
        return "less than a minute ago"
    return f"{minutes} minute{'' if minutes == 1 else 's'} ago"


def _answer(answer: DnsAnswer) -> Iterator[Line]:
    name = answer.name + (f" ({answer.set_identifier})" if answer.set_identifier else "")
    if not answer.records:
        yield Line(1, "bad", f"{name}: no record")
    for record in answer.records:
        ttl = f", TTL {record.record_ttl}" if record.record_ttl else ""
        yield Line(1, "object", f"{name}: {record.record_type} {', '.join(record.targets)}{ttl}")
    for claim in answer.claims:
        yield Line(2, "detail" if claim.won else "doubt", _claim(claim, is_alone=len(answer.claims) == 1))
    for problem in answer.problems:
        yield Line(2, "bad", f"problem: {problem}")
    if answer.hold is not None and not any(answer.hold == claim.doubt for claim in answer.claims):
        yield Line(2, "doubt", f"what is published now is kept: {answer.hold}")


def _claim(claim: DnsClaim, *, is_alone: bool) -> str:
    """Who claims the name; since when, where the oldest of several gets it; in full, a doubt is told at its object."""
    since = f", created {claim.since}" if claim.since and not is_alone else ""
    if claim.won:
        return f"has it: {claim.claimant}{since}"
    kept = f"; what is published now is kept ({claim.doubt.reason})" if claim.doubt is not None else ""
    return f"wants it: {claim.claimant}{since}{kept}"


# One object


def object_lines(explanation: ObjectExplanation) -> Iterator[Line]:
    """Its state; what each rule says; what reads it."""
    state = _conditions(explanation.conditions) if explanation.exists else "does not exist"
    tone: Tone = "good" if explanation.is_in_order else "bad"
    yield Line(0, tone, f"{_named(explanation.about)}{f': {state}' if state else ''}")
    if explanation.unreadable is not None:
        yield from why_lines(explanation.unreadable, 1, ())
    if explanation.gone is not None:
        yield from why_lines(explanation.gone, 1, ())
    for condition in explanation.conditions:
        if condition.status != "True" and condition.message:
            yield Line(1, "detail", f"{condition.type}={condition.status}, {condition.reason}: {condition.message}")
    for finding in explanation.findings:
        yield Line(0, "title", f"Rule {finding.rule}{' (stopped before its end)' if finding.blocked else ''}")
        yield from _finding(finding, explanation)
    yield from _told(explanation.told)
    if explanation.read_by:
        yield Line(0, "title", "Read by")
    for reader in explanation.read_by[:_MOST_READERS]:
        yield Line(1, "detail", reader)
    if len(explanation.read_by) > _MOST_READERS:
        yield Line(1, "detail", f"and {len(explanation.read_by) - _MOST_READERS} more; -o json has all of them")


def _finding(finding: Finding, explanation: ObjectExplanation) -> Iterator[Line]:
    if finding.note:
        yield Line(1, "detail", finding.note)
    for problem in finding.problems:
        yield from why_lines(problem, 1, explanation.conditions)
    for skipped in finding.skipped:
        yield Line(1, "doubt", f"left out: {skipped}")
    for write in finding.writes:
        there = "" if write.is_there or write.verb == "delete" else " (not there yet)"
        because = f": {write.cause}" if write.cause else ""
        yield Line(1, "detail", f"wants to {write.verb} {_named(write.about)}{there}{because}")
    if finding.names:
        yield Line(1, "detail", f"claims in DNS: {', '.join(finding.names)}")
    if finding.reads:
        yield Line(1, "detail", f"reads: {', '.join(finding.reads)}")
