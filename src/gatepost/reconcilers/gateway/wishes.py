"""One HTTPRoute to be, before it is put into words."""

from __future__ import annotations

from msgspec import Struct

from gatepost.objects.gatewayapi import ListenerSet, ParentReference
from gatepost.objects.networking import KIngressPath
from gatepost.objects.refs import Ref


class RouteWish(Struct, frozen=True):
    """One HTTPRoute to be: which hosts, on which Gateway, and where their requests go.

    Attributes:
        name: of the HTTPRoute.
        hosts: sorted.
        visibility: of the rule that it is made from.
        paths: with ports as numbers, in the order of the rule.
        version: what a probe gets back.
        gateway: the Gateway that it attaches to.
        namespace: of the KIngress, and of its ListenerSets.
        sections: the listeners of the Gateway that it attaches to, () for all of them.
        sets: listeners in ListenerSets of its namespace that it attaches to as well, by set and section; no section
            is all of the set.
        is_redirected_to: it attaches to TLS listeners only, for another route redirects to it.
        has_request_timeout: whether the Gateway knows `timeouts.request`.
        redirects: whether all that `paths` do not take is sent to https.
        redirect_port: the port that it is sent to, 0 for the one that goes without saying.
    """

    name: str
    hosts: tuple[str, ...]
    visibility: str
    paths: tuple[KIngressPath, ...]
    version: str
    gateway: Ref
    namespace: str = ""
    sections: tuple[str, ...] = ()
    sets: tuple[tuple[str, str], ...] = ()
    is_redirected_to: bool = False
    has_request_timeout: bool = False
    redirects: bool = False
    redirect_port: int = 0

    @property
    def parents(self) -> tuple[ParentReference, ...]:
        """The Gateway, whole or by sections, and the ListenerSets: a Gateway lets no route into those by itself."""
        gateway = self.gateway
        sections = self.sections or (() if self.is_redirected_to else ("",))
        on_gateway = [
            ParentReference(gateway.name, gateway.namespace, gateway.group, gateway.kind, section)
            for section in sections
        ]
        sets = [
            ParentReference(name, self.namespace, ListenerSet.KIND.group, ListenerSet.KIND.kind, section)
            for name, section in self.sets
        ]
        return tuple(on_gateway + sets)
