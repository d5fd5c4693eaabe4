"""The steps of Knative: DomainMapping, Route and KIngress."""

from __future__ import annotations

from msgspec import UNSET

from gatepost.explain.names import Mention
from gatepost.explain.scene import Scene, step_of
from gatepost.explain.values import Backend, Step
from gatepost.objects.meta import is_true
from gatepost.objects.networking import KIngress, KIngressPath, KIngressSplit
from gatepost.objects.serving import GROUP, DomainMapping, Route
from gatepost.reconcilers.gateway.ownership import CLASS_ANNOTATION, is_ours


def mapping_step(scene: Scene, mention: Mention) -> Step:
    mapping = mention.obj
    assert isinstance(mapping, DomainMapping)
    reference = mapping.spec.ref
    kind = f"Knative {reference.kind}" if reference.api_version.startswith(f"{GROUP}/") else reference.kind
    return step_of(scene, mention, says=f"maps the name to {kind} {mapping.metadata.namespace}/{reference.name}")


def route_step(scene: Scene, mention: Mention) -> Step:
    route = mention.obj
    assert isinstance(route, Route)
    shares = [
        f"{target.percent} % to {target.revision_name or target.configuration_name}"
        for target in route.status.traffic or route.spec.traffic
        if target.percent is not UNSET and target.percent
    ]
    return step_of(scene, mention, says=f"sends {', '.join(shares)}" if shares else "")


def kingress_step(scene: Scene, mention: Mention) -> Step:
    """A KIngress with the backends of the rule that takes the name in.

    One of another class is served by another implementation: its own condition Ready says whether it is.
    """
    kingress = mention.obj
    assert isinstance(kingress, KIngress)
    rules = [(i, rule) for i, rule in enumerate(kingress.spec.rules) if mention.host.name in rule.hosts]
    backends = [
        _backend(path, split)
        for _, rule in rules
        for path in (rule.http.paths if rule.http is not None else ())
        for split in path.splits
    ]
    says = ", ".join(f"rule {index} ({rule.visibility or 'ExternalIP'})" for index, rule in rules)
    if is_ours(kingress):
        return step_of(scene, mention, says=says, backends=tuple(backends))
    class_name = kingress.metadata.annotations.get(CLASS_ANNOTATION, "")
    return step_of(
        scene,
        mention,
        says=f"{says}, of class {class_name!r}: for another implementation",
        backends=tuple(backends),
        serves=is_true(kingress.status.conditions, "Ready"),
    )


def _backend(path: KIngressPath, split: KIngressSplit) -> Backend:
    return Backend(
        path=path.path,
        headers=tuple(f"{name}: {match.exact}" for name, match in sorted(path.headers.items())),
        service=f"{split.service_namespace}/{split.service_name}:{split.service_port}",
        percent=float(split.percent) if split.percent is not UNSET else (100.0 if len(path.splits) == 1 else None),
    )
