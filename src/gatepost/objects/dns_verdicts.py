"""Whether records are in DNS, held in the store like an object so that reading it is recorded too."""

from __future__ import annotations

from typing import ClassVar

from gatepost.objects.meta import Kind, KubernetesObject
from gatepost.objects.refs import Ref


class DnsVerdict(KubernetesObject, frozen=True, kw_only=True):
    """What became of the records that the DNSEndpoint of the same namespace and name asks for.

    Attributes:
        generation: of which generation of the DNSEndpoint this is true; `metadata.uid` is that of the DNSEndpoint.
        missing: the first of its names that DNS does not hold as asked for, "" if it holds them all.
    """

    KIND: ClassVar = Kind("gatepost", "DnsVerdict", "dnsverdicts", ("v1",))

    generation: int = 0
    missing: str = ""

    def is_about(self, endpoint: KubernetesObject) -> bool:
        """Whether it speaks of this very object as it is now."""
        metadata = endpoint.metadata
        return (metadata.uid, metadata.generation) == (self.metadata.uid, self.generation)


def dns_verdict_ref(endpoint: Ref) -> Ref:
    """Where the verdict on a DNSEndpoint is held."""
    return DnsVerdict.KIND.ref(endpoint.namespace, endpoint.name)
