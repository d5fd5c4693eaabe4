"""httpOption Redirected: plain requests are sent to https, except for those of certificate challenges.

One route on both kinds of listener would redirect to itself without end, so there are two: the main one on the TLS
listeners only, and one that redirects on the plain listeners.
"""

from __future__ import annotations

from msgspec import Struct, structs

from gatepost.configmaps.gateway import GatewayConfig
from gatepost.objects.gatewayapi import HTTPRoute, ListenerSet
from gatepost.objects.meta import is_controlled_by
from gatepost.objects.networking import CLUSTER_LOCAL, KIngress
from gatepost.objects.problems import Skipped
from gatepost.reconcilers.gateway.admission import Place, place_of
from gatepost.reconcilers.gateway.fronts import FRONT
from gatepost.reconcilers.gateway.limits import suffixed
from gatepost.reconcilers.gateway.problems import NO_TLS_TO_REDIRECT_TO, TLS_NOT_READY_TO_REDIRECT_TO
from gatepost.reconcilers.gateway.standing import LISTENER_PLACES, PROGRAMMED_LISTENERS, SET_PROGRAMMED_LISTENERS
from gatepost.reconcilers.gateway.tls import TLS, ListenerWish, listener_set_ref
from gatepost.reconcilers.gateway.wishes import RouteWish
from gatepost.state.view import View
from gatepost.writes.outcome import Outcome

REDIRECTED = "Redirected"
CHALLENGE_PREFIX = "/.well-known/acme-challenge/"


def with_redirect(
    kingress: KIngress, wish: RouteWish, config: GatewayConfig, view: View, out: Outcome
) -> tuple[RouteWish, ...]:
    """The wish alone, or beside the one that redirects to it.

    Until the TLS listeners of all its hosts answer, plain requests are served: a redirect to where nothing answers
    takes the hosts down. Once it is there it stays while the listeners stand, whatever their state: plain text in the
    place of a redirect would be a step back in silence.
    """
    if kingress.spec.http_option != REDIRECTED or wish.visibility == CLUSTER_LOCAL:
        return (wish,)
    name = suffixed(wish.name, "-redirect")
    tls_listeners = _tls_listeners(kingress, wish, view, have_answered=_is_there(kingress, name, view))
    if not tls_listeners:
        out.skipped.append(_why_not_redirected(kingress, wish, view))
        return (wish,)
    plain_listeners = _plain_listeners(kingress, wish, config, view)
    main = structs.replace(
        wish,
        sections=tuple(one.name for one in tls_listeners if not one.in_set),
        sets=tuple((listener_set_ref(kingress, wish.gateway).name, one.name) for one in tls_listeners if one.in_set),
        is_redirected_to=True,
    )
    if not plain_listeners:
        return (main,)
    challenges = tuple(path for path in wish.paths if path.path.startswith(CHALLENGE_PREFIX))
    redirect = structs.replace(
        wish,
        name=name,
        sections=plain_listeners,
        sets=(),
        paths=challenges,
        redirects=True,
        redirect_port=config.entry_for(wish.visibility, kingress.metadata.labels).redirect_port,
    )
    return (main, redirect)


def _why_not_redirected(kingress: KIngress, wish: RouteWish, view: View) -> Skipped:
    """A certificate that is there makes it a matter of time; without one nothing will change."""
    tls = view.value(TLS, kingress.ref)
    secured = {listener.hostname for listener in tls.listeners} if tls is not None else set()
    missing = [host for host in wish.hosts if host not in secured]
    if missing:
        why = f"Redirected is asked for, but spec.tls has no certificate for {', '.join(missing)}"
        reason = NO_TLS_TO_REDIRECT_TO
    else:
        why = "Redirected is asked for, but the TLS listeners do not answer yet"
        reason = TLS_NOT_READY_TO_REDIRECT_TO
    return Skipped(reason, f"{why}; plain requests are served.", kingress.ref, "spec.httpOption")


class _Listener(Struct, frozen=True):
    """A TLS listener that a route can name."""

    name: str
    in_set: bool


def _tls_listeners(kingress: KIngress, wish: RouteWish, view: View, *, have_answered: bool) -> tuple[_Listener, ...]:
    """The TLS listeners of all hosts, () if one of them cannot be relied on."""
    tls = view.value(TLS, kingress.ref)
    if tls is None:
        return ()
    listeners = {listener.hostname: listener for listener in tls.listeners if listener.gateway == wish.gateway}
    found = []
    for host in wish.hosts:
        listener = listeners.get(host)
        place = place_of(tls, listener, view) if listener is not None else None
        if listener is None or not isinstance(place, Place) or not _stands(kingress, listener, place, view):
            return ()
        if not have_answered and not _is_programmed(kingress, listener, place, view):
            return ()
        found.append(_Listener(listener.name, in_set=place is Place.IN_SET))
    return tuple(found)


def _stands(kingress: KIngress, listener: ListenerWish, place: Place, view: View) -> bool:
    if place is Place.ON_GATEWAY:
        return listener.name in view.select(LISTENER_PLACES, (listener.gateway, listener.port, listener.hostname))
    present = view.get(ListenerSet, listener_set_ref(kingress, listener.gateway))
    return present is not None and any(one.name == listener.name for one in present.spec.listeners)


def _is_programmed(kingress: KIngress, listener: ListenerWish, place: Place, view: View) -> bool:
    if place is Place.ON_GATEWAY:
        return bool(view.select(PROGRAMMED_LISTENERS, (listener.gateway, listener.name)))
    holder = listener_set_ref(kingress, listener.gateway)
    return bool(view.select(SET_PROGRAMMED_LISTENERS, (holder, listener.name)))


def _is_there(kingress: KIngress, name: str, view: View) -> bool:
    route = view.named(HTTPRoute, kingress.metadata.namespace, name)
    return route is not None and is_controlled_by(route, kingress)


def _plain_listeners(kingress: KIngress, wish: RouteWish, config: GatewayConfig, view: View) -> tuple[str, ...]:
    entry = config.entry_for(wish.visibility, kingress.metadata.labels)
    if entry.section_name:
        return (entry.section_name,)
    front = view.value(FRONT, entry)
    return tuple(
        name for name, hostname in front.plain_listeners if any(_admits(hostname, host) for host in wish.hosts)
    )


def _admits(listener_hostname: str, host: str) -> bool:
    """Whether a listener takes requests for a host. A wildcard stands for one or more labels."""
    if not listener_hostname or listener_hostname == host:
        return True
    return listener_hostname.startswith("*.") and host.endswith(listener_hostname[1:])
