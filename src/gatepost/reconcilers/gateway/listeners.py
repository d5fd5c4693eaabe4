"""The TLS listeners on a shared Gateway: one rule a Gateway joins the wishes of all its KIngresses.

Two KIngresses thus never fight over the list, and listeners of others, or of KIngresses that are not known here, stay.
"""

from __future__ import annotations

from typing import Any

from gatepost.objects.gatewayapi import Gateway
from gatepost.objects.refs import Ref
from gatepost.reconcilers.gateway.admission import Place, place_of, wishes_behind
from gatepost.reconcilers.gateway.standing import LISTENER_PREFIX
from gatepost.reconcilers.gateway.tls import TLS_BY_GATEWAY, ListenerWish, TLSWish
from gatepost.state.rule import Rule
from gatepost.state.view import View
from gatepost.writes.outcome import Apply, Outcome, OwnEntries

Raw = dict[str, Any]


def reconcile_listeners(ref: Ref, view: View) -> Outcome:
    """The listeners that a Gateway should have for its KIngresses. The list's other entries are not ours."""
    gateway = view.get(Gateway, ref)
    if gateway is None:
        return Outcome.none("gone")
    entries: dict[str, tuple[Raw, ...]] = {
        wish.identity: () for wish in _known_wishes(gateway, view) if wish.problem is None
    }
    for wish in view.select(TLS_BY_GATEWAY, ref):
        granted = [listener for listener in wish.on(ref) if place_of(wish, listener, view) is Place.ON_GATEWAY]
        if granted or wish.identity in entries:
            entries[wish.identity] = tuple(
                listener_fields(listener, {"from": "Selector", "selector": _only(wish)}) for listener in granted
            )
    if not entries:
        return Outcome.none("no KIngress wants a listener on it")
    out = Outcome.of(gateway)
    out.want(_own_listeners(gateway, entries))
    return out


def _known_wishes(gateway: Gateway, view: View) -> list[TLSWish]:
    """The wishes of the KIngresses whose listeners stand on the Gateway now, wherever they are wanted today."""
    return [wish for listener in gateway.spec.listeners for wish in wishes_behind(listener.name, view)]


def _own_listeners(gateway: Gateway, entries: dict[str, tuple[Raw, ...]]) -> Apply:
    metadata = {"name": gateway.metadata.name, "namespace": gateway.metadata.namespace}
    return Apply(
        {"apiVersion": Gateway.KIND.api_version, "kind": Gateway.KIND.kind, "metadata": metadata},
        whole=(),
        entries=tuple(
            OwnEntries("spec.listeners", "name", LISTENER_PREFIX + identity, entries[identity])
            for identity in sorted(entries)
        ),
        may_create=False,
    )


def _only(wish: TLSWish) -> Raw:
    """Routes of the namespace of its KIngress only."""
    return {"matchLabels": {"kubernetes.io/metadata.name": wish.claim.ref.namespace}}


def listener_fields(listener: ListenerWish, namespaces: Raw) -> Raw:
    """The listener in its raw form. Args: namespaces: whose routes it lets in."""
    secret = {"group": "", "kind": "Secret", "name": listener.secret.name, "namespace": listener.secret.namespace}
    return {
        "name": listener.name,
        "hostname": listener.hostname,
        "port": listener.port,
        "protocol": "HTTPS",
        "tls": {"mode": "Terminate", "certificateRefs": [secret]},
        "allowedRoutes": {"namespaces": namespaces},
    }


LISTENERS: Rule[Outcome] = Rule("gateway-listeners", reconcile_listeners, rank=10, over=Gateway)
"""The listeners on Gateways; those in ListenerSets are written with the KIngress that owns the set."""
