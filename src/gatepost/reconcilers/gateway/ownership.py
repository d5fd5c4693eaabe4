"""Which KIngresses are ours, and which of several gets a name that only one can have."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from gatepost.objects.meta import KubernetesObject
from gatepost.objects.networking import KIngress
from gatepost.objects.refs import Ref

CLASS_ANNOTATION = "networking.knative.dev/ingress.class"
INGRESS_CLASS = "gateway-api.ingress.networking.knative.dev"
FINALIZER = "ingresses.networking.internal.knative.dev"


class Claim(Struct, frozen=True, order=True):
    """A KIngress that wants something only one can have. The oldest claim sorts first; names settle a tie."""

    since: str
    ref: Ref


def is_ours(kingress: KIngress) -> bool:
    """Whether the class is exactly ours. A KIngress without class, or of another, is never touched."""
    return kingress.metadata.annotations.get(CLASS_ANNOTATION) == INGRESS_CLASS


def claim_of(obj: KubernetesObject) -> Claim:
    return Claim(obj.metadata.creation_timestamp or "", obj.ref)


def holder_among(claims: Iterable[Claim]) -> Ref | None:
    """Whose the contested thing is, None if nobody claims it."""
    first = min(claims, default=None)
    return first.ref if first is not None else None
