"""The KIngress's side of TLS: grants for its Secrets, its ListenerSets, and what became of its listeners."""

from __future__ import annotations

from typing import Any

from gatepost.configmaps.gateway import GatewayConfig
from gatepost.objects.gatewayapi import Gateway, ListenerSet
from gatepost.objects.meta import is_controlled_by, owner_reference
from gatepost.objects.networking import KINGRESS_LABEL, KIngress
from gatepost.objects.problems import Problem, Skipped
from gatepost.objects.refs import Ref
from gatepost.reconcilers.gateway.admission import Place, place_of
from gatepost.reconcilers.gateway.fronts import FRONT
from gatepost.reconcilers.gateway.grants import GRANTS_BY_OWNER, foreign_grant, reference_grant
from gatepost.reconcilers.gateway.httproutes import label_for
from gatepost.reconcilers.gateway.listeners import listener_fields
from gatepost.reconcilers.gateway.problems import (
    GATEWAY_MISSING,
    LISTENER_NOT_PROGRAMMED,
    LISTENER_NOT_READY,
    CannotServe,
    gateway_missing,
    not_owned,
)
from gatepost.reconcilers.gateway.standing import (
    CERTIFICATES_IN_USE,
    LISTENER_TROUBLE,
    PROGRAMMED_LISTENERS,
    REPORTING_GATEWAYS,
    SET_LISTENER_TROUBLE,
    SET_PROGRAMMED_LISTENERS,
    SETS_OF_KINGRESS,
)
from gatepost.reconcilers.gateway.tls import TLS, ListenerWish, listener_set_ref, set_grant
from gatepost.state.view import View
from gatepost.writes.outcome import Apply, Delete, Outcome, object_fields


def want_tls(kingress: KIngress, config: GatewayConfig, view: View, out: Outcome) -> list[Problem]:
    """Wants the grants and the ListenerSets; listeners on a Gateway itself are written by the rule of that Gateway.

    Returns: why listeners that are wanted were given to others.
    Raises: CannotServe if a grant or ListenerSet is someone else's, or there is no Gateway for the listeners.
    """
    wish = view.value(TLS, kingress.ref)
    if wish is None:
        return []
    if wish.problem is not None:
        raise CannotServe(wish.problem)
    for grant in wish.grants:
        out.want(Apply(reference_grant(kingress, grant), whole=("spec",), announce=out.about))
    gateways = {listener.gateway for listener in wish.listeners}
    for entry in (*config.external, *config.local):
        if entry.gateway in gateways and not view.value(FRONT, entry).exists:
            raise CannotServe(gateway_missing(entry.gateway, GATEWAY_MISSING))
    places = {listener: place_of(wish, listener, view) for listener in wish.listeners}
    want_listener_sets(kingress, [one for one, place in places.items() if place is Place.IN_SET], view, out)
    warn_of_listeners(kingress, places, view, out)
    return [place for place in places.values() if isinstance(place, Problem)]


def want_listener_sets(kingress: KIngress, listeners: list[ListenerWish], view: View, out: Outcome) -> None:
    """One ListenerSet a Gateway, owned by the KIngress, with leave to read the certificates."""
    for grant in dict.fromkeys(filter(None, (set_grant(kingress, listener) for listener in listeners))):
        refusal = foreign_grant(kingress, grant, view)
        if refusal is not None:
            raise CannotServe(refusal)
        out.want(Apply(reference_grant(kingress, grant), whole=("spec",), announce=out.about))
    for gateway in dict.fromkeys(listener.gateway for listener in listeners):
        ref = listener_set_ref(kingress, gateway)
        present = view.get(ListenerSet, ref)
        if present is not None and not is_controlled_by(present, kingress):
            raise CannotServe(not_owned(ref, f"{kingress.ref} does not control the one that is there"))
        own = [listener for listener in listeners if listener.gateway == gateway]
        out.want(Apply(_listener_set(kingress, ref, gateway, own), whole=("spec",), announce=out.about))


def _listener_set(kingress: KIngress, ref: Ref, gateway: Ref, listeners: list[ListenerWish]) -> dict[str, Any]:
    parent = {"group": gateway.group, "kind": gateway.kind, "namespace": gateway.namespace, "name": gateway.name}
    return object_fields(
        ListenerSet,
        ref.namespace,
        ref.name,
        owners=[owner_reference(kingress)],
        labels={KINGRESS_LABEL: label_for(kingress)},
        spec={
            "parentRef": parent,
            "listeners": [listener_fields(listener, {"from": "Same"}) for listener in listeners],
        },
    )


def warn_of_listeners(
    kingress: KIngress, places: dict[ListenerWish, Place | Problem], view: View, out: Outcome
) -> None:
    """Tells of listeners that do not answer. Plain requests are served all the same."""
    for listener, place in places.items():
        if isinstance(place, Problem):
            continue
        why, at = why_not_answering(kingress, listener, place, view)
        if why:
            told = f"https for {listener.hostname} is not served: {why}."
            reason = LISTENER_NOT_PROGRAMMED if why == NOT_YET else LISTENER_NOT_READY
            out.skipped.append(Skipped(reason, told, at, "status.listeners"))
            if reason == LISTENER_NOT_READY:
                out.warn(LISTENER_NOT_READY, told)


NOT_YET = "its listener is not programmed yet"


def why_not_answering(kingress: KIngress, listener: ListenerWish, place: Place, view: View) -> tuple[str, Ref]:
    """Why a listener does not answer, "" if it does, and the object that says so.

    A Gateway that says nothing of any listener says nothing against this one.
    """
    if place is Place.IN_SET:
        holder = listener_set_ref(kingress, listener.gateway)
        trouble = view.select(SET_LISTENER_TROUBLE, (holder, listener.name))
        is_programmed = bool(view.select(SET_PROGRAMMED_LISTENERS, (holder, listener.name)))
    else:
        holder = listener.gateway
        trouble = view.select(LISTENER_TROUBLE, (holder, listener.name))
        is_programmed = bool(
            view.select(PROGRAMMED_LISTENERS, (holder, listener.name)) or not view.select(REPORTING_GATEWAYS, holder)
        )
    return ("; ".join(trouble) or ("" if is_programmed else NOT_YET)), holder


def prune_tls(kingress: KIngress, view: View, out: Outcome) -> None:
    """Removes what the KIngress no longer needs: ListenerSets, and grants once no listener needs them either."""
    wish = view.value(TLS, kingress.ref)
    if wish is None or wish.problem is not None or not kingress.metadata.uid:
        return
    wanted = {apply.ref for apply in out.applies}
    for ref in view.select(SETS_OF_KINGRESS, (kingress.metadata.namespace, label_for(kingress))):
        present = view.get(ListenerSet, ref)
        if ref not in wanted and present is not None and is_controlled_by(present, kingress):
            out.remove(present, "no certificate of the KIngress is for a listener in it")
    if view.unreadable_of(Gateway) is not None:
        return  # a listener on it may need any of the grants
    for grant in view.select(GRANTS_BY_OWNER, kingress.metadata.uid):
        if grant.ref in wanted or any(view.select(CERTIFICATES_IN_USE, use) for use in grant.uses):
            continue
        out.deletes.append(Delete(grant.ref, grant.uid, "no certificate of the KIngress is in that Secret", out.about))
