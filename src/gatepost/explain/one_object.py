"""One object: which one is meant by KIND/NAME, and what the rules say of it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from gatepost.explain.findings import findings_about, readers_of
from gatepost.explain.gone import gone_object
from gatepost.explain.scene import conditions_of
from gatepost.explain.values import ObjectExplanation
from gatepost.objects.kinds import TYPES
from gatepost.objects.meta import KubernetesObject
from gatepost.objects.refs import GroupKind, Ref
from gatepost.state.engine import Engine

SHORT_NAMES: Mapping[str, tuple[str, ...]] = {
    "DomainMapping.serving.knative.dev": ("dm",),
    "Route.serving.knative.dev": ("rt",),
    "Service.serving.knative.dev": ("ksvc", "kservice", "kservices"),
    "Configuration.serving.knative.dev": ("config", "cfg"),
    "Revision.serving.knative.dev": ("rev",),
    "Ingress.networking.internal.knative.dev": ("kingress", "kingresses", "king"),
    "Certificate.networking.internal.knative.dev": ("kcert",),
    "ClusterDomainClaim.networking.internal.knative.dev": ("cdc",),
    "Gateway.gateway.networking.k8s.io": ("gtw",),
    "GatewayClass.gateway.networking.k8s.io": ("gc",),
    "ListenerSet.gateway.networking.k8s.io": ("lset",),
    "ReferenceGrant.gateway.networking.k8s.io": ("refgrant",),
    "Service": ("svc",),
    "Namespace": ("ns",),
    "ConfigMap": ("cm",),
    "Endpoints": ("ep",),
}
"""The short names that kubectl knows, beside the singular and the plural."""


class UnknownKind(ValueError):
    """No kind has that name."""


class Ambiguous(ValueError):
    """Several objects have that name."""


def kind_named(text: str) -> GroupKind:
    """The kind that people mean by a singular, plural or short name, alone or with its group (`gateways.example.com`).

    Of two kinds with one name the one of Kubernetes itself is meant, as with kubectl.
    Raises: UnknownKind naming near ones.
    """
    known: dict[str, GroupKind] = {}
    for type_ in TYPES:
        kind = type_.KIND
        names = [kind.kind.lower(), kind.plural, *SHORT_NAMES.get(str(kind.group_kind), ())]
        for name in names:
            known.setdefault(name, kind.group_kind)
            known.setdefault(f"{name}.{kind.group}", kind.group_kind)
    wanted = text.lower()
    if wanted in known:
        return known[wanted]
    near = difflib.get_close_matches(wanted, sorted(known), n=3)
    raise UnknownKind(f"there is no kind {text!r}" + (f"; near ones: {', '.join(near)}" if near else ""))


def find_object(
    engine: Engine, kind: GroupKind, name: str, namespace: str = "", gone: Sequence[KubernetesObject] = ()
) -> Ref:
    """The Ref of the one object that is meant; in namespace "default" if there is none of that name anywhere.

    Args: gone: objects that were given and are not in the store any more.
    Raises: Ambiguous if no namespace is given and several have one.
    """
    type_ = next(type_ for type_ in TYPES if type_.KIND.group_kind == kind)
    if namespace or not type_.KIND.namespaced:
        return type_.KIND.ref(namespace, name)
    known = [*(ref for ref, _ in engine.store.items()), *(problem.about for problem in engine.store.unreadables)]
    known += [obj.ref for obj in gone]
    found = sorted(ref for ref in known if ref.group_kind == kind and ref.name == name)
    if len(found) > 1:
        raise Ambiguous(f"{', '.join(str(ref) for ref in found)} have that name; give --namespace")
    return found[0] if found else type_.KIND.ref("default", name)


def explain_object(engine: Engine, ref: Ref, gone: Sequence[KubernetesObject] = ()) -> ObjectExplanation:
    """What the rules say of one object, whether it exists or not.

    Args: gone: objects that were given and are not in the store any more.
    """
    obj = engine.store.get(ref)
    unreadable = engine.store.unreadable(ref)
    return ObjectExplanation(
        about=ref,
        exists=obj is not None or unreadable is not None,
        unreadable=unreadable,
        gone=gone_object(ref, gone),
        conditions=conditions_of(obj) if obj is not None else (),
        findings=findings_about(engine, ref),
        read_by=readers_of(engine, ref),
    )
