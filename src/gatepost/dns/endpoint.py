"""A DNS name with its targets: the value that sources make, the plan compares and providers write."""

from __future__ import annotations

from msgspec import Struct, field

from gatepost.dns.names import record_name

NameKey = tuple[str, str]
"""A canonical name and a set identifier ("" for none): what claims are about and what a record set stands under."""


class Property(Struct, frozen=True, gc=False, order=True):
    """A provider-specific setting of a record, such as `aws/weight`."""

    name: str
    value: str


class EndpointKey(Struct, frozen=True, gc=False, order=True):
    """What makes a record set one: name, type and set identifier ("" where the provider has no weighted sets)."""

    dns_name: str
    record_type: str
    set_identifier: str = ""

    @property
    def name_key(self) -> NameKey:
        """What it has in common with the records of other types under its name; `dns_name` must be canonical."""
        return (self.dns_name, self.set_identifier)


class Endpoint(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """One record set, wanted or present.

    `dns_name` has no final dot; `targets` are in the order in which they are published; `record_ttl` is in seconds,
    0 where nobody set it; `labels` are what the registry keeps (owner, resource); `provider_specific` is sorted.
    Source: the Endpoint of external-dns, whose JSON names it keeps.
    """

    dns_name: str
    record_type: str
    targets: tuple[str, ...] = ()
    record_ttl: int = field(default=0, name="recordTTL")
    set_identifier: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    provider_specific: tuple[Property, ...] = ()

    @property
    def key(self) -> EndpointKey:
        return EndpointKey(self.dns_name, self.record_type, self.set_identifier)

    @property
    def name_key(self) -> NameKey:
        """What it has in common with the records of other types under its name."""
        return (record_name(self.dns_name), self.set_identifier)


class Changes(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """What a provider shall do. `update_old` and `update_new` are paired by position.

    Source: the webhook protocol of external-dns, whose JSON names it keeps.
    """

    create: tuple[Endpoint, ...] = ()
    update_old: tuple[Endpoint, ...] = ()
    update_new: tuple[Endpoint, ...] = ()
    delete: tuple[Endpoint, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.create or self.update_new or self.delete)
