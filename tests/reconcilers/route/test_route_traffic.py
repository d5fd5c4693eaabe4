"""Traffic targets traced to revisions: what is told when that fails, and what is merged where."""

from __future__ import annotations

from typing import Any

import pytest
from knative_objects import Raw, applied, conditions, event_reasons, the
from route_world import configuration, latest, pinned, ready_before, revision, route, route_world, splits_of

FAILED = [{"type": "Ready", "status": "False", "reason": "ImagePull", "message": "no such image"}]
COMING = [{"type": "Ready", "status": "Unknown"}]


@pytest.mark.parametrize(
    ("entry", "found", "condition"),
    [
        (latest("gone"), [], ("False", "ConfigurationMissing")),
        (pinned("gone-00001"), [], ("False", "RevisionMissing")),
        (latest("api"), [configuration("api", "api-00001")], ("False", "RevisionMissing")),
        (latest("api"), [configuration("api")], ("Unknown", "RevisionMissing")),
        (latest("api"), [configuration("api", conditions=COMING)], ("Unknown", "RevisionMissing")),
        (latest("api"), [configuration("api", conditions=FAILED)], ("False", "RevisionMissing")),
        (pinned("web-00009"), [revision("web-00009", conditions=COMING)], ("Unknown", "RevisionMissing")),
        (pinned("web-00009"), [revision("web-00009", conditions=FAILED)], ("False", "RevisionMissing")),
        (pinned("web-00009"), [revision("web-00009", observed=0)], ("Unknown", "RevisionMissing")),
        (pinned("api-00001"), [revision("api-00001")], ("False", "ConfigurationMissing")),
    ],
    ids=[
        "no configuration",
        "no revision",
        "no latest ready revision",
        "never ready",
        "under way",
        "failed",
        "revision under way",
        "revision failed",
        "revision of another generation",
        "revision without its configuration",
    ],
)
def test_target_that_cannot_be_served_is_told_and_leaves_everything(
    entry: Raw, found: list[Raw], condition: tuple[str, str]
) -> None:
    seen = route(entry, status=ready_before())
    outcome = route_world(seen, *found).outcome(seen)
    assert outcome.applies == []
    assert outcome.deletes == []
    assert conditions(outcome)["AllTrafficAssigned"] == condition
    assert conditions(outcome)["Ready"] == condition
    assert conditions(outcome)["IngressReady"] == ("True", "")
    assert event_reasons(outcome) == []
    assert outcome.status["url"] == "http://web.shop.example.com"
    assert "address" not in outcome.status


def test_route_wakes_when_the_missing_revision_appears() -> None:
    seen = route(pinned("web-00009"))
    world = route_world(seen)
    assert applied(world.outcome(seen), "Ingress") is None
    world.put(revision("web-00009"))
    assert splits_of(the(world.outcome(seen), "Ingress")) == [("web-00009", 100)]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["coming", "failed"], "api-00002"),
        (["failed", "coming"], "api-00002"),
        (["failed", "gone"], "gone"),
        (["gone", "failed"], "api-00002"),
        (["coming", "coming2"], "api-00001"),
    ],
)
def test_last_failure_is_told_else_the_first_that_is_not_ready_yet(names: list[str], told: str) -> None:
    targets = {"coming": "api-00001", "failed": "api-00002", "gone": "gone", "coming2": "api-00003"}
    seen = route(*[pinned(targets[name], 50) for name in names])
    found = [
        configuration("api"),
        revision("api-00001", conditions=COMING),
        revision("api-00002", conditions=FAILED),
        revision("api-00003", conditions=COMING),
    ]
    [problem] = route_world(seen, *found).outcome(seen).problems
    assert told in str(problem)


@pytest.mark.parametrize(
    ("observed", "told"), [(0, ("Unknown", "RevisionMissing")), (1, ("False", "ConfigurationMissing"))]
)
def test_configuration_of_a_pinned_revision_is_asked_for_only_once_the_revision_is_ready(
    observed: int, told: tuple[str, str]
) -> None:
    seen = route(pinned("lost-00001"))
    outcome = route_world(seen, revision("lost-00001", observed=observed)).outcome(seen)
    assert conditions(outcome)["AllTrafficAssigned"] == told


@pytest.mark.parametrize(
    ("route_labels", "revision_labels", "is_owned"),
    [
        ({"serving.knative.dev/service": "web"}, {"service": "web"}, True),
        ({"serving.knative.dev/service": "web"}, {"service": "api"}, False),
        ({"serving.knative.dev/service": "web"}, {}, False),
        ({}, {"service": "api"}, True),
    ],
)
def test_route_of_a_service_may_pin_only_revisions_of_that_service(
    route_labels: Raw, revision_labels: Raw, is_owned: bool
) -> None:
    seen = route(pinned("web-00001"), labels=route_labels)
    outcome = route_world(seen, revision("web-00001", **revision_labels)).outcome(seen)
    expected = ("True", "") if is_owned else ("False", "RevisionNotOwned")
    assert conditions(outcome)["AllTrafficAssigned"] == expected


def test_entries_of_one_revision_are_one_split_but_stay_apart_in_the_status() -> None:
    seen = route(latest(percent=30), pinned("web-00002", 20), pinned("web-00001", 25), pinned("web-00001", 25))
    outcome = route_world(seen).outcome(seen)
    assert splits_of(the(outcome, "Ingress")) == [("web-00002", 50), ("web-00001", 50)]
    assert outcome.status["traffic"] == [
        {"revisionName": "web-00002", "percent": 30, "latestRevision": True},
        {"revisionName": "web-00002", "percent": 20, "latestRevision": False},
        {"revisionName": "web-00001", "percent": 50, "latestRevision": False},
    ]


def test_target_left_with_one_revision_gets_everything() -> None:
    seen = route(latest(percent=100), pinned("web-00001", 0, tag="old"))
    ingress = the(route_world(seen).outcome(seen), "Ingress")
    assert splits_of(ingress, rule=0) == [("web-00002", 100)]
    assert splits_of(ingress, rule=2) == [("web-00001", 100)]


H2C = {"name": "h2c", "containerPort": 8080}


@pytest.mark.parametrize(
    ("containers", "port"),
    [
        ([{"ports": [H2C]}], 81),
        ([{"ports": [{"name": "http1", "containerPort": 8080}]}], 80),
        ([{}], 80),
        ([{"name": "side"}, {"ports": [H2C]}], 81),
        ([{"ports": [{"containerPort": 1}]}, {"ports": [H2C]}], 80),
        ([{}, {}], 80),
    ],
    ids=["h2c", "http1", "no ports", "first with ports", "not the second with ports", "none with ports"],
)
def test_port_follows_the_protocol_of_the_serving_container(containers: Any, port: int) -> None:
    seen = route(pinned("web-00001"))
    ingress = the(route_world(seen, revision("web-00001", containers=containers)).outcome(seen), "Ingress")
    [split] = ingress["spec"]["rules"][0]["http"]["paths"][0]["splits"]
    assert split["servicePort"] == port
