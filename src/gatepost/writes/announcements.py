"""The events that tell what became of a write, to whoever looks at the object that it was done for.

Source: the controllers of Knative, whose users know these reasons and messages.
"""

from __future__ import annotations

from gatepost.objects.refs import Ref
from gatepost.writes.outcome import Apply, Delete, Event, Subject


def applied(apply: Apply, *, is_new: bool) -> list[Event]:
    """What is told when an object was written."""
    if not is_new and not apply.announce_updates:
        return []
    verb = "Created" if is_new else "Updated"
    return _told(apply.announce, "Normal", verb, f"{verb} {_named(apply.ref)}")


def not_applied(apply: Apply, why: str, *, is_new: bool) -> list[Event]:
    """What is told when the server refused it."""
    verb, reason = ("create", "CreationFailed") if is_new else ("update", "UpdateFailed")
    return _told(apply.announce, "Warning", reason, f"Failed to {verb} {_named(apply.ref)}: {why}")


def deleted(delete: Delete) -> list[Event]:
    return _told(delete.announce, "Normal", "Deleted", f"Deleted {_named(delete.ref)}")


def not_deleted(delete: Delete, why: str) -> list[Event]:
    return _told(delete.announce, "Warning", "DeleteFailed", f"Failed to delete {_named(delete.ref)}: {why}")


def no_finalizers(about: Subject | None, ref: Ref, why: str) -> list[Event]:
    return _told(about, "Warning", "FinalizerUpdateFailed", f'Failed to update finalizers for "{ref.name}": {why}')


def no_status(about: Subject | None, ref: Ref, why: str) -> list[Event]:
    return _told(about, "Warning", "UpdateFailed", f'Failed to update status for "{ref.name}": {why}')


def _named(ref: Ref) -> str:
    return f'{ref.kind} "{ref.name}"'


def _told(about: Subject | None, type_: str, reason: str, message: str) -> list[Event]:
    return [Event(about, type_, reason, message)] if about is not None else []
