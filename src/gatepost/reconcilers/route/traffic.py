"""From `spec.traffic` to the revisions that serve it, for the Route as a whole and for each tag."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import UNSET, Struct, structs

from gatepost.objects.meta import Condition, condition_of
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.objects.serving import Configuration, Revision, Route, TrafficTarget
from gatepost.reconcilers.route.conditions import CONFIGURATION_MISSING, REVISION_MISSING, REVISION_NOT_OWNED
from gatepost.state.view import View

SERVICE_LABEL = "serving.knative.dev/service"
CONFIGURATION_LABEL = "serving.knative.dev/configuration"

MAIN = ""
"""The tag of the target that serves the Route's own hosts."""

H2C = "h2c"


class RevisionShare(Struct, frozen=True):
    """A traffic target that has been traced to its revision. `configuration_name` is "" where the revision has none."""

    tag: str
    revision_name: str
    configuration_name: str
    latest_revision: bool
    percent: int
    is_h2c: bool = False


class Traffic(Struct, frozen=True):
    """Where the requests of a Route go.

    Attributes:
        entries: one for each entry of `spec.traffic`, in its order.
        targets: tag -> the shares behind its hosts, one for each revision; MAIN has those of all entries.
    """

    entries: tuple[RevisionShare, ...]
    targets: dict[str, tuple[RevisionShare, ...]]


class Unassigned(Struct, frozen=True):
    """Why a traffic target cannot be served. `is_failure` False means that it may just not be ready yet."""

    problem: Problem
    is_failure: bool = True


def resolve_traffic(route: Route, view: View) -> Traffic | Unassigned:
    """The revisions behind every entry, or the one reason why not all of them can be served.

    All entries are looked at. The last failure is told; without one, the first entry that is not ready yet.
    Source: knative/serving pkg/reconciler/route/traffic.
    """
    shares: list[RevisionShare] = []
    told: Unassigned | None = None
    for number, entry in enumerate(route.spec.traffic):
        found = _trace(route, number, entry, view)
        if isinstance(found, RevisionShare):
            shares.append(found)
        elif found.is_failure or told is None:
            told = found
    if told is not None:
        return told
    by_tag: dict[str, list[RevisionShare]] = {MAIN: list(shares)}
    for share in shares:
        if share.tag:
            by_tag.setdefault(share.tag, []).append(share)
    return Traffic(tuple(shares), {tag: _one_per_revision(by_tag[tag]) for tag in sorted(by_tag)})


def merged_for_status(entries: Iterable[RevisionShare]) -> tuple[RevisionShare, ...]:
    """The entries as the status tells them: those that differ in nothing but their percent are one."""
    merged: dict[tuple[str, str, bool], RevisionShare] = {}
    for entry in entries:
        key = (entry.tag, entry.revision_name, entry.latest_revision)
        before = merged.get(key)
        merged[key] = entry if before is None else structs.replace(before, percent=before.percent + entry.percent)
    return tuple(merged.values())


def _one_per_revision(shares: list[RevisionShare]) -> tuple[RevisionShare, ...]:
    """One share for each revision, percents added, the other fields from its first; a lone one has everything."""
    merged: dict[str, RevisionShare] = {}
    for share in shares:
        before = merged.get(share.revision_name)
        merged[share.revision_name] = (
            share if before is None else structs.replace(before, percent=before.percent + share.percent)
        )
    if len(merged) == 1:
        return tuple(structs.replace(share, percent=100) for share in merged.values())
    return tuple(merged.values())


def _trace(route: Route, number: int, entry: TrafficTarget, view: View) -> RevisionShare | Unassigned:
    at = f"spec.traffic[{number}]"
    if entry.revision_name:
        return _pinned(route, at, entry, view)
    return _latest(route, at, entry, view)


def _pinned(route: Route, at: str, entry: TrafficTarget, view: View) -> RevisionShare | Unassigned:
    namespace = route.metadata.namespace
    revision = view.named(Revision, namespace, entry.revision_name)
    if revision is None:
        return _missing(REVISION_MISSING, route, f"{at}.revisionName", f"Revision {entry.revision_name!r}")
    service = route.metadata.labels.get(SERVICE_LABEL)
    if service and revision.metadata.labels.get(SERVICE_LABEL) != service:
        return Unassigned(
            Problem(
                REVISION_NOT_OWNED,
                f"{revision.ref} does not belong to Service {service!r}.",
                route.ref,
                f"{at}.revisionName",
                "Name a revision of that Service.",
            )
        )
    configuration = revision.metadata.labels.get(CONFIGURATION_LABEL, "")
    share = _ready_share(entry, revision, configuration)
    if isinstance(share, Unassigned) or not configuration:
        return share
    if view.named(Configuration, namespace, configuration) is None:
        what = f"Configuration {configuration!r} of {revision.ref}"
        return _missing(CONFIGURATION_MISSING, route, f"{at}.revisionName", what)
    return share


def _latest(route: Route, at: str, entry: TrafficTarget, view: View) -> RevisionShare | Unassigned:
    namespace, field = route.metadata.namespace, f"{at}.configurationName"
    configuration = view.named(Configuration, namespace, entry.configuration_name)
    if configuration is None:
        return _missing(CONFIGURATION_MISSING, route, field, f"Configuration {entry.configuration_name!r}")
    name = configuration.status.latest_ready_revision_name
    if not name:
        return _not_ready(configuration.ref, configuration.status.conditions, "has no ready revision")
    revision = view.named(Revision, namespace, name)
    if revision is None:
        return _missing(REVISION_MISSING, route, field, f"Revision {name!r}, the latest ready one,")
    return _ready_share(entry, revision, entry.configuration_name)


def _ready_share(entry: TrafficTarget, revision: Revision, configuration: str) -> RevisionShare | Unassigned:
    ready = condition_of(revision.status.conditions, "Ready")
    is_observed = revision.metadata.generation == revision.status.observed_generation
    if ready is None or ready.status != "True" or not is_observed:
        return _not_ready(revision.ref, revision.status.conditions, "is not ready")
    return RevisionShare(
        tag=entry.tag,
        revision_name=revision.metadata.name,
        configuration_name=configuration,
        latest_revision=not entry.revision_name if entry.latest_revision is UNSET else entry.latest_revision,
        percent=0 if entry.percent is UNSET else entry.percent,
        is_h2c=_is_h2c(revision),
    )


def _is_h2c(revision: Revision) -> bool:
    """Whether the serving container speaks HTTP/2 in clear text: the only container, or the first that has ports."""
    containers = revision.spec.containers
    serving = containers[0] if len(containers) == 1 else next((one for one in containers if one.ports), None)
    return serving is not None and bool(serving.ports) and serving.ports[0].name == H2C


def _missing(reason: str, route: Route, field: str, what: str) -> Unassigned:
    message = f"{what} does not exist in namespace {route.metadata.namespace!r}."
    return Unassigned(Problem(reason, message, route.ref, field, "Create it, or send the traffic elsewhere."))


def _not_ready(at: Ref, conditions: tuple[Condition, ...], what: str) -> Unassigned:
    """A target that failed is a failure; one that is merely under way is waited for."""
    ready = condition_of(conditions, "Ready")
    failed = ready is not None and ready.status == "False"
    why = f" ({ready.reason}: {ready.message})" if ready is not None and failed and ready.reason else ""
    hint = "Look at its conditions." if failed else "The Route waits for it."
    return Unassigned(Problem(REVISION_MISSING, f"{what}{why}.", at, "status.conditions", hint), failed)
