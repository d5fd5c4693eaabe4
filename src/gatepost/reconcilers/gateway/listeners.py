"""The TLS listeners on a shared Gateway: one rule a Gateway joins the wishes of all its KIngresses.

Two KIngresses thus never fight over the list, and listeners of others, or of KIngresses that are not known here, stay.
"""

from __future__ import annotations

from typing import Any

from gatepost.objects.gatewayapi import Gateway
from gatepost.objects.refs import Ref
from gatepost.reconcilers.gateway.admission import why_refused, wishes_behind
from gatepost.reconcilers.gateway.tls import LISTENER_PREFIX, TLS_BY_GATEWAY, ListenerWish, TLSWish
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
        granted = [listener for listener in wish.listeners if why_refused(wish, listener, view) is None]
        entries[wish.identity] = tuple(_listener(wish, listener) for listener in granted)
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


def _listener(wish: TLSWish, listener: ListenerWish) -> Raw:
    """The listener in its raw form. It lets in routes of the namespace of its KIngress only."""
    secret = {"group": "", "kind": "Secret", "name": listener.secret.name, "namespace": listener.secret.namespace}
    labels = {"kubernetes.io/metadata.name": wish.claim.ref.namespace}
    return {
        "name": listener.name,
        "hostname": listener.hostname,
        "port": listener.port,
        "protocol": "HTTPS",
        "tls": {"mode": "Terminate", "certificateRefs": [secret]},
        "allowedRoutes": {"namespaces": {"from": "Selector", "selector": {"matchLabels": labels}}},
    }


LISTENERS: Rule[Outcome] = Rule("gateway-listeners", reconcile_listeners, rank=10, over=Gateway)
