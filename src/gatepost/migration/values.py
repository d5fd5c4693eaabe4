"""What a migration consists of, as values: what was found, and the steps."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.writes.outcome import Apply, Delete

Form = Literal["ExternalName", "Headless", "Allocated"]
"""How a Service answers in DNS: with a CNAME, with the addresses of its slices, or with a cluster IP of its own."""


class FoundSlice(Struct, frozen=True):
    """A slice of the Service. `is_own` if the Service controls it and gatepost manages it."""

    name: str
    addresses: tuple[str, ...]
    is_own: bool


class FoundEndpoints(Struct, frozen=True):
    """The Endpoints under the Service's name. `is_own` if the Route controls it."""

    addresses: tuple[str, ...]
    is_own: bool


class Found(Struct, frozen=True):
    """A Service as it stands.

    Attributes:
        leads_to: the name or the cluster IP that it answers with, "" if it has none of its own.
        route: the name in its label.
        is_controlled: whether that Route controls it.
        visibility: the label that makes it private, "" if it has none.
    """

    form: Form
    leads_to: str
    route: str
    is_controlled: bool = False
    visibility: str = ""
    endpoints: FoundEndpoints | None = None
    slices: tuple[FoundSlice, ...] = ()


class LaySlice(Struct, frozen=True, tag="lay-slice"):
    """Write a slice. DNS looks at it only once the Service is headless."""

    apply: Apply
    addresses: tuple[str, ...]

    @property
    def on(self) -> Ref:
        return self.apply.ref

    def __str__(self) -> str:
        return f"lay slice {self.on.name} with {', '.join(self.addresses)}"


class CheckSlices(Struct, frozen=True, tag="check-slices"):
    """Read the slices again and go on only if they hold these addresses, ready."""

    on: Ref
    slices: tuple[Ref, ...]
    addresses: tuple[str, ...]

    def __str__(self) -> str:
        names = ", ".join(ref.name for ref in self.slices)
        return f"check that {names} {'holds' if len(self.slices) == 1 else 'hold'} an address"


class TurnService(Struct, frozen=True, tag="turn-service"):
    """One update of the Service, refused by the server if anybody changed it in between.

    Attributes:
        spec: a merge patch of its spec.
        before, after: the forms that it must have before the update and has after it.
        ports_only: it keeps its form.
    """

    on: Ref
    spec: dict[str, Any]
    before: Form
    after: Form
    ports_only: bool = False

    def __str__(self) -> str:
        if self.ports_only:
            return f"set the ports to {', '.join(_port(port) for port in self.spec['ports'])}"
        if self.after == "ExternalName":
            return f"one update to ExternalName {self.spec['externalName']}"
        return "one update to headless" if self.after == "Headless" else "one update to an allocated cluster IP"


class DeleteObject(Struct, frozen=True, tag="delete"):
    """Delete Endpoints or a slice, if it still is the one that was found. Never a Service.

    Attributes:
        form: the form in which the Service answers without the object.
    """

    delete: Delete
    form: Form

    @property
    def on(self) -> Ref:
        return self.delete.ref

    def __str__(self) -> str:
        return f"delete {self.on.kind} {self.on.name}: {self.delete.cause}"


Step = LaySlice | CheckSlices | TurnService | DeleteObject


class Migration(Struct, frozen=True):
    """What a move of one Service takes. While there are refusals, none of the steps may be done.

    Attributes:
        route: None if there is no Route of that name.
    """

    service: Ref
    uid: str
    route: Ref | None
    found: Found
    steps: tuple[Step, ...] = ()
    refused: tuple[Problem, ...] = ()
    is_handed_over: bool = False

    @property
    def is_due(self) -> bool:
        """Whether there is something to do and nothing against it."""
        return bool(self.steps) and not self.refused

    @property
    def is_done(self) -> bool:
        """Whether it stands as wanted already."""
        return not self.steps and not self.refused


def _port(fields: dict[str, Any]) -> str:
    return f"{fields['name']}/{fields['port']}"
