"""The two rules: how to move a Service of a Route off ExternalName, and how to move it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gatepost.migration.back import steps_back
from gatepost.migration.forward import steps_forward
from gatepost.migration.found import SLICES, found_alone, found_at, route_of
from gatepost.migration.scene import Scene, scene_of
from gatepost.migration.values import Migration, Step
from gatepost.objects.core import Service
from gatepost.objects.problems import Problem, UnreadableObject
from gatepost.objects.refs import Ref
from gatepost.objects.serving import ROUTE_LABEL
from gatepost.reconcilers import route as route_package
from gatepost.reconcilers.route.reconcile import ROUTE
from gatepost.state.rule import Rule
from gatepost.state.store import Index
from gatepost.state.view import View

HAND_OVER_ANNOTATION = "gatepost/hand-over"
"""On a Route, with the value "true": its Services are gatepost's to write, and Knative's controller leaves it alone."""

NOT_HANDED_OVER = "NotHandedOver"
STILL_HANDED_OVER = "StillHandedOver"

Planner = Callable[[Scene, View], tuple[Step, ...] | Problem]


def _plan(ref: Ref, view: View, steps_of: Planner) -> Migration | None:
    service = view.get(Service, ref)
    if service is None or not service.metadata.labels.get(ROUTE_LABEL):
        return None
    if service.metadata.deletion_timestamp is not None:
        return None
    try:
        return _planned(service, view, steps_of)
    except UnreadableObject as stop:
        return Migration(ref, service.metadata.uid, None, found_alone(service), refused=(stop.problem,))


def _planned(service: Service, view: View, steps_of: Planner) -> Migration:
    route = route_of(service, view)
    scene = scene_of(service, route, view)
    steps = steps_of(scene, view) if isinstance(scene, Scene) else scene
    return Migration(
        service=service.ref,
        uid=service.metadata.uid,
        route=route.ref if route is not None else None,
        found=found_at(service, route, view),
        steps=() if isinstance(steps, Problem) else steps,
        refused=(steps,) if isinstance(steps, Problem) else (),
        is_handed_over=route is not None and route.metadata.annotations.get(HAND_OVER_ANNOTATION) == "true",
    )


def _forward(ref: Ref, view: View) -> Migration | None:
    return _plan(ref, view, steps_forward)


def _back(ref: Ref, view: View) -> Migration | None:
    return _plan(ref, view, steps_back)


FORWARD: Rule[Migration | None] = Rule("services-off-external-name", _forward, rank=11, over=Service)
BACK: Rule[Migration | None] = Rule("services-back-to-knative", _back, rank=11, over=Service)

RULES: tuple[Rule[Any], ...] = (*(rule for rule in route_package.RULES if rule is not ROUTE), FORWARD, BACK)
INDEXES: tuple[Index, ...] = (*route_package.INDEXES, SLICES)


def guarded(migration: Migration, *, back: bool, all_handed_over: bool = False) -> Migration:
    """The migration, refused where two controllers would fight over its Service.

    Knative's Route controller would put ExternalName back, by deleting the Service and creating it anew.

    Args:
        all_handed_over: whoever runs this says that Knative's Route controller is off, so that every Route is ours.
    """
    if migration.route is None or not migration.steps:
        return migration
    if back and migration.is_handed_over:
        why = Problem(
            STILL_HANDED_OVER,
            "is still handed over to gatepost, which would make its Services headless again.",
            migration.route,
            f"metadata.annotations[{HAND_OVER_ANNOTATION}]",
            "Take the annotation away first.",
        )
    elif not back and not (migration.is_handed_over or all_handed_over):
        why = Problem(
            NOT_HANDED_OVER,
            "is not handed over to gatepost; Knative's Route controller would undo the change and leave a gap.",
            migration.route,
            f"metadata.annotations[{HAND_OVER_ANNOTATION}]",
            'Switch that controller off and set the annotation to "true", or give --handed-over for all Routes.',
        )
    else:
        return migration
    return Migration(
        migration.service,
        migration.uid,
        migration.route,
        migration.found,
        migration.steps,
        (*migration.refused, why),
        migration.is_handed_over,
    )
