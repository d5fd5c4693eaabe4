"""Which state of a gradual rollout a Route is to be in now."""

from __future__ import annotations

import re

from gatepost.objects.meta import is_true
from gatepost.objects.networking import KIngress
from gatepost.objects.serving import Route
from gatepost.reconcilers.route.names import RouteSettings
from gatepost.reconcilers.route.rollout import ROLLOUT_ANNOTATION, Rollout, goal_of, read_annotation
from gatepost.reconcilers.route.rollout_steps import moment_of, nanoseconds, next_state, observed_ready
from gatepost.reconcilers.route.traffic import Traffic
from gatepost.state.view import View

_DURATION_KEYS = ("serving.knative.dev/rollout-duration", "serving.knative.dev/rolloutDuration")

_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_UNIT_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}


def current_rollout(
    route: Route,
    traffic: Traffic,
    ingress: KIngress | None,
    settings: RouteSettings,
    view: View,
    *,
    was_ready: bool,
) -> Rollout:
    """The state to serve now: the goal at once, or a step on the way to it from the state that the KIngress holds.

    Where a later step is planned, the run is stale as soon as it is due.

    Args:
        was_ready: whether IngressReady is True so far in this pass; a new generation has taken it back already.
    """
    goal = goal_of(traffic.targets)
    duration_seconds = rollout_seconds(route, settings)
    if not duration_seconds or ingress is None:
        return goal
    before = read_annotation(ingress.metadata.annotations.get(ROLLOUT_ANNOTATION))
    now_ns = nanoseconds(view.now())
    if _is_ready(ingress) and not was_ready:
        before = observed_ready(before, now_ns, duration_seconds)
    state = next_state(goal, before, now_ns)
    if state.next_step_ns is not None:
        view.has_passed(moment_of(state.next_step_ns))
    return state


def rollout_seconds(route: Route, settings: RouteSettings) -> int:
    """How long a rollout takes, 0 for none: by the Route's annotation, else by config-network.

    An annotation of 0 turns rollouts off for the Route; Knative takes it for an absent one, so that no Route can get
    out of a default. One that is no duration of whole seconds counts as absent: admission would refuse it.
    """
    annotations = route.metadata.annotations
    text = next((annotations[key] for key in _DURATION_KEYS if key in annotations), None)
    seconds = go_duration_seconds(text) if text is not None else None
    return settings.network.rollout_duration_seconds if seconds is None or seconds % 1 else int(seconds)


def go_duration_seconds(text: str) -> float | None:
    """The seconds in a duration as Go writes it ("1m30s"), None if it is none. Source: Go time.ParseDuration."""
    text = text.removeprefix("+")
    if text == "0":
        return 0
    parts = list(_PART.finditer(text))
    if not parts or "".join(part.group() for part in parts) != text:
        return None
    return sum(float(part.group(1)) * _UNIT_SECONDS[part.group(2)] for part in parts)


def _is_ready(ingress: KIngress) -> bool:
    is_observed = ingress.metadata.generation == ingress.status.observed_generation
    return is_observed and is_true(ingress.status.conditions, "Ready")
