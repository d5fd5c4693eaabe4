"""Which parents a Route asks for, and which of them have said yes.

| spec.parentRefs entry                                     | counts as                                              |
| its status entry (same object, section and port) accepts  | attached                                               |
| its status entry says no, or nothing, or is not there yet | doubtful: publishes nothing, gives up nothing          |
| none of that object accepts, an entry it left still does  | the one it left is attached: the Route is being moved  |

Status entries whose object the spec no longer names play no part.
Source: external-dns (entries are compared by object); gatepost compares the section and port too, so that a section
which the Route left is left in DNS as well.
"""

from __future__ import annotations

from msgspec import Struct

from gatepost.objects.gatewayapi import GROUP, GatewayRoute, ParentReference, RouteParentStatus
from gatepost.objects.meta import Condition
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref

PARENT_KINDS = ("Gateway", "ListenerSet")

_ACCEPTED = "Accepted"


class Attachment(Struct, frozen=True, gc=False):
    """A parent that a Route asks for. `doubt` says why it has not (yet) said yes; None if it has."""

    parent: Ref
    section: str = ""
    port: int = 0
    doubt: Skipped | None = None


def attachments(route: GatewayRoute, ref: Ref, skipped: list[Skipped]) -> tuple[list[Attachment], bool]:
    """The parents of a Route, those that accepted it first; and whether one has yet to answer to its generation.

    Args:
        skipped: gets a line for each parentRef that can have no records.
    """
    asked, entries = route.spec.parent_refs, route.status.parents
    if len(asked) == 1 and len(entries) == 1 and asked[0] == entries[0].parent_ref and asked[0].kind in PARENT_KINDS:
        condition = _accepted_condition(entries[0])
        if condition is not None and condition.status == "True" and asked[0].group == GROUP:
            return [_attachment(asked[0], ref)], _is_older(condition, route)
    return _compared(route, ref, skipped)


def _compared(route: GatewayRoute, ref: Ref, skipped: list[Skipped]) -> tuple[list[Attachment], bool]:
    attached: list[Attachment] = []
    doubtful: list[Attachment] = []
    lagging = False
    if not route.spec.parent_refs:
        skipped.append(Skipped("NoParent", "names no parent", ref, "spec.parentRefs"))
    for parent, asked in _by_object(route, ref, skipped).items():
        entries = [entry for entry in route.status.parents if _object(entry.parent_ref, ref) == parent]
        exact = [entry for entry in entries if _place(entry.parent_ref) in asked]
        accepted: set[tuple[str, int]] = set()
        for entry in exact if any(map(_accepts, exact)) else entries:
            condition = _accepted_condition(entry)
            lagging = lagging or condition is None or _is_older(condition, route)
            if _accepts(entry) and _place(entry.parent_ref) not in accepted:
                accepted.add(_place(entry.parent_ref))
                attached.append(_attachment(entry.parent_ref, ref))
        for place, index in asked.items():
            if place not in accepted:
                answers = [entry for entry in exact if _place(entry.parent_ref) == place]
                lagging = lagging or not answers
                doubtful.append(Attachment(parent, place[0], place[1], _doubt(parent, answers, ref, index)))
    return [*attached, *doubtful], lagging


def _by_object(route: GatewayRoute, ref: Ref, skipped: list[Skipped]) -> dict[Ref, dict[tuple[str, int], int]]:
    """Parent -> (section, port) -> index of the parentRef that asks for it."""
    found: dict[Ref, dict[tuple[str, int], int]] = {}
    for index, parent in enumerate(route.spec.parent_refs):
        if parent.group == GROUP and parent.kind in PARENT_KINDS:
            found.setdefault(_object(parent, ref), {}).setdefault(_place(parent), index)
        else:
            field = f"spec.parentRefs[{index}]"
            skipped.append(Skipped("ParentKind", f"a {parent.kind} has no addresses for DNS", ref, field))
    return found


def _attachment(parent: ParentReference, ref: Ref) -> Attachment:
    return Attachment(_object(parent, ref), parent.section_name, parent.port)


def _object(parent: ParentReference, ref: Ref) -> Ref:
    return Ref(parent.group, parent.kind, parent.namespace or ref.namespace, parent.name)


def _place(parent: ParentReference) -> tuple[str, int]:
    return (parent.section_name, parent.port)


def _accepted_condition(entry: RouteParentStatus) -> Condition | None:
    for condition in entry.conditions:
        if condition.type == _ACCEPTED:
            return condition
    return None


def _accepts(entry: RouteParentStatus) -> bool:
    condition = _accepted_condition(entry)
    return condition is not None and condition.status == "True"


def _is_older(condition: Condition, route: GatewayRoute) -> bool:
    return 0 < condition.observed_generation < route.metadata.generation


def _doubt(parent: Ref, entries: list[RouteParentStatus], ref: Ref, index: int) -> Skipped:
    conditions = [condition for condition in map(_accepted_condition, entries) if condition is not None]
    if not entries:
        found = "has not answered yet"
    elif not conditions:
        found = "gives no condition Accepted"
    else:
        reason = f" ({conditions[0].reason})" if conditions[0].reason else ""
        found = f"says Accepted={conditions[0].status}{reason}"
    return Skipped("NotAccepted", f"spec.parentRefs[{index}]: {parent} {found}, wanted True", ref, "status.parents")
