"""What the inventory asks of the place where it is written down who owns which record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from gatepost.dns.endpoint import Endpoint, NameKey


class Written(Struct, frozen=True):
    """What is written down about the owner of a record.

    Attributes:
        labels: the owner, and whatever else was noted; empty if several owners contend.
        contested: these owners; the record then counts as nobody's.
        due: why it has to be written anew, "" if it stands where and as we would write it.
    """

    labels: dict[str, str]
    contested: tuple[str, ...] = ()
    due: str = ""


class Ownership(Protocol):
    """Where ownership is written down. It follows the changes that are made."""

    def add(self, record: Endpoint) -> bool:
        """Takes in a listed record if it speaks of ownership. Returns: False for an ordinary one."""
        ...

    def remove(self, record: Endpoint) -> bool:
        """Forgets a listed record that spoke of ownership. Returns: False for an ordinary one."""
        ...

    def forget(self, is_unknown: Callable[[str], bool]) -> None:
        """Drops what was listed about names of which nothing is known any more."""
        ...

    def of(self, key: NameKey, record_type: str, *, is_alias: bool = False) -> Written | None:
        """What is written about a record, whether or not it is there; None if nothing is."""
        ...

    def is_at(self, key: NameKey) -> bool:
        """Whether the TXT record of that name speaks of ownership."""
        ...

    def refusal(self, name: str, record_type: str) -> str | None:
        """Why the ownership of a record cannot be written down, None if it can."""
        ...
