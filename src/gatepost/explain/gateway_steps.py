"""The steps of Gateway API: a route, and the Gateways or ListenerSets that it hangs on."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from gatepost.dns.names import hostname, intersection
from gatepost.dns.sources.attachment import Attachment, attachments
from gatepost.dns.sources.offers import FITTING_PROTOCOLS, NAMESPACE_OFFERS, OFFERS, Offer
from gatepost.explain.names import Mention
from gatepost.explain.route_rules import backends, redirects, rules_of
from gatepost.explain.scene import Scene, conditions_of, step_of
from gatepost.explain.values import Step
from gatepost.objects.gatewayapi import Gateway, GatewayRoute, Listener, ListenerSet, RouteParentStatus
from gatepost.objects.meta import condition_of
from gatepost.objects.problems import Skipped
from gatepost.objects.refs import Ref

NO_SUCH_PARENT = "NoSuchParent"
NO_LISTENER = "NoMatchingListener"


def gateway_route_step(scene: Scene, mention: Mention) -> Step:
    """A route with its parents. It serves if one of them takes it with its backends and has a listener for the name."""
    route = mention.obj
    assert isinstance(route, GatewayRoute)
    asked, _ = attachments(route, mention.ref, [])
    parents = [_parent_step(scene, route, mention, attachment) for attachment in asked]
    told = {why for parent in parents for why in parent.skipped}
    rules = rules_of(scene.raw_of(mention.ref) or {})
    step = step_of(
        scene,
        mention,
        says="; ".join(redirects(rules)),
        backends=tuple(backends(mention.ref, rules)),
        serves=any(parent.serves for parent in parents),
        waiting=bool(parents) and all(parent.waiting for parent in parents),
        leads_to=tuple(parents),
    )
    return structs.replace(step, skipped=tuple(why for why in step.skipped if why not in told))


def _parent_step(scene: Scene, route: GatewayRoute, mention: Mention, attachment: Attachment) -> Step:
    """A Gateway or ListenerSet as this route meets it."""
    ref = attachment.parent
    parent = scene.engine.store.get(ref)
    if not isinstance(parent, Gateway | ListenerSet):
        return _unknown_parent(scene, ref)
    entries = [entry for entry in route.status.parents if _parent_ref(entry, mention.ref) == ref]
    skipped = [attachment.doubt] if attachment.doubt is not None else list(_unresolved(entries, mention.ref))
    skipped += _not_programmed(parent, ref)
    for_the_name = [listener for listener in _asked_for(parent, attachment) if _takes(listener, scene, mention)]
    closed = _closed(scene, ref, mention.ref)
    open_to_it = [
        listener
        for listener in for_the_name
        if listener.protocol in FITTING_PROTOCOLS[mention.ref.kind] and (listener.name, listener.port) not in closed
    ]
    if not skipped and not open_to_it:
        against = [closed.get((listener.name, listener.port)) for listener in for_the_name]
        message = f"none of the listeners that {mention.ref} may use takes {scene.asked.name}"
        none = Skipped(NO_LISTENER, message, ref, "spec.listeners")
        skipped += [why for why in against if why is not None] or [none]
    return Step(
        about=ref,
        says=_says(parent, open_to_it),
        conditions=conditions_of(parent),
        skipped=tuple(skipped),
        serves=not skipped,
        waiting=not entries,
        leads_to=tuple(_gateway_above(scene, parent, ref)),
    )


def _unknown_parent(scene: Scene, ref: Ref) -> Step:
    """A parent that is not there, or of which nothing can be read."""
    problem = scene.engine.store.unreadable(ref)
    why = problem.as_skipped() if problem is not None else Skipped(NO_SUCH_PARENT, "does not exist", ref)
    return Step(about=ref, exists=problem is not None, skipped=(why,), serves=False)


def _gateway_above(scene: Scene, parent: Gateway | ListenerSet, ref: Ref) -> Iterator[Step]:
    """The Gateway of a ListenerSet, as far as it is there; whether it takes the set is told in the set's conditions."""
    if not isinstance(parent, ListenerSet):
        return
    above = Gateway.KIND.ref(parent.spec.parent_ref.namespace or ref.namespace, parent.spec.parent_ref.name)
    gateway = scene.engine.store.get(above)
    if isinstance(gateway, Gateway):
        addresses = ", ".join(address.value for address in gateway.status.addresses)
        says = f"address {addresses}" if addresses else "no address"
        yield Step(about=above, says=says, conditions=conditions_of(gateway))
    else:
        yield _unknown_parent(scene, above)


def _asked_for(parent: Gateway | ListenerSet, attachment: Attachment) -> Iterator[Listener]:
    """The listeners that a parentRef asks for, by name or port."""
    for listener in parent.spec.listeners:
        if attachment.section in ("", listener.name) and attachment.port in (0, listener.port):
            yield listener


def _takes(listener: Listener, scene: Scene, mention: Mention) -> bool:
    """Whether requests for the name, as the route has it, can come in by a listener, as far as hostnames go."""
    name = hostname(listener.hostname) or ""
    if intersection(name, mention.host.name) is None:
        return False
    return not listener.hostname or scene.asked.is_taken_in_by(name)


def _closed(scene: Scene, parent: Ref, route: Ref) -> dict[tuple[str, int], Skipped]:
    """Why listeners of a parent are closed to these routes, as the DNS rules have found it, by name and port."""
    by_name = {rule.name: rule for rule in scene.engine.rules}
    for name, key in ((NAMESPACE_OFFERS, (parent, route.kind, route.namespace)), (OFFERS, (parent, route.kind))):
        offer = scene.engine.value(by_name[name], key) if name in by_name else None
        if isinstance(offer, Offer):
            return {(listener.name, listener.port): listener.why for listener in offer.closed}
    return {}


def _says(parent: Gateway | ListenerSet, listeners: list[Listener]) -> str:
    said = ", ".join(map(_in_words, listeners)) or "no listener takes the name"
    if not isinstance(parent, Gateway):
        return said
    addresses = ", ".join(address.value for address in parent.status.addresses)
    return f"{said}; {f'address {addresses}' if addresses else 'no address'}"


def _in_words(listener: Listener) -> str:
    hostnames = f", {listener.hostname}" if listener.hostname else ""
    return f"listener {listener.name} ({listener.protocol} {listener.port}{hostnames})"


def _unresolved(entries: list[RouteParentStatus], route: Ref) -> Iterator[Skipped]:
    for entry in entries:
        resolved = condition_of(entry.conditions, "ResolvedRefs")
        if resolved is not None and resolved.status == "False":
            message = f"is False: {resolved.message}" if resolved.message else "is False"
            yield Skipped(resolved.reason, message, route, "status.parents[].conditions[ResolvedRefs]")
            return


def _not_programmed(parent: Gateway | ListenerSet, ref: Ref) -> Iterator[Skipped]:
    programmed = condition_of(parent.status.conditions, "Programmed")
    if programmed is not None and programmed.status == "False":
        message = f"is False: {programmed.message}" if programmed.message else "is False"
        yield Skipped(programmed.reason, message, ref, "status.conditions[Programmed]")


def _parent_ref(entry: RouteParentStatus, route: Ref) -> Ref:
    parent = entry.parent_ref
    return Ref(parent.group, parent.kind, parent.namespace or route.namespace, parent.name)
