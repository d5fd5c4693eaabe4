"""How a gradual rollout moves: one percent first, then, once that is served, in equal steps until all has moved."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from msgspec import structs

from gatepost.reconcilers.route.rollout import (
    ConfigurationRollout,
    RevisionPercent,
    Rollout,
    StepParams,
    with_rest,
)

_SECOND_NS = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def nanoseconds(moment: datetime) -> int:
    """The moment as Knative writes it into the state."""
    return (moment - _EPOCH) // timedelta(microseconds=1) * 1000


def moment_of(ns: int) -> datetime:
    """The first moment at which nanoseconds of the state have passed, to the microsecond."""
    return _EPOCH + timedelta(microseconds=-(-ns // 1000))


def observed_ready(rollout: Rollout, now_ns: int, duration_seconds: float) -> Rollout:
    """The state once its first percent has been seen to be served: the steps to come are laid out.

    The time that the first share took is how long a step takes at least.
    """
    return Rollout(tuple(_with_steps(one, now_ns, duration_seconds) for one in rollout.configurations))


def next_state(goal: Rollout, before: Rollout, now_ns: int) -> Rollout:
    """The state to be served now, on the way from the one before to the goal.

    Tags and configurations that are new, or that get one percent at most, are at their goal at once.
    """
    known = {(one.tag, one.configuration_name): one for one in before.configurations if one.revisions}
    return Rollout(
        tuple(
            _stepped(one, known[place], now_ns) if (place := (one.tag, one.configuration_name)) in known else one
            for one in goal.configurations
        )
    )


def _with_steps(one: ConfigurationRollout, now_ns: int, duration_seconds: float) -> ConfigurationRollout:
    params = one.step_params
    if not params.start_ns or params.step_size:
        return one
    first = max(1, math.ceil((now_ns - params.start_ns) / _SECOND_NS))
    total = max(1, duration_seconds - first)
    steps = min(max(1, total / first), max(1, one.percent - 1))
    duration_ns = int(total / steps * _SECOND_NS)
    planned = StepParams(
        start_ns=params.start_ns,
        next_step_ns=now_ns + duration_ns,
        step_duration_ns=duration_ns,
        step_size=max(1, math.floor((one.percent - 1) / steps + 0.5)),
    )
    return structs.replace(one, step_params=planned)


def _stepped(goal: ConfigurationRollout, before: ConfigurationRollout, now_ns: int) -> ConfigurationRollout:
    if goal.percent <= 1:
        return goal
    revisions = _spread_over(before, goal.percent)
    newest = goal.revisions[-1].revision_name
    if revisions[-1].revision_name != newest:
        return with_rest(
            goal,
            revisions=(*_without_one_percent(revisions), RevisionPercent(newest, 1)),
            step_params=StepParams(start_ns=now_ns),
        )
    # A step larger than a share that shrank would make the state senseless, and the next pass would end the rollout.
    params = structs.replace(before.step_params, step_size=min(before.step_params.step_size, goal.percent))
    if len(revisions) > 1 and params.step_size and now_ns >= params.next_step_ns:
        revisions = _moved(revisions, params.step_size)
        params = structs.replace(params, next_step_ns=now_ns + params.step_duration_ns)
    return with_rest(goal, revisions=revisions, step_params=params)


def _spread_over(before: ConfigurationRollout, percent: int) -> tuple[RevisionPercent, ...]:
    """The revisions with another percent in all: more goes to the newest, less is taken from the oldest on."""
    revisions = list(before.revisions)
    revisions[-1] = _more(revisions[-1], max(0, percent - before.percent))
    surplus = max(0, before.percent - percent)
    kept: list[RevisionPercent] = []
    for revision in revisions:
        taken = min(surplus, revision.percent)
        surplus -= taken
        if taken < revision.percent or revision is revisions[-1]:
            kept.append(_more(revision, -taken))
    return tuple(kept)


def _without_one_percent(revisions: tuple[RevisionPercent, ...]) -> tuple[RevisionPercent, ...]:
    """The revisions after the newest with traffic gave one percent; those left with none are gone."""
    result = list(revisions)
    for place in reversed(range(len(result))):
        if result[place].percent:
            result[place] = _more(result[place], -1)
            break
    return tuple(revision for revision in result if revision.percent)


def _moved(revisions: tuple[RevisionPercent, ...], step_size: int) -> tuple[RevisionPercent, ...]:
    """One step: the newest takes from the one before it, and from older ones where that does not suffice."""
    *older, newest = revisions
    left = step_size
    for place in reversed(range(len(older))):
        taken = min(left, older[place].percent)
        older[place] = _more(older[place], -taken)
        left -= taken
    return (*(revision for revision in older if revision.percent), _more(newest, step_size - left))


def _more(revision: RevisionPercent, percent: int) -> RevisionPercent:
    return structs.replace(revision, percent=revision.percent + percent)
