"""What one parent offers to the Routes of one kind, and to those of them in one namespace.

Routes share these answers, so that a Route only compares hostnames: protocol, allowed kinds and allowed namespaces are
settled here, once. Where every listener takes Routes of all namespaces, the answer for the kind is all there is.
"""

from __future__ import annotations

from msgspec import Struct, structs

from gatepost.dns.sources.namespaces import ADMITTED, admission
from gatepost.dns.sources.parents import Parent, PreparedListener
from gatepost.dns.sources.terms import NO_TERMS, Terms
from gatepost.objects.gatewayapi import GROUP, RouteNamespaces
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref
from gatepost.state.rule import Rule
from gatepost.state.view import View

OFFERS = "dns offers"
NAMESPACE_OFFERS = "dns offers to a namespace"

FITTING_PROTOCOLS = {
    "HTTPRoute": ("HTTP", "HTTPS"),
    "GRPCRoute": ("HTTP", "HTTPS"),
    "TLSRoute": ("TLS",),
    "TCPRoute": ("TCP", "TLS"),
    "UDPRoute": ("UDP",),
}

OfferKey = tuple[Ref, str]
"""Parent and kind of the Route."""

NamespaceOfferKey = tuple[Ref, str, str]
"""Parent, kind of the Route, namespace of the Route."""


class OpenListener(Struct, frozen=True, gc=False):
    """A listener that takes these Routes.

    Attributes:
        hostname: in canonical form, "" if it takes any.
        no_match: said of a Route none of whose hostnames it has.
        namespaces: which namespaces it takes Routes from; None for all.
        field: its place in the parent.
        doubt: why it does not take them for now.
    """

    name: str
    port: int
    is_last: bool
    hostname: str
    no_match: Skipped
    namespaces: RouteNamespaces | None
    field: str
    doubt: Skipped | None = None


class ClosedListener(Struct, frozen=True, gc=False):
    name: str
    port: int
    is_last: bool
    why: Skipped


class Offer(Struct, frozen=True, gc=False):
    """The listeners of a parent that are open to these Routes, why the others are not, and the terms of the parent.

    `depends_on_namespace`: some listener asks where a Route lives (`NAMESPACE_OFFERS` answers).
    """

    listeners: tuple[OpenListener, ...] = ()
    closed: tuple[ClosedListener, ...] = ()
    terms: Terms = NO_TERMS
    depends_on_namespace: bool = False

    def section(self, name: str, port: int) -> Offer:
        """The part of the offer that a parentRef with a `sectionName` ("" for none) or `port` (0 for none) asks for.

        Of listeners with equal names the last answers to the name, whether it is open or not.
        """
        return structs.replace(
            self,
            listeners=tuple(listener for listener in self.listeners if _is_asked(listener, name, port)),
            closed=tuple(listener for listener in self.closed if _is_asked(listener, name, port)),
        )


def _is_asked(listener: OpenListener | ClosedListener, name: str, port: int) -> bool:
    if port and listener.port != port:
        return False
    return not name or (listener.name == name and listener.is_last)


class OfferRule:
    """Settles what can be said of a parent for all Routes of a kind."""

    def __init__(self, parents: Rule[Parent]) -> None:
        self._parents = parents

    def __call__(self, key: OfferKey, view: View) -> Offer:
        ref, kind = key
        parent = view.value(self._parents, ref)
        if parent.terms.nothing_because is not None:
            return Offer(terms=parent.terms)
        opened: list[OpenListener] = []
        closed: list[ClosedListener] = []
        for listener in parent.listeners:
            why = _refusal(listener, ref, kind)
            if why is not None:
                closed.append(ClosedListener(listener.name, listener.port, listener.is_last, why))
            else:
                opened.append(_open(listener, ref))
        depends_on_namespace = any(listener.namespaces is not None for listener in opened)
        return Offer(tuple(opened), tuple(closed), parent.terms, depends_on_namespace)


class NamespaceOfferRule:
    """Settles which of the listeners take Routes of a namespace."""

    def __init__(self, offers: Rule[Offer]) -> None:
        self._offers = offers

    def __call__(self, key: NamespaceOfferKey, view: View) -> Offer:
        ref, kind, namespace = key
        offer = view.value(self._offers, (ref, kind))
        opened: list[OpenListener] = []
        closed = list(offer.closed)
        for listener in offer.listeners:
            answer = ADMITTED
            if listener.namespaces is not None:
                field = f"{listener.field}.allowedRoutes.namespaces"
                answer = admission(listener.namespaces, ref, field, namespace, view)
            if answer.refused is not None:
                closed.append(ClosedListener(listener.name, listener.port, listener.is_last, answer.refused))
            elif answer.doubt is not None:
                opened.append(structs.replace(listener, doubt=answer.doubt))
            else:
                opened.append(listener)
        if opened == list(offer.listeners):
            return offer  # the same value for many namespaces
        return structs.replace(offer, listeners=tuple(opened), closed=tuple(closed))


def _refusal(listener: PreparedListener, at: Ref, kind: str) -> Skipped | None:
    if listener.hostname is None:
        message = f"hostname of listener {listener.name!r} is none"
        return Skipped("InvalidHostname", message, at, f"{listener.field}.hostname")
    if listener.protocol not in FITTING_PROTOCOLS[kind]:
        wanted = " or ".join(FITTING_PROTOCOLS[kind])
        message = f"listener {listener.name!r} speaks {listener.protocol}, wanted {wanted}"
        return Skipped("ProtocolMismatch", message, at, f"{listener.field}.protocol")
    kinds = listener.routes.kinds
    if kinds and not any(allowed.kind == kind and allowed.group == GROUP for allowed in kinds):
        message = f"listener {listener.name!r} takes no {kind}"
        return Skipped("KindNotAllowed", message, at, f"{listener.field}.allowedRoutes.kinds")
    return None


def _open(listener: PreparedListener, at: Ref) -> OpenListener:
    name = listener.hostname or ""
    wanted = f"listener {listener.name!r} wants hostname {name}, none of the Route meets it"
    message = wanted if name else f"neither listener {listener.name!r} nor the Route has a hostname"
    namespaces = listener.routes.namespaces
    return OpenListener(
        listener.name,
        listener.port,
        listener.is_last,
        name,
        Skipped("NoMatchingListenerHostname", message, at, f"{listener.field}.hostname"),
        None if namespaces.from_ == "All" else namespaces,
        listener.field,
        listener.doubt,
    )
