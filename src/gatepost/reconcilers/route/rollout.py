"""The state of gradual rollouts, kept in an annotation of the KIngress in Knative's own format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct, field, structs

from gatepost.reconcilers.route.traffic import MAIN, RevisionShare

ROLLOUT_ANNOTATION = "networking.internal.knative.dev/rollout"


class RevisionPercent(Struct, frozen=True, rename="camel"):
    """A revision and its part of what the configuration gets."""

    revision_name: str
    percent: int


class StepParams(Struct, frozen=True, omit_defaults=True):
    """When and how far a rollout moves on. Times and durations are in nanoseconds, as Knative writes them.

    Attributes:
        start_ns: when the newest revision appeared; 0 while no rollout runs.
        step_size: percent to move in each step; 0 until the first share has been seen to be ready.
    """

    start_ns: int = field(default=0, name="starttime")
    next_step_ns: int = field(default=0, name="nextStepTime")
    step_duration_ns: int = field(default=0, name="stepDuration")
    step_size: int = field(default=0, name="stepSize")


class ConfigurationRollout(Struct, frozen=True, rename="camel"):
    """How the share of one configuration, under one tag, is spread over its revisions, from old to new."""

    configuration_name: str
    percent: int
    revisions: tuple[RevisionPercent, ...]
    tag: str = MAIN
    step_params: StepParams = StepParams()

    @property
    def is_running(self) -> bool:
        return len(self.revisions) > 1

    @property
    def is_sound(self) -> bool:
        """Whether a state that was read can be gone on from."""
        return (
            0 <= self.percent <= 100
            and all(0 <= revision.percent <= 100 for revision in self.revisions)
            and sum(revision.percent for revision in self.revisions) == self.percent
            and 0 <= self.step_params.step_size <= self.percent
        )


class Rollout(Struct, frozen=True):
    """The state of all configurations, sorted by tag and name."""

    configurations: tuple[ConfigurationRollout, ...] = ()

    @property
    def is_running(self) -> bool:
        return any(configuration.is_running for configuration in self.configurations)

    @property
    def next_step_ns(self) -> int | None:
        """When the next step of any configuration is due, None if none is planned."""
        moments = [c.step_params.next_step_ns for c in self.configurations if c.is_running]
        return min((moment for moment in moments if moment), default=None)

    def revisions_of(self, tag: str, configuration_name: str) -> tuple[RevisionPercent, ...]:
        """The spread of a configuration under a tag; empty if it gets nothing there."""
        for configuration in self.configurations:
            if (configuration.tag, configuration.configuration_name) == (tag, configuration_name):
                return configuration.revisions
        return ()


def goal_of(targets: Mapping[str, tuple[RevisionShare, ...]]) -> Rollout:
    """The state in which each configuration has given all to its latest revision. Pinned revisions never roll."""
    configurations = [
        ConfigurationRollout(
            configuration_name=share.configuration_name,
            percent=share.percent,
            revisions=(RevisionPercent(share.revision_name, share.percent),),
            tag=tag,
        )
        for tag, shares in targets.items()
        for share in shares
        if share.latest_revision and share.percent
    ]
    return Rollout(tuple(sorted(configurations, key=lambda one: (one.tag, one.configuration_name))))


def annotation_text(rollout: Rollout) -> str:
    """The annotation that holds a state: compact JSON with its keys in Knative's order."""
    if not rollout.configurations:
        return "{}"
    written = [_written(configuration) for configuration in rollout.configurations]
    return msgspec.json.encode({"configurations": written}).decode()


def read_annotation(text: str | None) -> Rollout:
    """The state in an annotation. What is absent, unreadable or makes no sense counts as no state at all."""
    if not text:
        return Rollout()
    try:
        rollout = msgspec.json.decode(text.encode(), type=Rollout)
    except msgspec.MsgspecError:
        return Rollout()
    return rollout if all(configuration.is_sound for configuration in rollout.configurations) else Rollout()


def _written(configuration: ConfigurationRollout) -> dict[str, Any]:
    tag = {"tag": configuration.tag} if configuration.tag else {}
    return {
        "configurationName": configuration.configuration_name,
        **tag,
        "percent": configuration.percent,
        "revisions": msgspec.to_builtins(configuration.revisions),
        "stepParams": msgspec.to_builtins(configuration.step_params),
    }


def with_rest(configuration: ConfigurationRollout, **changes: Any) -> ConfigurationRollout:
    """The configuration with other values; a rollout that is over keeps no step parameters."""
    changed = structs.replace(configuration, **changes)
    return changed if changed.is_running else structs.replace(changed, step_params=StepParams())
