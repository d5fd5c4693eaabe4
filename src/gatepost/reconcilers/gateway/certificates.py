"""The KIngress's side of TLS: grants for its Secrets, and what became of its listeners."""

from __future__ import annotations

from gatepost.objects.networking import KIngress
from gatepost.objects.problems import Problem, Skipped
from gatepost.reconcilers.config_gateway import GatewayEntry
from gatepost.reconcilers.gateway.admission import why_refused
from gatepost.reconcilers.gateway.fronts import FRONT
from gatepost.reconcilers.gateway.problems import GATEWAY_MISSING, LISTENER_NOT_READY, CannotServe, gateway_missing
from gatepost.reconcilers.gateway.tls import (
    CERTIFICATES_IN_USE,
    GRANTS_BY_OWNER,
    LISTENER_TROUBLE,
    TLS,
    TLSWish,
    reference_grant,
)
from gatepost.state.view import View
from gatepost.writes.outcome import Apply, Delete, Outcome


def want_tls(kingress: KIngress, entry: GatewayEntry, view: View, out: Outcome) -> list[Problem]:
    """Wants the grants; the listeners themselves are written by the rule of the Gateway.

    Args:
        entry: of the external Gateway.
    Returns: why listeners that are wanted were given to others.
    Raises: CannotServe if a grant is someone else's, or there is no Gateway for the listeners.
    """
    wish = view.value(TLS, kingress.ref)
    if wish is None:
        return []
    if wish.problem is not None:
        raise CannotServe(wish.problem)
    for secret in wish.secrets:
        grant = reference_grant(kingress, secret, entry.gateway)
        out.want(Apply(grant, whole=("spec",), announce=out.about))
    if wish.listeners and not view.value(FRONT, entry).exists:
        raise CannotServe(gateway_missing(entry.gateway, GATEWAY_MISSING))
    warn_of_listeners(wish, view, out)
    refusals = (why_refused(wish, listener, view) for listener in wish.listeners)
    return [refusal for refusal in refusals if refusal is not None]


def warn_of_listeners(wish: TLSWish, view: View, out: Outcome) -> None:
    """Tells of listeners that the Gateway does not serve. Plain requests are served all the same."""
    for listener in wish.listeners:
        for trouble in view.select(LISTENER_TROUBLE, (wish.gateway, listener.name)):
            assert wish.gateway is not None  # a wish for listeners has one
            why = f"https for {listener.hostname} is not served: {trouble}."
            out.skipped.append(Skipped(LISTENER_NOT_READY, why, wish.gateway, "status.listeners"))
            out.warn(LISTENER_NOT_READY, why)


def prune_grants(kingress: KIngress, view: View, out: Outcome) -> None:
    """Removes grants for Secrets that the KIngress no longer uses, once no listener needs them either."""
    wish = view.value(TLS, kingress.ref)
    if wish is None or wish.problem is not None or not kingress.metadata.uid:
        return
    wanted = {grant.ref for grant in out.applies}
    for grant in view.select(GRANTS_BY_OWNER, kingress.metadata.uid):
        if grant.ref in wanted or any(view.select(CERTIFICATES_IN_USE, use) for use in grant.uses):
            continue
        out.deletes.append(Delete(grant.ref, grant.uid, "no certificate of the KIngress is in that Secret", out.about))
