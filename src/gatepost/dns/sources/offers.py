"""What one parent offers to the Routes of one kind and namespace.

Routes of a namespace share this answer, so that a Route only compares hostnames: protocol, allowed kinds and allowed
namespaces are settled here, once.
"""

from __future__ import annotations

from msgspec import Struct

from gatepost.dns.endpoint import Property
from gatepost.dns.records import Records
from gatepost.dns.sources.namespaces import ADMITTED, Admission, admission
from gatepost.dns.sources.parents import Parent, PreparedListener
from gatepost.objects.gatewayapi import GROUP
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref
from gatepost.state.rule import Rule
from gatepost.state.view import View

OFFERS = "dns offers"

FITTING_PROTOCOLS = {
    "HTTPRoute": ("HTTP", "HTTPS"),
    "GRPCRoute": ("HTTP", "HTTPS"),
    "TLSRoute": ("TLS",),
    "TCPRoute": ("TCP", "TLS"),
    "UDPRoute": ("UDP",),
}

OfferKey = tuple[Ref, str, str]
"""Parent, kind of the Route, namespace of the Route."""


class OpenListener(Struct, frozen=True, gc=False):
    """A listener that takes these Routes.

    Attributes:
        suffix: what names under its wildcard end with, `.example.com`; "" if its hostname is no wildcard.
        no_match: said of a Route none of whose hostnames it has.
        doubt: why it does not take them for now.
    """

    name: str
    port: int
    is_last: bool
    hostname: str
    suffix: str
    no_match: Skipped
    doubt: Skipped | None = None


class ClosedListener(Struct, frozen=True, gc=False):
    name: str
    port: int
    is_last: bool
    why: Skipped


class Offer(Struct, frozen=True, gc=False):
    """The listeners of a parent that are open to these Routes, and why the others are not. See `Parent` for more."""

    listeners: tuple[OpenListener, ...] = ()
    closed: tuple[ClosedListener, ...] = ()
    records: Records = ()
    ttl: int = 0
    properties: tuple[Property, ...] = ()
    refused: Skipped | None = None
    doubt: Skipped | None = None
    no_targets: Skipped | None = None

    def section(self, name: str, port: int) -> Offer:
        """The part of the offer that a parentRef with a `sectionName` ("" for none) or `port` (0 for none) asks for.

        Of listeners with equal names the last answers to the name, whether it is open or not.
        """
        return Offer(
            tuple(listener for listener in self.listeners if _is_asked(listener, name, port)),
            tuple(listener for listener in self.closed if _is_asked(listener, name, port)),
            self.records,
            self.ttl,
            self.properties,
            self.refused,
            self.doubt,
            self.no_targets,
        )


def _is_asked(listener: OpenListener | ClosedListener, name: str, port: int) -> bool:
    if port and listener.port != port:
        return False
    return not name or (listener.name == name and listener.is_last)


class OfferRule:
    """Settles what can be said without a single Route."""

    def __init__(self, parents: Rule[Parent]) -> None:
        self._parents = parents

    def __call__(self, key: OfferKey, view: View) -> Offer:
        ref, kind, namespace = key
        parent = view.value(self._parents, ref)
        if parent.refused is not None:
            return Offer(refused=parent.refused)
        opened: list[OpenListener] = []
        closed: list[ClosedListener] = []
        for listener in parent.listeners:
            answer = _answer(listener, parent.ref, kind, namespace, view)
            if answer.refused is not None:
                closed.append(ClosedListener(listener.name, listener.port, listener.is_last, answer.refused))
            else:
                opened.append(_open(listener, ref, answer.doubt or listener.doubt))
        return Offer(
            tuple(opened),
            tuple(closed),
            parent.records,
            parent.ttl,
            parent.properties,
            None,
            parent.doubt,
            parent.no_targets,
        )


def _answer(listener: PreparedListener, at: Ref, kind: str, namespace: str, view: View) -> Admission:
    if listener.hostname is None:
        why = Skipped(
            "InvalidHostname", f"hostname of listener {listener.name!r} is none", at, f"{listener.field}.hostname"
        )
        return Admission(refused=why)
    if listener.protocol not in FITTING_PROTOCOLS[kind]:
        message = (
            f"listener {listener.name!r} speaks {listener.protocol}, wanted {' or '.join(FITTING_PROTOCOLS[kind])}"
        )
        return Admission(refused=Skipped("ProtocolMismatch", message, at, f"{listener.field}.protocol"))
    kinds = listener.routes.kinds
    if kinds and not any(allowed.kind == kind and allowed.group == GROUP for allowed in kinds):
        message = f"listener {listener.name!r} takes no {kind}"
        return Admission(refused=Skipped("KindNotAllowed", message, at, f"{listener.field}.allowedRoutes.kinds"))
    if listener.routes.namespaces.from_ == "All":
        return ADMITTED
    return admission(listener.routes.namespaces, at, f"{listener.field}.allowedRoutes.namespaces", namespace, view)


def _open(listener: PreparedListener, at: Ref, doubt: Skipped | None) -> OpenListener:
    name = listener.hostname or ""
    wanted = f"hostname {name}" if name else "a hostname"
    return OpenListener(
        listener.name,
        listener.port,
        listener.is_last,
        name,
        name[1:] if name.startswith("*") else "",
        Skipped(
            "NoMatchingListenerHostname",
            f"listener {listener.name!r} wants {wanted}, none of the Route meets it",
            at,
            f"{listener.field}.hostname",
        ),
        doubt,
    )
