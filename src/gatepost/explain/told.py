"""What `gatepost run` told about objects: it knows the DNS provider and its zones, which an explanation does not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import structs

from gatepost.dns.claims import CLAIMS
from gatepost.explain.names import hosts_of
from gatepost.explain.values import Explanation, ObjectExplanation, Told
from gatepost.explain.way import all_steps
from gatepost.objects.refs import Ref
from gatepost.state.engine import Engine

_WORD = re.compile(r"[\w*.-]+")


def objects_in(explanation: Explanation | ObjectExplanation) -> tuple[Ref, ...]:
    """The objects that an explanation speaks of, on which there may be warnings; sorted."""
    if isinstance(explanation, ObjectExplanation):
        return (explanation.about,) if explanation.exists else ()
    on_the_way = {step.about for step in all_steps(explanation.way) if step.exists}
    return tuple(sorted(on_the_way | {claim.claimant for answer in explanation.dns for claim in answer.claims}))


def with_hostname_told(explanation: Explanation, told: Iterable[Told], engine: Engine) -> Explanation:
    """The explanation with those warnings that may concern its name, and that it does not give itself.

    The verdict stays: a warning speaks of the past, and what it warned of may be mended.
    """
    ours = {explanation.name, *(answer.name for answer in explanation.dns)}
    ours |= {step.host for step in all_steps(explanation.way)}
    concerned = (one for one in told if not _names_another(one, ours, engine))
    return structs.replace(explanation, told=_news(concerned, _said(explanation)))


def with_object_told(explanation: ObjectExplanation, told: Iterable[Told]) -> ObjectExplanation:
    """The explanation with those warnings that it does not give itself."""
    said = (problem.message for finding in explanation.findings for problem in finding.problems)
    return structs.replace(explanation, told=_news(told, said))


def _news(told: Iterable[Told], said: Iterable[str]) -> tuple[Told, ...]:
    """Those that say something new, the latest first."""
    known = tuple(said)
    news = [one for one in told if not any(message in one.message for message in known)]
    return tuple(sorted(news, key=lambda one: (one.minutes_ago, one.about, one.reason, one.message)))


def _said(explanation: Explanation) -> Iterator[str]:
    yield from (why.message for why in explanation.reasons)
    yield from (problem.message for step in all_steps(explanation.way) for problem in step.problems)
    yield from (problem.message for answer in explanation.dns for problem in answer.problems)


def _names_another(told: Told, ours: set[str], engine: Engine) -> bool:
    """Whether a warning is about other hostnames of its object alone."""
    obj = engine.store.get(told.about)
    if obj is None:
        return False
    claims = next((rule for rule in engine.rules if rule.name == CLAIMS), None)
    named = {host.name for host in hosts_of(engine, told.about, obj, claims)} & set(_WORD.findall(told.message))
    return bool(named) and not named & ours
