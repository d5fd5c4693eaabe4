"""What asking the data plane itself gave, held in the store like an object so that reading it is recorded too."""

from __future__ import annotations

from typing import ClassVar

from gatepost.objects.meta import Kind, KubernetesObject
from gatepost.objects.refs import Ref


class ProbeVerdict(KubernetesObject, frozen=True, kw_only=True):
    """What came of one probe so far.

    Attributes:
        passed: every address of the gateway serves what is probed for.
        why: why it has not passed yet, without what changes from one attempt to the next.
        is_lasting: waiting alone will not help.
    """

    KIND: ClassVar = Kind("gatepost", "ProbeVerdict", "probeverdicts", ("v1",))

    passed: bool = False
    why: str = ""
    is_lasting: bool = False


def verdict_ref(namespace: str, name: str) -> Ref:
    """Where the verdict of a probe is held."""
    return ProbeVerdict.KIND.ref(namespace, name)
