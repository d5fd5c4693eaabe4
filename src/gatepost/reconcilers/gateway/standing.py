"""What stands on Gateways and in ListenerSets now: their TLS listeners, whose they are, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gatepost.objects.gatewayapi import Gateway, ListenerSet, ListenerStatus
from gatepost.objects.meta import is_true
from gatepost.objects.networking import KINGRESS_LABEL
from gatepost.objects.refs import Ref
from gatepost.state.store import Index

LISTENER_PREFIX = "kni-"


def _listener_places(gateway: Gateway) -> Iterable[tuple[Any, str]]:
    for listener in gateway.spec.listeners:
        if listener.protocol == "HTTPS":
            yield (gateway.ref, listener.port, listener.hostname), listener.name


LISTENER_PLACES = Index("gateway-https-listeners", Gateway, _listener_places)
"""(Gateway, port, hostname) -> the name of the HTTPS listener that stands there."""


def _trouble(holder: Ref, listeners: Iterable[ListenerStatus]) -> Iterable[tuple[Any, str]]:
    for listener in listeners:
        if listener.name.startswith(LISTENER_PREFIX):
            for condition in listener.conditions:
                if condition.type in ("Accepted", "ResolvedRefs", "Programmed") and condition.status == "False":
                    trouble = f"{condition.type} is False ({condition.reason}) {condition.message}".rstrip(". ")
                    yield (holder, listener.name), trouble


LISTENER_TROUBLE = Index(
    "gateway-listener-trouble", Gateway, lambda gateway: _trouble(gateway.ref, gateway.status.listeners)
)
"""(Gateway, listener) -> what its controller says against one of our listeners."""

SET_LISTENER_TROUBLE = Index(
    "listener-set-trouble", ListenerSet, lambda listeners: _trouble(listeners.ref, listeners.status.listeners)
)
"""The same for listeners of a ListenerSet."""


def _programmed(holder: Ref, listeners: Iterable[ListenerStatus]) -> Iterable[tuple[Any, None]]:
    for listener in listeners:
        if listener.name.startswith(LISTENER_PREFIX) and is_true(listener.conditions, "Programmed"):
            yield (holder, listener.name), None


PROGRAMMED_LISTENERS = Index(
    "gateway-programmed-listeners", Gateway, lambda gateway: _programmed(gateway.ref, gateway.status.listeners)
)
"""(Gateway, listener) -> not empty if its controller says that the listener answers."""

SET_PROGRAMMED_LISTENERS = Index(
    "listener-set-programmed", ListenerSet, lambda listeners: _programmed(listeners.ref, listeners.status.listeners)
)
"""The same for listeners of a ListenerSet."""

REPORTING_GATEWAYS = Index(
    "gateways-that-report-listeners",
    Gateway,
    lambda gateway: [(gateway.ref, None)] if gateway.status.listeners else [],
)
"""Gateway -> not empty if its controller says anything of listeners, so that silence about one means something."""


def _listeners_of_identity(gateway: Gateway) -> Iterable[tuple[Any, Ref]]:
    identities = {name for listener in gateway.spec.listeners for name in identities_in(listener.name)}
    for identity in identities:
        yield identity, gateway.ref


GATEWAYS_BY_IDENTITY = Index("gateways-by-kingress-identity", Gateway, _listeners_of_identity)
"""Identity of a KIngress -> the Gateways that have a listener of it."""


def _certificates(gateway: Gateway) -> Iterable[tuple[Any, str]]:
    for listener in gateway.spec.listeners:
        for certificate in listener.tls.certificate_refs:
            namespace = certificate.namespace or gateway.metadata.namespace
            yield (gateway.metadata.namespace, namespace, certificate.name), listener.name


CERTIFICATES_IN_USE = Index("gateway-certificates", Gateway, _certificates)
"""(namespace of a Gateway, namespace and name of a Secret) -> the listeners there that end TLS with it."""


def _sets_of_kingress(listeners: ListenerSet) -> Iterable[tuple[Any, Ref]]:
    name = listeners.metadata.labels.get(KINGRESS_LABEL)
    if name is not None:
        yield (listeners.metadata.namespace, name), listeners.ref


SETS_OF_KINGRESS = Index("listener-sets-of-kingress", ListenerSet, _sets_of_kingress)
"""(namespace, value of the label for a KIngress) -> the ListenerSets that carry it, whoever owns them."""


def identities_in(listener_name: str) -> tuple[str, ...]:
    """The identities that a listener's name can stand for; () if it is none of ours."""
    if not listener_name.startswith(LISTENER_PREFIX):
        return ()
    rest = listener_name.removeprefix(LISTENER_PREFIX)
    return tuple(dict.fromkeys((rest, rest.rpartition("-")[0] or rest)))
