"""The values between objects and endpoints: a claimant, its claim on a name, and the record set that a name gets."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from gatepost.dns.endpoint import Endpoint, NameKey, Property
from gatepost.objects.problems import Problem, Skipped
from gatepost.objects.refs import Ref

RESOURCE = "resource"
OWNER = "owner"

_CRD = "DNSEndpoint"
_NOT_YET_CREATED = "9999"


class Claimant(Struct, frozen=True, gc=False):
    """The object behind a claim. `created` is "" for an object of a manifest that no cluster has seen yet."""

    created: str
    ref: Ref

    @property
    def age(self) -> tuple[str, str, str]:
        """Sorts the oldest first: creation, then namespace/name, then kind. What is not created yet is youngest.

        Source: Gateway API, the precedence between routes.
        """
        return (self.created or _NOT_YET_CREATED, f"{self.ref.namespace}/{self.ref.name}", self.ref.kind)

    @property
    def resource(self) -> str:
        """The `resource` label that the registry keeps, `httproute/shop/cart`."""
        kind = "crd" if self.ref.kind == _CRD else self.ref.kind.lower()
        return f"{kind}/{self.ref.namespace}/{self.ref.name}"


class Record(Struct, frozen=True, gc=False):
    """The targets of one record type, with the settings that go with them.

    Attributes:
        targets: sorted, each once.
        ttl: in seconds, 0 where nobody set it.
        properties: sorted by name, each name once.
        labels: labels that a DNSEndpoint gives beside ours.
        claimant: the object it comes from, where that is not the first claimant of its record set.
    """

    type: str
    targets: tuple[str, ...]
    ttl: int = 0
    properties: tuple[Property, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    claimant: Claimant | None = None


Records = tuple[Record, ...]


class Claim(Struct, frozen=True, gc=False):
    """One object that wants one canonical name under one set identifier.

    `records` is the whole wish over all its parents. `doubt` says what is incomplete about it: with no records the
    claim is not alive and only holds what is already published; with some, more may be missing.
    """

    name: str
    set_identifier: str
    records: Records
    claimant: Claimant
    doubt: Skipped | None = None

    @property
    def key(self) -> NameKey:
        return (self.name, self.set_identifier)


class Claims(Struct, frozen=True, gc=False):
    """What one object claims, and every parent, listener and hostname of it that gave nothing.

    `lagging`: why no name of it is given up yet: its controller has not answered to its newest generation, or something
    that it rests on cannot be read. `unserved`: names that stand on it and are among no claim; `skipped` says why.
    """

    claims: tuple[Claim, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    lagging: Skipped | None = None
    unserved: tuple[str, ...] = ()


class Reverse(Struct, frozen=True, gc=False):
    """A wish that an address point back to a name: one entry of the PTR record under `reverse_name`."""

    reverse_name: str
    name: str
    ttl: int
    claimant: Claimant


class RecordSet(Struct, frozen=True, gc=False):
    """What one name is to hold under one set identifier.

    Attributes:
        records: at most one of each type; no CNAME beside others.
        claimants: whose claims agree on it, the oldest first.
        problems: claims that lost, and parts that cannot be published.
        hold: why what is published now must not be taken away; None if the wish is complete.
        notes: what the settings keep from being published.
        reverse: the PTR entries that it asks for.
    """

    name: str
    set_identifier: str
    records: Records = ()
    claimants: tuple[Claimant, ...] = ()
    problems: tuple[Problem, ...] = ()
    hold: Skipped | None = None
    notes: tuple[Skipped, ...] = ()
    reverse: tuple[Reverse, ...] = ()

    @property
    def key(self) -> NameKey:
        return (self.name, self.set_identifier)

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """The record set as providers see it, sorted by type."""
        return tuple(self._endpoint(record) for record in sorted(self.records, key=lambda record: record.type))

    def _endpoint(self, record: Record) -> Endpoint:
        claimant = record.claimant or (self.claimants[0] if self.claimants else None)
        labels = dict(record.labels)
        if claimant is not None:
            labels[RESOURCE] = claimant.resource
        return Endpoint(
            self.name, record.type, record.targets, record.ttl, self.set_identifier, labels, record.properties
        )


def first_set(settings: Iterable[tuple[Property, ...]]) -> tuple[Property, ...]:
    """Properties by name, each from the first of the given lists that has it; sorted by name."""
    merged: dict[str, Property] = {}
    for properties in settings:
        for property_ in properties:
            merged.setdefault(property_.name, property_)
    return tuple(merged[name] for name in sorted(merged))
