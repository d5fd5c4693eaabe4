"""Gradual rollouts: their state, their steps, and what a Route says while one runs. All numbers are worked by hand."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from knative_objects import START, Raw, conditions, network, the
from route_world import configuration, latest, own_ingress, pinned, revision, route, route_world, splits_of

from gatepost.reconcilers.route.gradual import go_duration_seconds
from gatepost.reconcilers.route.rollout import Rollout, annotation_text, read_annotation
from gatepost.reconcilers.route.rollout_steps import moment_of, nanoseconds, next_state, observed_ready

SECOND = 1_000_000_000
NOW = 1_767_225_600 * SECOND  # 2026-01-01T00:00:00Z


def state(*revisions: tuple[str, int], tag: str = "", name: str = "web", **params: Any) -> Raw:
    """One configuration in a state: its revisions from old to new with their percents."""
    tagged = {"tag": tag} if tag else {}
    return {
        "configurationName": name,
        **tagged,
        "percent": sum(percent for _, percent in revisions),
        "revisions": [{"revisionName": revision, "percent": percent} for revision, percent in revisions],
        "stepParams": params,
    }


def rollout(*configurations: Raw) -> Rollout:
    found = read_annotation(json.dumps({"configurations": list(configurations)}))
    assert len(found.configurations) == len(configurations)
    return found


def spread(found: Rollout) -> list[tuple[str, int]]:
    [one] = found.configurations
    return [(revision.revision_name, revision.percent) for revision in one.revisions]


def test_start_of_the_tests_is_the_moment_that_the_numbers_are_made_for() -> None:
    assert nanoseconds(START) == NOW
    assert moment_of(NOW + 1) == START + timedelta(microseconds=1)


def test_state_is_written_in_the_order_of_knative_with_step_params_always() -> None:
    text = (
        '{"configurations":[{"configurationName":"web","tag":"old","percent":100,'
        '"revisions":[{"revisionName":"a","percent":99},{"revisionName":"b","percent":1}],'
        '"stepParams":{"starttime":1,"nextStepTime":2,"stepDuration":3,"stepSize":4}}]}'
    )
    assert annotation_text(read_annotation(text)) == text
    assert annotation_text(Rollout()) == "{}"


@pytest.mark.parametrize(
    "broken",
    [
        "{not json",
        '{"configurations":[{"configurationName":"web"}]}',
        json.dumps({"configurations": [state(("a", 101))]}),
        json.dumps({"configurations": [{**state(("a", 60), ("b", 40)), "percent": 90}]}),
        json.dumps({"configurations": [state(("a", 60), stepSize=61)]}),
        json.dumps({"configurations": [state(("a", 60), stepSize=-1)]}),
        json.dumps({"configurations": [state(("a", 110), ("b", -10))]}),
        json.dumps({"configurations": [state(("a", 60)), state(("b", 101), name="api")]}),
    ],
)
def test_state_that_makes_no_sense_is_none(broken: str) -> None:
    assert read_annotation(broken) == Rollout()


def test_new_revision_gets_one_percent_from_the_newest_with_traffic() -> None:
    after = next_state(rollout(state(("c", 100))), rollout(state(("a", 70), ("b", 30))), NOW)
    assert spread(after) == [("a", 70), ("b", 29), ("c", 1)]
    assert after.configurations[0].step_params.start_ns == NOW
    assert after.next_step_ns is None


def test_revision_that_gave_its_last_percent_is_gone() -> None:
    after = next_state(rollout(state(("c", 100))), rollout(state(("a", 99), ("b", 1))), NOW)
    assert spread(after) == [("a", 99), ("c", 1)]


@pytest.mark.parametrize(
    ("percent", "expected"),
    [
        (100, [("a", 20), ("b", 50), ("c", 30)]),
        (80, [("a", 20), ("b", 50), ("c", 10)]),
        (65, [("a", 5), ("b", 50), ("c", 10)]),
        (60, [("b", 50), ("c", 10)]),
        (50, [("b", 40), ("c", 10)]),
        (10, [("c", 10)]),
        (5, [("c", 5)]),
        (1, [("c", 1)]),
    ],
    ids=[
        "more",
        "same",
        "less",
        "just the oldest gone",
        "oldest gone",
        "newest left",
        "newest shrinks",
        "one percent at once",
    ],
)
def test_share_that_changes_gives_to_the_newest_or_takes_from_the_oldest(
    percent: int, expected: list[tuple[str, int]]
) -> None:
    before = rollout(state(("a", 20), ("b", 50), ("c", 10)))
    assert spread(next_state(rollout(state(("c", percent))), before, NOW)) == expected


def test_rollout_goes_on_in_a_share_that_became_smaller_than_its_step() -> None:
    params: Raw = {"starttime": 1, "nextStepTime": NOW + 1, "stepDuration": 7 * SECOND, "stepSize": 40}
    goal = rollout(state(("b", 30)))
    after = next_state(goal, rollout(state(("a", 70), ("b", 10), **params)), NOW)
    assert spread(after) == [("a", 20), ("b", 10)]
    assert read_annotation(annotation_text(after)) == after
    assert spread(next_state(goal, after, NOW)) == [("a", 20), ("b", 10)]
    assert spread(next_state(goal, after, NOW + 1)) == [("b", 30)]


def test_rollout_that_a_smaller_share_ends_keeps_no_step_params() -> None:
    before = rollout(state(("a", 60), ("b", 40), starttime=1, nextStepTime=2, stepDuration=3, stepSize=4))
    [after] = next_state(rollout(state(("b", 30))), before, NOW).configurations
    assert annotation_text(Rollout((after,))) == json.dumps(
        {"configurations": [state(("b", 30))]}, separators=(",", ":")
    )


@pytest.mark.parametrize(
    ("due", "step_size", "expected"),
    [
        (NOW, 10, [("a", 60), ("b", 20), ("c", 20)]),
        (NOW, 30, [("a", 60), ("c", 40)]),
        (NOW, 40, [("a", 50), ("c", 50)]),
        (NOW, 90, [("c", 100)]),
        (NOW + 1, 10, [("a", 60), ("b", 30), ("c", 10)]),
        (NOW, 0, [("a", 60), ("b", 30), ("c", 10)]),
    ],
    ids=["one step", "newest but one is used up", "older ones too", "all", "not due yet", "no step planned"],
)
def test_step_moves_from_the_newest_but_one_backwards(
    due: int, step_size: int, expected: list[tuple[str, int]]
) -> None:
    params: Raw = {"starttime": 1, "nextStepTime": due, "stepDuration": 7 * SECOND, "stepSize": step_size}
    after = next_state(rollout(state(("c", 100))), rollout(state(("a", 60), ("b", 30), ("c", 10), **params)), NOW)
    assert spread(after) == expected
    if due == NOW and 0 < step_size < 90:
        assert after.next_step_ns == NOW + 7 * SECOND
    if step_size == 90:
        assert after.configurations[0].step_params.start_ns == 0


def test_new_configuration_or_tag_is_at_its_goal_at_once() -> None:
    goal = rollout(state(("c", 60)), state(("x", 40), name="api"), state(("c", 100), tag="next"))
    after = next_state(goal, rollout(state(("c", 60))), NOW)
    assert after == goal


@pytest.mark.parametrize(
    ("duration", "started_before", "percent", "size", "step_seconds"),
    [
        (120, 5.2, 100, 5, 6.0),  # first 6 s, 114 s left, 19 steps of 99/19 = 5.2
        (10, 1, 100, 11, 1.0),  # 9 s left, 9 steps of 11
        (600, 1, 100, 1, 599 / 99),  # 599 would fit, but there are 99 percents
        (10, 60, 100, 99, 1.0),  # late: one step in the one second that is always left
        (120, 0, 2, 1, 119.0),  # one percent left to move: one step
    ],
)
def test_steps_are_laid_out_from_the_time_that_the_first_percent_took(
    duration: float, started_before: float, percent: int, size: int, step_seconds: float
) -> None:
    start = NOW - int(started_before * SECOND)
    before = rollout(state(("a", percent - 1), ("b", 1), starttime=start))
    [after] = observed_ready(before, NOW, duration).configurations
    assert after.step_params.step_size == size
    assert after.step_params.step_duration_ns == int(step_seconds * SECOND)
    assert after.step_params.next_step_ns == NOW + int(step_seconds * SECOND)


def test_steps_that_are_laid_out_already_stay() -> None:
    before = rollout(state(("a", 90), ("b", 10), starttime=1, nextStepTime=2, stepDuration=3, stepSize=4))
    assert observed_ready(before, NOW, 120) == before


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120s", 120),
        ("2m", 120),
        ("1m30s", 90),
        ("1.5h", 5400),
        ("0", 0),
        ("0s", 0),
        ("500ms", 0.5),
        ("120", None),
        ("s", None),
    ],
)
def test_duration_is_read_as_go_writes_it(text: str, seconds: float | None) -> None:
    assert go_duration_seconds(text) == seconds


GRADUAL = {"serving.knative.dev/rollout-duration": "120s"}
READY: dict[str, Any] = {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]}


def test_route_tells_the_split_of_a_rollout_that_runs() -> None:
    seen = route(annotations=GRADUAL)
    found = own_ingress(seen, rollout={"configurations": [state(("web-00001", 100))]}, **READY)
    outcome = route_world(seen, found).outcome(seen)
    assert splits_of(the(outcome, "Ingress")) == [("web-00001", 99), ("web-00002", 1)]
    assert conditions(outcome)["IngressReady"] == ("Unknown", "RolloutInProgress")
    assert conditions(outcome)["AllTrafficAssigned"] == ("True", "")
    assert outcome.status["traffic"] == [
        {"revisionName": "web-00001", "percent": 99, "latestRevision": True},
        {"revisionName": "web-00002", "percent": 1, "latestRevision": True},
    ]


@pytest.mark.parametrize(
    ("configured", "annotations", "rolls"),
    [
        ("0", {}, False),
        ("120", {}, True),
        ("120", {"serving.knative.dev/rollout-duration": "0s"}, False),
        ("0", {"serving.knative.dev/rolloutDuration": "60s"}, True),
        ("120", {"serving.knative.dev/rollout-duration": "soon"}, True),
        ("120", {"serving.knative.dev/rollout-duration": "500ms"}, True),
        ("0", {"serving.knative.dev/rollout-duration": "500ms"}, False),
    ],
)
def test_annotation_decides_on_the_duration_before_the_config(configured: str, annotations: Raw, rolls: bool) -> None:
    seen = route(annotations=annotations)
    found = own_ingress(seen, rollout={"configurations": [state(("web-00001", 100))]})
    outcome = route_world(network(rollout_duration=configured), seen, found).outcome(seen)
    assert (len(splits_of(the(outcome, "Ingress"))) == 2) is rolls


def test_pinned_revisions_do_not_roll() -> None:
    seen = route(pinned("web-00002"), annotations=GRADUAL)
    found = own_ingress(seen, rollout={"configurations": [state(("web-00001", 100))]})
    ingress = the(route_world(seen, found).outcome(seen), "Ingress")
    assert splits_of(ingress) == [("web-00002", 100)]
    assert ingress["metadata"]["annotations"]["networking.internal.knative.dev/rollout"] == "{}"


def test_rollout_moves_on_when_its_next_step_is_due_and_not_before() -> None:
    seen = route(annotations=GRADUAL)
    params: Raw = {"starttime": NOW - SECOND, "nextStepTime": NOW + 5 * SECOND, "stepDuration": SECOND, "stepSize": 50}
    found = own_ingress(seen, rollout={"configurations": [state(("web-00001", 99), ("web-00002", 1), **params)]})
    world = route_world(seen, found)
    assert world.engine.next_moment() == START + timedelta(seconds=5)
    world.engine.advance(START + timedelta(seconds=4))
    world.engine.run_stale()
    assert splits_of(the(world.outcome(seen), "Ingress")) == [("web-00001", 99), ("web-00002", 1)]
    world.engine.advance(START + timedelta(seconds=5))
    world.engine.run_stale()
    assert splits_of(the(world.outcome(seen), "Ingress")) == [("web-00001", 49), ("web-00002", 51)]


def test_tag_hosts_of_the_configuration_roll_too() -> None:
    seen = route(latest(), latest(percent=0, tag="next"), annotations=GRADUAL)
    before = {"configurations": [state(("web-00001", 100)), state(("web-00001", 100), tag="next")]}
    ingress = the(route_world(seen, own_ingress(seen, rollout=before)).outcome(seen), "Ingress")
    assert splits_of(ingress, rule=2) == [("web-00001", 99), ("web-00002", 1)]


def test_each_configuration_rolls_in_its_own_share() -> None:
    seen = route(latest(percent=70), latest("api", 30), annotations=GRADUAL)
    before = {"configurations": [state(("api-00001", 30), name="api"), state(("web-00001", 70))]}
    found = [configuration("api", "api-00001"), revision("api-00001"), own_ingress(seen, rollout=before)]
    ingress = the(route_world(seen, *found).outcome(seen), "Ingress")
    assert splits_of(ingress) == [("web-00001", 69), ("web-00002", 1), ("api-00001", 30)]
