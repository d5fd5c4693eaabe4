"""Which namespaces a listener or a Gateway takes objects from."""

from __future__ import annotations

from msgspec import Struct

from gatepost.kubernetes.selectors import BadSelector, matcher_of
from gatepost.objects.core import Namespace
from gatepost.objects.gatewayapi import ListenerNamespaces, RouteNamespaces
from gatepost.objects.meta import LabelSelector
from gatepost.objects.problems import Skipped, UnreadableObject
from gatepost.objects.refs import Ref
from gatepost.state.view import View


class Admission(Struct, frozen=True):
    """Whether objects of a namespace may attach: yes if both are None.

    `refused` is a no by what is written; `doubt` is a no because something is not known (yet).
    """

    refused: Skipped | None = None
    doubt: Skipped | None = None


ADMITTED = Admission()


def admission(
    namespaces: RouteNamespaces | ListenerNamespaces, at: Ref, field: str, namespace: str, view: View
) -> Admission:
    """Whether an object of `namespace` may attach to what `at` holds under `field`.

    Source: Gateway API, RouteNamespaces and ListenerNamespaces; a Selector without selector takes nothing.
    """
    match namespaces.from_:
        case "All":
            return ADMITTED
        case "Same":
            if namespace == at.namespace:
                return ADMITTED
            return _refused(f"takes objects of namespace {at.namespace} only", at, field + ".from")
        case "Selector":
            return _selected(namespaces.selector, at, field + ".selector", namespace, view)
    return _refused("takes objects of no namespace", at, field + ".from")


def _selected(selector: LabelSelector | None, at: Ref, field: str, namespace: str, view: View) -> Admission:
    if selector is None:
        return _refused("takes objects of no namespace: a Selector without selector matches nothing", at, field)
    try:
        matches = matcher_of(selector)
    except BadSelector as error:
        return _refused(f"takes objects of no namespace: {error}", at, field)
    try:
        found = view.named(Namespace, "", namespace)
    except UnreadableObject as error:
        return Admission(doubt=error.problem.as_skipped())
    if found is None:
        message = f"selects namespaces by label, and Namespace {namespace} is not known"
        return Admission(doubt=Skipped("NamespaceUnknown", message, at, field))
    if matches(found.metadata.labels):
        return ADMITTED
    return _refused(f"does not select namespace {namespace}", at, field)


def _refused(message: str, at: Ref, field: str) -> Admission:
    return Admission(refused=Skipped("NotAllowedByListeners", message, at, field))
