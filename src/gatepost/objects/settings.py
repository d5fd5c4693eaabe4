"""Settings of the process that rules read, held in the store like an object so that reading one is recorded too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Protocol

from gatepost.objects.meta import Kind, KubernetesObject, ObjectMeta
from gatepost.objects.refs import Ref


class Settings(KubernetesObject, frozen=True, kw_only=True):
    """What a cluster's surroundings decide.

    Attributes:
        cluster_domain: the DNS suffix of Services.
        system_namespace: where Knative's ConfigMaps lie.
        loopback_gateways: whether a gateway may have a loopback address, as it has where all of the cluster is one
            machine. In a real cluster such an address leads every client to itself.
        probe: whether somebody asks the data plane itself what it serves (see `objects.probes`).
    """

    KIND: ClassVar = Kind("gatepost", "Settings", "settings", ("v1",), namespaced=False)

    metadata: ObjectMeta = ObjectMeta(name="settings")
    cluster_domain: str = "cluster.local"
    system_namespace: str = "knative-serving"
    loopback_gateways: bool = False
    probe: bool = False


SETTINGS_REF: Ref = Settings().ref


class Sees(Protocol):
    """As far as a View is needed here."""

    def get(self, type_: type[Settings], ref: Ref) -> Settings | None: ...


def settings_in(view: Sees) -> Settings:
    """The settings that a rule is to go by: one more recorded read."""
    return view.get(Settings, SETTINGS_REF) or Settings()


def settings_among(objects: Iterable[KubernetesObject]) -> Settings:
    """The settings among objects that are put into a store; their defaults if there are none."""
    return next((obj for obj in objects if isinstance(obj, Settings)), Settings())
