"""What DNS answered for a name, held in the store like an object so that reading it is recorded too."""

from __future__ import annotations

from typing import ClassVar

from gatepost.objects.meta import Kind, KubernetesObject
from gatepost.objects.refs import Ref


class NameLookup(KubernetesObject, frozen=True, kw_only=True):
    """The last good answer for the name in `metadata.name`.

    Attributes:
        addresses: IPv4 and IPv6 addresses, sorted; empty once the name has been gone for long enough to believe it.
    """

    KIND: ClassVar = Kind("gatepost", "NameLookup", "namelookups", ("v1",), namespaced=False)

    addresses: tuple[str, ...] = ()


def lookup_ref(name: str) -> Ref:
    """Where the answer for a name is held."""
    return NameLookup.KIND.ref("", name)
