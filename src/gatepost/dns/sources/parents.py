"""A Gateway or ListenerSet as the Routes under it see it: listeners, records and defaults, prepared once.

Thousands of Routes hang on one Gateway. They read values made from this one rather than the Gateway, so that a change
that matters to none of them (a condition, `attachedRoutes`) wakes none of them.
"""

from __future__ import annotations

from msgspec import UNSET, Struct

from gatepost.dns.annotations import ONLY_FOR_ROUTES, Wishes
from gatepost.dns.names import hostname, is_address
from gatepost.dns.records import Records, first_set
from gatepost.dns.settings import DnsSettings
from gatepost.dns.sources.filters import Filters, against_controller
from gatepost.dns.sources.namespaces import Admission, admission
from gatepost.dns.sources.terms import NO_TERMS, Terms
from gatepost.dns.targets import records_for, with_settings
from gatepost.objects.gatewayapi import (
    GROUP,
    AllowedRoutes,
    Gateway,
    GatewayAddress,
    Listener,
    ListenerSet,
    ListenerStatus,
)
from gatepost.objects.meta import condition_of, is_true
from gatepost.objects.problems import Skipped, UnreadableObject
from gatepost.objects.refs import Ref
from gatepost.objects.unserved import UnservedKind, skipped_as_unserved, unserved_ref
from gatepost.state.view import View

PARENTS = "dns parents"

_ACCEPTED = "Accepted"


class PreparedListener(Struct, frozen=True):
    """A listener with its hostname in canonical form ("" if unset, None if it is no hostname) and its place.

    `is_last` marks the one of several equal names that answers to a `sectionName`; `doubt` is what its status lacks.
    """

    name: str
    port: int
    protocol: str
    hostname: str | None
    routes: AllowedRoutes
    field: str
    is_last: bool
    doubt: Skipped | None = None


class Parent(Struct, frozen=True):
    """What a Gateway or ListenerSet offers to Routes.

    Attributes:
        created: its creation timestamp, for claims of its own.
        remarks: what is written on it and has no effect.
    """

    ref: Ref
    terms: Terms = NO_TERMS
    listeners: tuple[PreparedListener, ...] = ()
    created: str = ""
    remarks: tuple[Skipped, ...] = ()


class ParentRule:
    """Prepares Gateways and ListenerSets; the key is a Ref of either."""

    def __init__(self, settings: DnsSettings, filters: Filters) -> None:
        self._settings = settings
        self._filters = filters

    def __call__(self, ref: Ref, view: View) -> Parent:
        try:
            return self._gateway(ref, view) if ref.kind == Gateway.KIND.kind else self._listener_set(ref, view)
        except UnreadableObject as error:
            return Parent(ref, Terms(unreadable=error.problem.as_skipped()))

    def _gateway(self, ref: Ref, view: View) -> Parent:
        gateway = view.get(Gateway, ref)
        if gateway is None:
            return _absent(ref, view)
        wishes = self._filters.reader.read(gateway.metadata.annotations)
        refused = self._filters.against_gateway(ref, gateway, wishes)
        if refused is not None:
            return Parent(ref, Terms(refused=refused))
        remarks = list(wishes.remarks(ref, ONLY_FOR_ROUTES))
        targets = wishes.dns_targets or _usable(gateway.status.addresses, ref, remarks)
        records = records_for(targets, self._filters.reach)
        remarks += self._dropped(targets, records, ref)
        terms = Terms(
            with_settings(records, wishes.ttl, wishes.properties),
            wishes.ttl,
            wishes.properties,
            no_targets=None if targets else _no_address(gateway.status.addresses, ref),
        )
        created = gateway.metadata.creation_timestamp or ""
        return Parent(ref, terms, _prepared(gateway.spec.listeners, ref), created, tuple(remarks))

    def _listener_set(self, ref: Ref, view: View) -> Parent:
        if not self._settings.gateway_listener_sets:
            why = Skipped("ListenerSetsNotRead", "is read with --gateway-listener-sets only", ref)
            return Parent(ref, Terms(refused=why))
        listener_set = view.get(ListenerSet, ref)
        if listener_set is None:
            return _absent(ref, view)
        wishes = self._filters.reader.read(listener_set.metadata.annotations)
        parent_ref = listener_set.spec.parent_ref
        if (parent_ref.group, parent_ref.kind) != (GROUP, Gateway.KIND.kind):
            message = f"is attached to a {parent_ref.kind}, wanted a Gateway"
            return Parent(ref, Terms(refused=Skipped("ParentKind", message, ref, "spec.parentRef")))
        gateway_ref = Gateway.KIND.ref(parent_ref.namespace or ref.namespace, parent_ref.name)
        gateway = self._gateway(gateway_ref, view)
        if gateway.terms.unreadable is not None:
            return Parent(ref, Terms(unreadable=gateway.terms.unreadable))
        refused = against_controller(ref, wishes) or gateway.terms.refused
        if refused is not None:
            return Parent(ref, Terms(refused=refused))
        allowed = _allows_set(gateway_ref, ref, view)
        if allowed.refused is not None:
            return Parent(ref, Terms(refused=allowed.refused))
        return self._attached_set(ref, listener_set, wishes, gateway, allowed.doubt)

    def _attached_set(
        self, ref: Ref, listener_set: ListenerSet, wishes: Wishes, gateway: Parent, doubt: Skipped | None
    ) -> Parent:
        """A ListenerSet with what it has from its Gateway; its own annotations come first."""
        remarks = [*wishes.remarks(ref, ONLY_FOR_ROUTES), *gateway.remarks]
        above = gateway.terms
        ttl = wishes.ttl or above.ttl
        properties = first_set((wishes.properties, above.properties))
        own = records_for(wishes.dns_targets, self._filters.reach)
        remarks += self._dropped(wishes.dns_targets, own, ref)
        terms = Terms(
            with_settings(own if wishes.dns_targets else above.records, ttl, properties),
            ttl,
            properties,
            doubt=doubt or _not_accepted(listener_set, ref),
            no_targets=None if wishes.dns_targets else above.no_targets,
        )
        listeners = _prepared(listener_set.spec.listeners, ref, listener_set.status.listeners)
        return Parent(ref, terms, listeners, listener_set.metadata.creation_timestamp or "", tuple(remarks))

    def _dropped(self, targets: tuple[str, ...], records: Records, ref: Ref) -> list[Skipped]:
        """The targets that make no record: a name holds addresses, each once, or one other name."""
        kept = {target for record in records for target in record.targets}
        dropped: list[Skipped] = []
        for target in sorted(set(targets) - kept):
            if records_for([target], self._filters.reach):
                message = f"{target!r} is left out: a name holds addresses, each once, or one other name"
                dropped.append(Skipped("OneName", message, ref))
            else:
                message = f"{target!r} does not pass {self._filters.of_targets}"
                dropped.append(Skipped("OutOfReach", message, ref))
        return dropped


def _absent(ref: Ref, view: View) -> Parent:
    """A parent that is not there: a fact only where the cluster serves its kind."""
    if view.get(UnservedKind, unserved_ref(ref.group_kind)) is not None:
        return Parent(ref, Terms(unreadable=skipped_as_unserved(ref)))
    return Parent(ref, Terms(refused=Skipped("NoSuchParent", "does not exist", ref)))


def _prepared(
    listeners: tuple[Listener, ...], ref: Ref, statuses: tuple[ListenerStatus, ...] | None = None
) -> tuple[PreparedListener, ...]:
    """The listeners; with `statuses` (of a ListenerSet) those that are not accepted there carry a doubt."""
    last = {listener.name: index for index, listener in enumerate(listeners)}
    return tuple(
        PreparedListener(
            listener.name,
            listener.port,
            listener.protocol,
            hostname(listener.hostname) if listener.hostname else "",
            listener.allowed_routes,
            f"spec.listeners[{index}]",
            last[listener.name] == index,
            None if statuses is None else _listener_doubt(listener.name, statuses, ref),
        )
        for index, listener in enumerate(listeners)
    )


def _listener_doubt(name: str, statuses: tuple[ListenerStatus, ...], ref: Ref) -> Skipped | None:
    if any(status.name == name and is_true(status.conditions, _ACCEPTED) for status in statuses):
        return None
    return Skipped("ListenerNotAccepted", f"listener {name!r} is not accepted", ref, "status.listeners")


def _not_accepted(listener_set: ListenerSet, ref: Ref) -> Skipped | None:
    condition = condition_of(listener_set.status.conditions, _ACCEPTED)
    if condition is not None and condition.status == "True":
        return None
    found = "is missing" if condition is None else f"is {condition.status} ({condition.reason})"
    return Skipped("ListenerSetNotAccepted", f"condition Accepted {found}, wanted True", ref, "status.conditions")


def _allows_set(gateway_ref: Ref, ref: Ref, view: View) -> Admission:
    gateway = view.get(Gateway, gateway_ref)
    if gateway is None:
        return Admission(refused=Skipped("NoSuchParent", "does not exist", gateway_ref))
    namespaces = gateway.spec.allowed_listeners.namespaces
    return admission(namespaces, gateway_ref, "spec.allowedListeners.namespaces", ref.namespace, view)


def _no_address(addresses: tuple[GatewayAddress, ...], ref: Ref) -> Skipped:
    """Said of a Gateway none of whose addresses is usable; the remarks of `_usable` tell about each."""
    message = "has no address that is an IP address or a hostname" if addresses else "has no address yet"
    return Skipped("NoAddress", message, ref, "status.addresses")


def _usable(addresses: tuple[GatewayAddress, ...], ref: Ref, remarks: list[Skipped]) -> tuple[str, ...]:
    """The addresses that DNS can answer with: IP addresses and hostnames; without a type, what the value is counts.

    Source: Gateway API, AddressType; values of other types mean something to one vendor only.
    """
    usable: list[str] = []
    for index, address in enumerate(addresses):
        field = f"status.addresses[{index}]"
        value = address.value.removesuffix(".")
        if address.type is not UNSET and address.type not in ("IPAddress", "Hostname"):
            remarks.append(Skipped("AddressType", f"type {address.type} is no DNS target", ref, field + ".type"))
        elif is_address(value) or hostname(value) is not None:
            usable.append(value)
        else:
            remarks.append(
                Skipped("InvalidAddress", f"{value!r} is neither an IP address nor a hostname", ref, field + ".value")
            )
    return tuple(usable)
