"""Where the listeners that KIngresses wish for a Gateway go: onto it, into a ListenerSet, or nowhere.

A Gateway takes one a port and hostname, and 64 in all.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gatepost.objects.gatewayapi import Gateway
from gatepost.objects.problems import Problem
from gatepost.objects.refs import Ref
from gatepost.reconcilers.gateway.ownership import holder_among
from gatepost.reconcilers.gateway.problems import HOSTNAME_CONFLICT, NO_ROOM
from gatepost.reconcilers.gateway.standing import LISTENER_PLACES, identities_in
from gatepost.reconcilers.gateway.tls import TLS_BY_GATEWAY, TLS_BY_IDENTITY, TLS_CLAIMS, ListenerWish, TLSWish
from gatepost.state.rule import Rule
from gatepost.state.view import View

LISTENERS_PER_GATEWAY = 64


class Place(Enum):
    """Where a listener that can be had stands."""

    ON_GATEWAY = "on the Gateway"
    IN_SET = "in a ListenerSet"


def place_of(wish: TLSWish, listener: ListenerWish, view: View) -> Place | Problem:
    """Where a wished listener goes, or why it is refused."""
    conflict = _why_place_is_taken(wish, listener, view)
    if conflict is not None:
        return conflict
    if listener.in_set:
        return Place.IN_SET
    if listener.name not in view.value(OVERFLOW, listener.gateway).names:
        return Place.ON_GATEWAY
    if listener.may_be_in_set:
        return Place.IN_SET
    message = f"{listener.gateway} has no room for a listener for {listener.hostname}: it can have 64."
    hint = "Use a certificate for several hosts, another Gateway, or let it take ListenerSets (spec.allowedListeners)."
    return Problem(NO_ROOM, message, wish.claim.ref, "spec.tls", hint)


def _why_place_is_taken(wish: TLSWish, listener: ListenerWish, view: View) -> Problem | None:
    """The oldest KIngress gets a place, unless a listener stands there that we may not move."""
    place = (listener.gateway, listener.port, listener.hostname)
    holder = holder_among(view.select(TLS_CLAIMS, place))
    if holder != wish.claim.ref:
        return _conflict(wish, listener, f"{holder} claimed it before")
    for name in view.select(LISTENER_PLACES, place):
        if not may_move(name, view):
            return _conflict(wish, listener, f'listener "{name}" has it')
    return None


def may_move(listener_name: str, view: View) -> bool:
    """Whether a listener is that of a KIngress whose wish we know: any other listener stays as it is."""
    return any(wish.problem is None for wish in wishes_behind(listener_name, view))


def wishes_behind(listener_name: str, view: View) -> list[TLSWish]:
    """The wishes of the KIngress that a listener is named after; none if we do not know it."""
    return [wish for identity in identities_in(listener_name) for wish in view.select(TLS_BY_IDENTITY, identity)]


class Overflow(Struct, frozen=True):
    """The wished listeners of a Gateway that find no room on it."""

    names: frozenset[str] = frozenset()


def overflow_of(ref: Ref, view: View) -> Overflow:
    """The newest wishes beyond the limit. One listener too many would make the API refuse them all.

    A value of its own: as long as there is room for all, what one KIngress wishes is no other's business.
    """
    gateway = view.get(Gateway, ref)
    if gateway is None:
        return Overflow()
    room = LISTENERS_PER_GATEWAY - sum(not may_move(listener.name, view) for listener in gateway.spec.listeners)
    wishes = sorted(view.select(TLS_BY_GATEWAY, ref), key=lambda wish: wish.claim)
    names = [
        listener.name
        for wish in wishes
        for listener in wish.on(ref)
        if _why_place_is_taken(wish, listener, view) is None
    ]
    return Overflow(frozenset(names[max(room, 0) :]))


def _conflict(wish: TLSWish, listener: ListenerWish, holder: str) -> Problem:
    return Problem(
        HOSTNAME_CONFLICT,
        f"{listener.hostname} cannot have a TLS listener on port {listener.port} of {listener.gateway}: {holder}.",
        wish.claim.ref,
        "spec.tls",
        "Remove the host from one of them.",
    )


OVERFLOW: Rule[Overflow] = Rule("gateway-listener-overflow", overflow_of, rank=6)
